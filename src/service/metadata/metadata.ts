/**
 * Metadata operations: check the permission, then use the registry. Every error names the operation that it
 * stopped.
 */
import { type Caller, type Permission, requirePermission } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { DEFAULT_LIMITS, type Limits } from '../../base/limits.ts'
import { spend } from '../../base/work/work.ts'
import type { Heading } from '../../metadata/catalogue.ts'
import type { Datasources } from '../../metadata/documents/datastore.ts'
import { dependencyTrees } from '../../metadata/dependencies.ts'
import { diffJson } from '../../metadata/diff.ts'
import { parseEntityInfo, printEntityInfo } from '../../metadata/documents/entity-info.ts'
import { isSchemaAlone, printMetadataDocument } from '../../metadata/documents/metadata-document.ts'
import type { Registry } from '../../metadata/registry.ts'
import { roleRecords } from '../../metadata/roles.ts'
import { STATUSES, type SchemaDocument, parseStatus } from '../../metadata/documents/schema-document.ts'
import { type MetadataLimits, checkInfoSizes } from '../../metadata/documents/sizes.ts'
import type { HistoryRecord } from '../../store/metadata-records.ts'
import type { Finding } from '../../metadata/finding.ts'
import { readMetadata, readSchema } from '../../metadata/proposals.ts'
import { accessOf, explainedAccess, findingsOf } from './access-reports.ts'
import { createAll } from './create-all.ts'
import { refuseUnknownKeys } from './strict.ts'
import { knownFindings, warningsIn, withWarnings } from './warnings.ts'
import { type Replacing, asMetadata, asSchema, requireForReplacing } from './replace-permission.ts'
import type { MetadataService } from '../service.ts'

export function metadataService(
  registry: Registry,
  configured: Datasources,
  limits: MetadataLimits & Pick<Limits, 'resultBytes'> = DEFAULT_LIMITS,
): MetadataService {
  const document = (entity: string, version: string): JsonObject =>
    printMetadataDocument(registry.infoOf(entity), registry.documentOf(entity, version))
  return {
    names: (caller, statuses) =>
      read(caller, 'getEntityNames', () => ({ entities: namesIn(registry, statuses) })),
    versions: (caller, entity) =>
      read(caller, `getEntityVersions(${entity})`, () => {
        const { defaultVersion } = registry.infoOf(entity)
        return registry.headingsOf(entity).map((each) => versionRecord(each, defaultVersion))
      }),
    get: (caller, entity, version) =>
      read(caller, `getMetadata(${entity}:${version})`, () =>
        document(entity, version === 'default' ? defaultVersionOf(registry, entity) : version),
      ),
    diff: (caller, entity, [before, after]) =>
      read(caller, `diff(${entity}:${before}:${after})`, () =>
        diffJson(document(entity, before), document(entity, after)),
      ),
    roles: (caller, entity, version) =>
      read(caller, workOn('getRoles', entity, version), () => {
        if (entity !== undefined) return roleRecords([schemaFor(registry, entity, version)])
        spendOn(registry, ...registry.names())
        return allRoles(registry)
      }),
    dependencies: (caller, entity, version) =>
      read(caller, workOn('getDependencies', entity, version), () => {
        spendOn(registry, ...(entity === undefined ? registry.names() : [entity]))
        return dependencyTrees(dependencyRoots(registry, entity, version), {
          schemaOf: (name) => defaultSchema(registry, name),
          hasVersion: (name, each) => registry.versionNames(name).includes(each),
        })
      }),
    explainAccess: (caller, body) => read(caller, 'explainAccess', () => explainedAccess(registry, body)),
    access: (caller, entity, version) =>
      read(caller, workOn('getAccess', entity, version), () => {
        spendOn(registry, entity)
        return accessOf(registry, { entity, version }, limits)
      }),
    lint: (caller, entity) =>
      read(caller, `lint(${entity})`, () => {
        spendOn(registry, entity)
        return findingsOf(registry, entity)
      }),
    history: (caller, entity) =>
      work(caller, 'metadata.find', {
        context: `getHistory(${entity})`,
        run: async () => {
          const records = await registry.historyOf(entity)
          // The history of an entity is readable after its removal. An entity without history must at least
          // exist.
          if (records.length === 0) registry.infoOf(entity)
          return records.map(historyRecord)
        },
      }),
    ...changes({ registry, configured, limits }, document),
  }
}

type Changes = Pick<
  MetadataService,
  | 'create'
  | 'createAll'
  | 'createSchema'
  | 'updateInfo'
  | 'setStatus'
  | 'setDefault'
  | 'clearDefault'
  | 'remove'
>

function changes(replacing: Replacing, document: (entity: string, version: string) => JsonObject): Changes {
  const { registry, configured, limits } = replacing
  return {
    ...additions(replacing, document),
    createAll: (caller, body, options) =>
      work(caller, 'metadata.insert', {
        context: 'createMetadata',
        run: () => createAll(caller, bodyOf(body), { ...replacing, ...options }),
      }),
    updateInfo: (caller, entity, body, { isStrict = false } = {}) =>
      work(caller, 'metadata.update', {
        context: `updateEntityInfo(${entity})`,
        async run() {
          const sent = bodyOf(body)
          if (isStrict) {
            checkInfoSizes(sent, limits)
            refuseUnknownKeys({ info: parseEntityInfo(sent, '', configured) }, { isPart: true })
          }
          return await warned(registry, entity, {
            change: () => registry.updateInfo(caller.principal, entity, sent),
            answer: () => printMetadataDocument(registry.infoOf(entity), defaultSchema(registry, entity)),
          })
        },
      }),
    setStatus: (caller, target, change) =>
      work(caller, 'metadata.update', {
        context: `setStatus(${target.entity}:${target.version})`,
        run: () =>
          warned(registry, target.entity, {
            change: () => registry.setStatus(caller.principal, target, change),
            answer: () => document(target.entity, target.version),
          }),
      }),
    setDefault: (caller, target) =>
      work(caller, 'metadata.update', {
        context: `setDefaultVersion(${target.entity}:${target.version})`,
        run: () =>
          warned(registry, target.entity, {
            change: () => registry.setDefault(caller.principal, target.entity, target.version),
            answer: () => document(target.entity, target.version),
          }),
      }),
    clearDefault: (caller, entity) =>
      work(caller, 'metadata.update', {
        context: `clearDefaultVersion(${entity})`,
        run: () =>
          warned(registry, entity, {
            change: () => registry.setDefault(caller.principal, entity, undefined),
            answer: () => printEntityInfo(registry.infoOf(entity)),
          }),
      }),
    remove: (caller, entity, { documents } = {}) =>
      work(caller, 'metadata.delete', {
        context: `removeEntity(${entity})`,
        run: async () => {
          await registry.remove(caller.principal, entity, documents)
          return {}
        },
      }),
  }
}

function additions(
  replacing: Replacing,
  document: (entity: string, version: string) => JsonObject,
): Pick<Changes, 'create' | 'createSchema'> {
  const { registry } = replacing
  return {
    create: (caller, target, body, { isStrict = false } = {}) =>
      work(caller, 'metadata.insert', {
        context: `createMetadata(${target.entity}:${target.version})`,
        async run() {
          const sent = { body: bodyOf(body), written: asMetadata }
          if (isStrict) refuseUnknownKeys(readMetadata(sent.body, replacing))
          await requireForReplacing(caller, [sent], replacing)
          return await warned(registry, target.entity, {
            change: () => registry.create(caller.principal, target, sent.body),
            answer: () => document(target.entity, target.version),
          })
        },
      }),
    createSchema: (caller, target, body, { isStrict = false } = {}) =>
      work(caller, 'metadata.insert', {
        context: `createSchema(${target.entity}:${target.version})`,
        async run() {
          const sent = { body: bodyOf(body), written: asSchema }
          if (isStrict)
            refuseUnknownKeys(readSchema(sent.body, replacing), { isPart: isSchemaAlone(sent.body) })
          await requireForReplacing(caller, [sent], replacing)
          return await warned(registry, target.entity, {
            change: () => registry.createSchema(caller.principal, target, sent.body),
            answer: () => document(target.entity, target.version),
          })
        },
      }),
  }
}

/** Makes the change, and answers with its warnings. */
async function warned(
  registry: Registry,
  entity: string,
  {
    change,
    answer,
  }: { readonly change: () => Promise<readonly Finding[]>; readonly answer: () => JsonObject },
): Promise<JsonObject> {
  if (registry.epoch() >= 0) spendOn(registry, entity)
  const before = knownFindings(registry, entity)
  const own = await change()
  return withWarnings(answer(), [...own, ...warningsIn(registry, entity, before)])
}

/** Lint compares all versions of an entity with each other: about one step per character of their documents. */
function spendOn(registry: Registry, ...entities: readonly string[]): void {
  for (const entity of entities) spend(registry.sizeOf(entity))
}

function read(caller: Caller, context: string, run: () => Json): Json {
  try {
    requirePermission(caller, 'metadata.find')
    return run()
  } catch (error) {
    throw placed(error, context)
  }
}

async function work(
  caller: Caller,
  permission: Permission,
  { context, run }: { readonly context: string; readonly run: () => Promise<Json> },
): Promise<Json> {
  try {
    requirePermission(caller, permission)
    return await run()
  } catch (error) {
    throw placed(error, context)
  }
}

function placed(error: unknown, context: string): unknown {
  return error instanceof ServiceError ? error.within(context) : error
}

function workOn(name: string, entity?: string, version?: string): string {
  if (entity === undefined) return name
  return version === undefined ? `${name}(${entity})` : `${name}(${entity}:${version})`
}

function bodyOf(body: Json | undefined): Json {
  if (body !== undefined) return body
  throw new ServiceError('crud:InvalidRequest', 'the request needs a body')
}

/** All three statuses, or none, filter nothing: entities are then listed whatever their versions. */
function namesIn(registry: Registry, statuses: string | undefined): readonly string[] {
  const words = (statuses ?? '').split(/[ ,;:.]+/).filter((word) => word !== '')
  const wanted = new Set(words.map((word) => parseStatus(word)))
  const names = registry.names()
  if (wanted.size === 0 || wanted.size === STATUSES.length) return names
  return names.filter((name) => registry.headingsOf(name).some(({ status }) => wanted.has(status.value)))
}

function versionRecord({ version, status }: Heading, defaultVersion: string | undefined): Json {
  return {
    version: version.value,
    changelog: version.changelog,
    extendsVersions: version.extendVersions,
    status: status.value,
    defaultVersion: version.value === defaultVersion,
  }
}

function historyRecord({ at, principal, action, version, before, after }: HistoryRecord): Json {
  return {
    at,
    principal,
    action,
    ...(version === undefined ? {} : { version }),
    before: before === null ? null : parseTrusted(before),
    after: after === null ? null : parseTrusted(after),
  }
}

function defaultVersionOf(registry: Registry, entity: string): string {
  const { defaultVersion } = registry.infoOf(entity)
  if (defaultVersion !== undefined) return defaultVersion
  throw new ServiceError('ERR_NO_METADATA', `the entity "${entity}" has no default version`)
}

function schemaFor(registry: Registry, entity: string, version: string | undefined): SchemaDocument {
  return registry.documentOf(entity, version ?? defaultVersionOf(registry, entity))
}

/** The default version; undefined if the entity or its default version does not exist. */
function defaultSchema(registry: Registry, entity: string): SchemaDocument | undefined {
  if (!registry.names().includes(entity)) return undefined
  const { defaultVersion } = registry.infoOf(entity)
  return defaultVersion === undefined ? undefined : registry.documentOf(entity, defaultVersion)
}

/** All entities at their default versions; entities without one are listed as errors at the end. */
function allRoles(registry: Registry): Json {
  const schemas: SchemaDocument[] = []
  const errors: Json[] = []
  for (const name of registry.names()) {
    const schema = defaultSchema(registry, name)
    if (schema) {
      schemas.push(schema)
      continue
    }
    const problem = `the entity "${name}" has no default version`
    errors.push({
      ...new ServiceError('ERR_NO_METADATA', problem, { context: `getRoles/${name}` }).toObject(),
    })
  }
  return [...roleRecords(schemas), ...errors]
}

function dependencyRoots(
  registry: Registry,
  entity: string | undefined,
  version: string | undefined,
): readonly SchemaDocument[] {
  if (entity === undefined) return registry.names().flatMap((name) => defaultSchema(registry, name) ?? [])
  if (version !== undefined) return [registry.documentOf(entity, version)]
  registry.infoOf(entity)
  return [defaultSchema(registry, entity) ?? []].flat()
}
