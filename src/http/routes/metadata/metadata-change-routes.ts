/** Routes that change metadata. Each takes an idempotency key, and can be rehearsed by `?dryRun=true`. */
import { type Code, ServiceError } from '../../../base/errors.ts'
import { flagFrom } from '../../../base/flag.ts'
import type { Json } from '../../../base/json/json.ts'
import type { MetadataService, MetadataWriteOptions, RemoveOptions } from '../../../service/service.ts'
import { type Call, type Params, type QueryParameter, type Route, jsonReply, onceReply } from '../route.ts'
import {
  ANYTHING,
  CHANGED,
  CHANGED_INFO,
  CHANGED_LIST,
  CLEARED,
  INFO,
  METADATA,
  METADATA_LIST,
  SCHEMA,
} from './metadata-contents.ts'
import { UNKNOWN, entityOf, metadataRoute } from './metadata-route.ts'

const DRY_RUN: QueryParameter = {
  name: 'dryRun',
  description: '`true`: nothing is changed; the answer says what would be, with a report under `dryRun`.',
}
const STRICT: readonly QueryParameter[] = [
  { name: 'strict', description: '`true`: keys without a meaning are refused (422) instead of kept.' },
  DRY_RUN,
]

const INVALID: readonly Code[] = [
  'crud:InvalidRequest',
  'rest-metadata:NoNameMatch',
  'metadata:IllFormedMetadata',
]

export const METADATA_CHANGE_ROUTES: readonly Route[] = [
  {
    ...metadataRoute('PUT', '', 'createAllMetadata', 'Create or extend several entities in one transaction'),
    description:
      'The answer contains the metadata documents in the same order. If one is refused, none is written.',
    access: 'metadata.insert',
    body: METADATA_LIST,
    reply: CHANGED_LIST,
    query: STRICT,
    errors: ['crud:LimitExceeded', 'metadata:DuplicateSchema', ...INVALID],
    cost: (body) => (Array.isArray(body) ? Math.max(1, body.length) : 1),
    handle: changing((metadata, { caller, body, search }) =>
      metadata.createAll(caller, body, writeOptions(search)),
    ),
  },
  {
    ...metadataRoute('PUT', '/{entity}', 'updateEntityInfo', 'Replace entity info'),
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
    ...metadataRoute(
      'PUT',
      '/{entity}/{version}',
      'createMetadata',
      'Create an entity, or add a version to it',
    ),
    access: 'metadata.insert',
    body: METADATA,
    reply: CHANGED,
    query: STRICT,
    errors: ['rest-metadata:NoVersionMatch', 'metadata:DuplicateSchema', ...INVALID],
    handle: changing((metadata, { caller, params, body, search }) =>
      metadata.create(caller, versionOf(params), body, writeOptions(search)),
    ),
  },
  {
    ...metadataRoute(
      'PUT',
      '/{entity}/schema={version}',
      'createSchema',
      'Add a version, leaving entity info as it is',
    ),
    access: 'metadata.insert',
    body: SCHEMA,
    reply: CHANGED,
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
    ...metadataRoute(
      'PUT',
      '/{entity}/{version}/{status}',
      'setStatus',
      'Set a version active, deprecated or disabled',
    ),
    reply: CHANGED,
    query: [{ name: 'comment', description: 'Why; kept in the log of the version.' }, DRY_RUN],
    errors: ['metadata:ParseInvalidStatus', 'metadata:DisabledDefaultVersion', ...UNKNOWN],
    handle: changing(setStatus),
  },
  {
    ...metadataRoute('POST', '/{entity}/{version}/default', 'setDefault', 'Make a version the default'),
    reply: CHANGED,
    query: [DRY_RUN],
    errors: ['metadata:InvalidDefaultVersion', ...UNKNOWN],
    handle: changing((metadata, { caller, params }) => metadata.setDefault(caller, versionOf(params))),
  },
  {
    ...metadataRoute(
      'DELETE',
      '/{entity}/default',
      'clearDefault',
      'Leave the entity without default version',
    ),
    reply: CLEARED,
    query: [DRY_RUN],
    errors: ['metadata:MissingEntityInfo'],
    handle: changing((metadata, { caller, params }) => metadata.clearDefault(caller, entityOf(params))),
  },
  {
    ...metadataRoute('DELETE', '/{entity}', 'removeEntity', 'Remove the metadata of an entity'),
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

function writeOptions(search: string): MetadataWriteOptions {
  return { isStrict: flagFrom('strict', new URLSearchParams(search).get('strict')) ?? false }
}

function isDryRun(search: string): boolean {
  if (search === '') return false
  return flagFrom('dryRun', new URLSearchParams(search).get('dryRun')) ?? false
}

function removeOptions(search: string): RemoveOptions {
  const documents = new URLSearchParams(search).get('documents')
  if (documents === null) return {}
  if (documents === 'delete' || documents === 'keep') return { documents }
  throw new ServiceError('crud:InvalidRequest', `"documents" must be delete or keep, not "${documents}"`)
}

function versionOf({ entity = '', version = '' }: Params) {
  return { entity, version }
}
