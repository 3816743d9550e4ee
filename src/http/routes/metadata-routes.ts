/** Routes of `/metadata`. Literal segments (`roles`, `access`, `default`, `history` and so on) precede names. */
import { type Code, ServiceError } from '../../base/errors.ts'
import type { Json } from '../../base/json/json.ts'
import { Type } from '../../base/json/shape.ts'
import {
  AccessExplanationShape,
  AccessQuestionShape,
  AccessTableShape,
  ChangedInfoShape,
  DependenciesShape,
  EntityInfoShape,
  FindingsShape,
  MetadataListShape,
  MetadataShape,
  NamesShape,
  RolesShape,
  SchemaShape,
  VersionsShape,
} from '../../service/metadata/metadata-shapes.ts'
import type { MetadataService, MetadataWriteOptions, RemoveOptions } from '../../service/service.ts'
import {
  type Call,
  type Content,
  type Params,
  type QueryParameter,
  type Reply,
  type Route,
  jsonReply,
  onceReply,
} from './route.ts'

const NAMES: Content = { shape: NamesShape, name: 'Names', example: { entities: ['country'] } }
const VERSIONS: Content = { shape: VersionsShape, name: 'Versions' }
const INFO: Content = { shape: EntityInfoShape, name: 'EntityInfo', example: infoExample() }
const SCHEMA: Content = { shape: SchemaShape, name: 'Schema', example: schemaExample() }
const METADATA: Content = {
  shape: MetadataShape,
  name: 'Metadata',
  example: { entityInfo: infoExample(), schema: schemaExample() },
}
const CHANGED_INFO: Content = { shape: ChangedInfoShape, name: 'ChangedInfo' }
const METADATA_LIST: Content = {
  shape: MetadataListShape,
  name: 'MetadataList',
  example: [{ entityInfo: infoExample(), schema: schemaExample() }],
}
const DRY_RUN: QueryParameter = {
  name: 'dryRun',
  description: '`true`: nothing is changed; the answer says what would be, with a report under `dryRun`.',
}
const STRICT: readonly QueryParameter[] = [
  { name: 'strict', description: '`true`: keys without a meaning are refused (422) instead of kept.' },
  DRY_RUN,
]
const ROLES: Content = { shape: RolesShape, name: 'Roles', example: [{ role: 'anyone', find: ['country'] }] }
const DEPENDENCIES: Content = {
  shape: DependenciesShape,
  name: 'Dependencies',
  example: [{ name: 'country' }],
}
const QUESTION: Content = {
  shape: AccessQuestionShape,
  name: 'AccessQuestion',
  example: { roles: ['editor'], entity: 'country', field: 'name', op: 'update' },
}
const EXPLANATION: Content = {
  shape: AccessExplanationShape,
  name: 'AccessExplanation',
  example: explanationExample(),
}
const TABLE: Content = { shape: AccessTableShape, name: 'AccessTable' }
const FINDINGS: Content = {
  shape: FindingsShape,
  name: 'Findings',
  example: { entity: 'country', findings: [] },
}
const ANYTHING: Content = { shape: Type.Unknown() }

const UNKNOWN: readonly Code[] = ['metadata:MissingEntityInfo', 'metadata:MissingSchema']
const NAMELESS: readonly Code[] = [...UNKNOWN, 'ERR_NO_METADATA']
const INVALID: readonly Code[] = [
  'crud:InvalidRequest',
  'rest-metadata:NoNameMatch',
  'metadata:IllFormedMetadata',
]

export const METADATA_ROUTES: readonly Route[] = [
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
    ...change('POST', '/access/explain', 'explainAccess', 'Say whether somebody may do something, and why'),
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
  {
    ...change('PUT', '', 'createAllMetadata', 'Create or extend several entities in one transaction'),
    description:
      'The answer contains the metadata documents in the same order. If one is refused, none is written.',
    access: 'metadata.insert',
    body: METADATA_LIST,
    reply: METADATA_LIST,
    query: STRICT,
    errors: ['crud:LimitExceeded', 'metadata:DuplicateSchema', ...INVALID],
    cost: (body) => (Array.isArray(body) ? Math.max(1, body.length) : 1),
    handle: changing((metadata, { caller, body, search }) =>
      metadata.createAll(caller, body, writeOptions(search)),
    ),
  },
  {
    ...change('PUT', '/{entity}', 'updateEntityInfo', 'Replace entity info'),
    description: 'Answers the metadata document of the default version.',
    body: INFO,
    reply: CHANGED_INFO,
    query: STRICT,
    errors: ['metadata:NoEntityName', 'metadata:MissingEntityInfo', ...INVALID],
    handle: changing((metadata, { caller, params, body, search }) =>
      metadata.updateInfo(caller, entityOf(params), body, writeOptions(search)),
    ),
  },
  {
    ...change('PUT', '/{entity}/{version}', 'createMetadata', 'Create an entity, or add a version to it'),
    access: 'metadata.insert',
    body: METADATA,
    query: STRICT,
    errors: ['rest-metadata:NoVersionMatch', 'metadata:DuplicateSchema', ...INVALID],
    handle: changing((metadata, { caller, params, body, search }) =>
      metadata.create(caller, versionOf(params), body, writeOptions(search)),
    ),
  },
  {
    ...change(
      'PUT',
      '/{entity}/schema={version}',
      'createSchema',
      'Add a version, leaving entity info as it is',
    ),
    access: 'metadata.insert',
    body: SCHEMA,
    query: STRICT,
    errors: [
      'rest-metadata:NoVersionMatch',
      'metadata:MissingEntityInfo',
      'metadata:DuplicateSchema',
      ...INVALID,
    ],
    handle: changing((metadata, { caller, params, body, search }) =>
      metadata.createSchema(caller, versionOf(params), body, writeOptions(search)),
    ),
  },
  {
    ...change(
      'PUT',
      '/{entity}/{version}/{status}',
      'setStatus',
      'Set a version active, deprecated or disabled',
    ),
    query: [{ name: 'comment', description: 'Why; kept in the log of the version.' }, DRY_RUN],
    errors: ['metadata:ParseInvalidStatus', 'metadata:DisabledDefaultVersion', ...UNKNOWN],
    handle: changing(setStatus),
  },
  {
    ...change('POST', '/{entity}/{version}/default', 'setDefault', 'Make a version the default'),
    query: [DRY_RUN],
    errors: ['metadata:InvalidDefaultVersion', ...UNKNOWN],
    handle: changing((metadata, { caller, params }) => metadata.setDefault(caller, versionOf(params))),
  },
  {
    ...change('DELETE', '/{entity}/default', 'clearDefault', 'Leave the entity without default version'),
    reply: INFO,
    query: [DRY_RUN],
    errors: ['metadata:MissingEntityInfo'],
    handle: changing((metadata, { caller, params }) => metadata.clearDefault(caller, entityOf(params))),
  },
  {
    ...change('DELETE', '/{entity}', 'removeEntity', 'Remove the metadata of an entity'),
    access: 'metadata.delete',
    description:
      'Every version must be disabled. Refused if there are documents, unless `documents` says what becomes of them.',
    query: [
      {
        name: 'documents',
        description: '`delete`: they are deleted with their history; `keep`: they stay in the store.',
        example: 'keep',
      },
      DRY_RUN,
    ],
    reply: ANYTHING,
    errors: ['metadata:CannotDeleteEntity', ...UNKNOWN],
    handle: changing((metadata, { caller, params, search }) =>
      metadata.remove(caller, entityOf(params), removeOptions(search)),
    ),
  },
]

function get(
  path: string,
  operationId: string,
  summary: string,
  reply: Content,
  handle: Route['handle'],
  errors: readonly Code[] = [],
): Route {
  return { ...change('GET', path, operationId, summary), reply, handle, errors: ['crud:NoAccess', ...errors] }
}

function change(method: Route['method'], path: string, operationId: string, summary: string) {
  const access = method === 'GET' ? 'metadata.find' : 'metadata.update'
  return {
    method,
    path: `/metadata${path}`,
    operationId,
    summary,
    tag: 'metadata',
    access,
    reply: METADATA,
  } as const
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

type Change = (metadata: MetadataService, call: Call) => Promise<Json>

/** Makes the change, once for each idempotency key. */
function changing(change: Change): Route['handle'] {
  return async (call) => {
    const { app, caller, idempotency, work, search } = call
    if (isDryRun(search)) {
      const rehearsed = await app.service.rehearseMetadata({
        caller,
        work,
        change: (metadata) => change(metadata, call),
      })
      return jsonReply(rehearsed)
    }
    if (!idempotency) return jsonReply(await change(app.service.metadata, call))
    return onceReply(
      await app.service.once.metadata(caller, idempotency, (metadata) => change(metadata, call)),
    )
  }
}

function setStatus(metadata: MetadataService, { caller, params, search }: Call): Promise<Json> {
  const comment = new URLSearchParams(search).get('comment')
  const status = params.status ?? ''
  const change = comment === null ? { status } : { status, comment }
  return metadata.setStatus(caller, versionOf(params), change)
}

/** Only `true` and `false` are values: anything else would be a mistake that goes unnoticed. */
function writeOptions(search: string): MetadataWriteOptions {
  const strict = new URLSearchParams(search).get('strict') ?? 'false'
  if (strict === 'true' || strict === 'false') return { isStrict: strict === 'true' }
  throw new ServiceError('crud:InvalidRequest', `"strict" must be true or false, not "${strict}"`)
}

function isDryRun(search: string): boolean {
  const dryRun = search === '' ? null : new URLSearchParams(search).get('dryRun')
  if (dryRun === null || dryRun === 'false') return false
  if (dryRun === 'true') return true
  throw new ServiceError('crud:InvalidRequest', `"dryRun" must be true or false, not "${dryRun}"`)
}

function removeOptions(search: string): RemoveOptions {
  const documents = new URLSearchParams(search).get('documents')
  if (documents === null) return {}
  if (documents === 'delete' || documents === 'keep') return { documents }
  throw new ServiceError('crud:InvalidRequest', `"documents" must be delete or keep, not "${documents}"`)
}

function entityOf({ entity = '' }: Params): string {
  return entity
}

function versionOf({ entity = '', version = '' }: Params) {
  return { entity, version }
}

function explanationExample(): Json {
  return {
    entity: 'country',
    version: '1.0.0',
    field: 'name',
    op: 'update',
    decision: 'allow',
    reason:
      'the list "update" of the entity admits "editor"; the field has no list of its own that says more',
    rule: {
      at: '/access/update',
      operation: 'update',
      list: ['editor'],
      entries: ['editor'],
      because: 'role',
      inherited: true,
    },
  }
}

function infoExample(): Json {
  return {
    name: 'country',
    defaultVersion: '1.0.0',
    datastore: { backend: 'sqlite', collection: 'country' },
    indexes: [{ name: 'iso2', unique: true, fields: [{ field: 'iso2Code', dir: '$asc' }] }],
  }
}

function schemaExample(): Json {
  return {
    name: 'country',
    version: { value: '1.0.0', changelog: 'First version' },
    status: { value: 'active' },
    access: { insert: ['editor'], update: ['editor'], find: ['anyone'], delete: ['admin'] },
    fields: {
      iso2Code: { type: 'string', constraints: { required: true, maxLength: 2 } },
      name: { type: 'string' },
    },
  }
}
