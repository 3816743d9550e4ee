/**
 * Routes that read metadata, and reports about it: roles, dependencies, access, lint. Literal segments (`roles`, `access`,
 * `default`, `history` and so on) precede names.
 */
import type { Code } from '../../../base/errors.ts'
import { type Call, type Content, type Reply, type Route, jsonReply } from '../route.ts'
import {
  ANYTHING,
  DEPENDENCIES,
  EXPLANATION,
  FINDINGS,
  METADATA,
  NAMES,
  QUESTION,
  ROLES,
  TABLE,
  VERSIONS,
} from './metadata-contents.ts'
import { UNKNOWN, entityOf, metadataRoute } from './metadata-route.ts'

const NAMELESS: readonly Code[] = [...UNKNOWN, 'ERR_NO_METADATA']

export const METADATA_READ_ROUTES: readonly Route[] = [
  get('', 'entityNames', 'List entities', NAMES, ({ app, caller }) =>
    jsonReply(app.service.metadata.names(caller, undefined)),
  ),
  get(
    '/s={statuses}',
    'entityNamesByStatus',
    'List entities that have versions in these statuses',
    NAMES,
    (call) => jsonReply(call.app.service.metadata.names(call.caller, call.params.statuses)),
    ['metadata:ParseInvalidStatus'],
  ),
  get('/roles', 'roles', 'List what each role may do, all entities', ROLES, roles),
  get('/{entity}/roles', 'entityRoles', 'List what each role may do, default version', ROLES, roles, UNKNOWN),
  get('/{entity}/{version}/roles', 'versionRoles', 'List what each role may do', ROLES, roles, UNKNOWN),
  get('/dependencies', 'dependencies', 'Show which entities refer to which', DEPENDENCIES, dependencies),
  get(
    '/{entity}/dependencies',
    'entityDependencies',
    'Show what an entity refers to',
    DEPENDENCIES,
    dependencies,
    UNKNOWN,
  ),
  get(
    '/{entity}/{version}/dependencies',
    'versionDependencies',
    'Show what a version refers to',
    DEPENDENCIES,
    dependencies,
    UNKNOWN,
  ),
  {
    ...metadataRoute(
      'POST',
      '/access/explain',
      'explainAccess',
      'Say whether somebody may do something, and why',
    ),
    description: 'Decided by what decides about requests. Whom it is asked about need not exist.',
    access: 'metadata.find',
    isRead: true,
    body: QUESTION,
    reply: EXPLANATION,
    errors: ['crud:NoAccess', 'metadata:InvalidFieldReference', 'ERR_NO_METADATA', ...UNKNOWN],
    handle: ({ app, caller, body }) => jsonReply(app.service.metadata.explainAccess(caller, body)),
  },
  get('/{entity}/access', 'entityAccess', 'Show who may do what, default version', TABLE, access, NAMELESS),
  get('/{entity}/{version}/access', 'versionAccess', 'Show who may do what', TABLE, access, UNKNOWN),
  get('/{entity}/lint', 'entityLint', 'Show what is doubtful about an entity', FINDINGS, findings, UNKNOWN),
  get(
    '/{entity}',
    'entityVersions',
    'List versions of an entity',
    VERSIONS,
    ({ app, caller, params }) => jsonReply(app.service.metadata.versions(caller, entityOf(params))),
    UNKNOWN,
  ),
  get(
    '/{entity}/history',
    'entityHistory',
    'List changes of an entity',
    ANYTHING,
    async ({ app, caller, params }) =>
      jsonReply(await app.service.metadata.history(caller, entityOf(params))),
    UNKNOWN,
  ),
  get('/{entity}/default', 'defaultMetadata', 'Get the default version', METADATA, metadata, UNKNOWN),
  get('/{entity}/{version}', 'metadata', 'Get a version', METADATA, metadata, UNKNOWN),
  get('/{entity}/{version}/diff/{version2}', 'metadataDiff', 'Compare two versions', ANYTHING, diff, UNKNOWN),
]

function get(
  path: string,
  operationId: string,
  summary: string,
  reply: Content,
  handle: Route['handle'],
  errors: readonly Code[] = [],
): Route {
  return {
    ...metadataRoute('GET', path, operationId, summary),
    reply,
    handle,
    errors: ['crud:NoAccess', ...errors],
  }
}

function roles({ app, caller, params }: Call): Reply {
  return jsonReply(app.service.metadata.roles(caller, params.entity, params.version))
}

function access({ app, caller, params }: Call): Reply {
  return jsonReply(app.service.metadata.access(caller, entityOf(params), params.version))
}

function findings({ app, caller, params }: Call): Reply {
  return jsonReply(app.service.metadata.lint(caller, entityOf(params)))
}

function dependencies({ app, caller, params }: Call): Reply {
  return jsonReply(app.service.metadata.dependencies(caller, params.entity, params.version))
}

function metadata({ app, caller, params }: Call): Reply {
  return jsonReply(app.service.metadata.get(caller, entityOf(params), params.version ?? 'default'))
}

function diff({ app, caller, params }: Call): Reply {
  const versions = [params.version ?? '', params.version2 ?? ''] as const
  return jsonReply(app.service.metadata.diff(caller, entityOf(params), versions))
}
