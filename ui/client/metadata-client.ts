/** Metadata operations: entities, versions, access. */
import { asList, asObject } from './data-client.ts'
import { type Json, type JsonObject, textOf } from './json.ts'
import type { Transport } from './transport.ts'
import type {
  AccessDecision,
  AccessReport,
  Caller,
  DependencyNode,
  Finding,
  Metadata,
  Operation,
  Target,
  VersionSummary,
} from './types.ts'

export interface AccessQuestion extends Target, Caller {
  readonly field?: string
  readonly op: Operation
}

export interface MetadataClient {
  readonly entities: () => Promise<readonly string[]>
  readonly versions: (entity: string) => Promise<readonly VersionSummary[]>
  readonly metadata: (target: Target) => Promise<Metadata>
  readonly metadataHistory: (entity: string) => Promise<readonly JsonObject[]>
  readonly difference: (entity: string, one: string, other: string) => Promise<readonly JsonObject[]>
  readonly roles: () => Promise<readonly JsonObject[]>
  readonly dependencies: () => Promise<readonly DependencyNode[]>
  readonly explainAccess: (question: AccessQuestion) => Promise<AccessDecision>
  readonly accessOf: (target: Target) => Promise<AccessReport>
  readonly lint: (entity: string) => Promise<readonly Finding[]>
  /** Creates the entity, or adds the version and replaces entity info; a dry run only says what would happen. */
  readonly putMetadata: (metadata: JsonObject, options?: { readonly isDryRun?: boolean }) => Promise<Metadata>
  /** Replaces entity info alone; versions stay as they are. */
  readonly putEntityInfo: (info: JsonObject, options?: { readonly isDryRun?: boolean }) => Promise<Metadata>
  readonly setStatus: (target: Required<Target>, status: string, comment: string) => Promise<Metadata>
  readonly setDefault: (entity: string, version: string) => Promise<Json>
  readonly removeEntity: (entity: string) => Promise<Json>
}

export function metadataClient({ send }: Transport): MetadataClient {
  const at = (...segments: readonly string[]): string =>
    ['', 'metadata', ...segments].map(encodeURIComponent).join('/')
  const list = async <T>(path: string): Promise<readonly T[]> =>
    asList(await send('GET', path)) as unknown as readonly T[]
  return {
    entities: async () => asList(asObject(await send('GET', '/metadata'))['entities']).map(String),
    versions: (entity) => list(at(entity)),
    metadata: async ({ entity, version = 'default' }) =>
      (await send('GET', at(entity, version))) as unknown as Metadata,
    metadataHistory: (entity) => list(at(entity, 'history')),
    difference: (entity, one, other) => list(at(entity, one, 'diff', other)),
    roles: () => list('/metadata/roles'),
    dependencies: () => list('/metadata/dependencies'),
    explainAccess: async (question) =>
      (await send('POST', '/metadata/access/explain', { body: question })) as unknown as AccessDecision,
    accessOf: async ({ entity, version }) =>
      (await send(
        'GET',
        at(entity, ...(version === undefined ? [] : [version]), 'access'),
      )) as unknown as AccessReport,
    lint: async (entity) =>
      asList(asObject(await send('GET', at(entity, 'lint')))['findings']) as unknown as readonly Finding[],
    putMetadata: async (body, { isDryRun = false } = {}) => {
      const { name } = asObject(body['entityInfo'])
      const { value } = asObject(asObject(body['schema'])['version'])
      const query = isDryRun ? { dryRun: 'true' } : {}
      return (await send('PUT', at(textOf(name), textOf(value)), { body, query })) as unknown as Metadata
    },
    putEntityInfo: async (body, { isDryRun = false } = {}) =>
      (await send('PUT', at(textOf(body['name'])), {
        body,
        query: isDryRun ? { dryRun: 'true' } : {},
      })) as unknown as Metadata,
    setStatus: async ({ entity, version = '' }, status, comment) =>
      (await send('PUT', at(entity, version, status), {
        query: comment === '' ? {} : { comment },
      })) as unknown as Metadata,
    setDefault: (entity, version) => send('POST', at(entity, version, 'default')),
    removeEntity: (entity) => send('DELETE', at(entity)),
  }
}
