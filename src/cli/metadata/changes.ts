/** What has to change in a service so that its metadata are those of the files. */
import { type Json, type JsonObject, isArray, isObject, member, sameJson } from '../../base/json/json.ts'
import { BUILT_IN, type Entities, type EntityFiles } from './entities.ts'

export interface Change {
  readonly kind:
    | 'add entity'
    | 'add version'
    | 'change info'
    | 'change version'
    | 'change status'
    | 'drop entity'
  readonly entity: string
  readonly version?: string
  /** Paths that differ. */
  readonly paths: readonly string[]
  /** What is lost by it. */
  readonly losses: readonly string[]
  /** How many documents of an entity that is dropped the caller sees, `unknown` where they may not read them. */
  readonly documents?: number | 'unknown'
  /** The new status, where it changes. */
  readonly status?: string
}

/** Versions and entities that only the service has are kept, unless they are pruned. */
export function changesTo(wanted: Entities, present: Entities, isPruned: boolean): readonly Change[] {
  const changes = [...wanted].flatMap(([entity, files]) => entityChanges(entity, files, present.get(entity)))
  if (!isPruned) return changes
  const dropped = [...present.keys()].filter((entity) => !wanted.has(entity) && entity !== BUILT_IN)
  return [...changes, ...dropped.map((entity) => dropOf(entity))]
}

function dropOf(entity: string): Change {
  return { kind: 'drop entity', entity, paths: [], losses: [`the entity ${entity} with its metadata`] }
}

function entityChanges(
  entity: string,
  { info, schemas }: EntityFiles,
  present: EntityFiles | undefined,
): readonly Change[] {
  if (!present) return [{ kind: 'add entity', entity, paths: [...schemas.keys()], losses: [] }]
  const paths = differences(present.info, info, '')
  const infoChange: readonly Change[] =
    paths.length === 0 ? [] : [{ kind: 'change info', entity, paths, losses: lossesOf(present.info, info) }]
  return [
    ...infoChange,
    ...[...schemas].flatMap(([version, schema]) => versionChanges(entity, version, schema, present)),
  ]
}

function versionChanges(
  entity: string,
  version: string,
  schema: JsonObject,
  { schemas }: EntityFiles,
): readonly Change[] {
  const earlier = schemas.get(version)
  if (!earlier) return [{ kind: 'add version', entity, version, paths: [], losses: [] }]
  const { status: oldStatus, ...oldRest } = earlier
  const { status, ...rest } = schema
  const paths = differences(oldRest, rest, '')
  const value = member(status, 'value')
  const hasStatus = typeof value === 'string' && value !== member(oldStatus, 'value')
  return [
    ...(paths.length > 0 ? [{ kind: 'change version', entity, version, paths, losses: [] } as const] : []),
    ...(hasStatus
      ? [
          {
            kind: 'change status',
            entity,
            version,
            paths: ['status'],
            losses: value === 'disabled' ? [`the version ${version} of ${entity} for its clients`] : [],
            status: value,
          } as const,
        ]
      : []),
  ]
}

/** Indexes, hooks and enums that are no longer there. */
function lossesOf(before: JsonObject, after: JsonObject): readonly string[] {
  return ['indexes', 'hooks', 'enums'].flatMap((key) => {
    const [old, next] = [before[key], after[key]].map((list) => (isArray(list) ? list : [])) as [
      Json[],
      Json[],
    ]
    const gone = old.filter((each) => !next.some((other) => isSameThing(key, each, other)))
    return gone.map((each) => `${LABELS[key]} ${nameOf(each)}`)
  })
}

const LABELS: Readonly<Record<string, string>> = {
  indexes: 'the index',
  hooks: 'the hook',
  enums: 'the enum',
}

function isSameThing(key: string, a: Json, b: Json): boolean {
  return key === 'indexes' ? sameJson(a, b) : member(a, 'name') === member(b, 'name')
}

function nameOf(value: Json): string {
  const name = member(value, 'name')
  return typeof name === 'string' ? name : JSON.stringify(member(value, 'fields') ?? value)
}

/** Paths at which two values differ, down to the first that are no objects. */
export function differences(a: Json | undefined, b: Json | undefined, at: string): readonly string[] {
  if (a !== undefined && b !== undefined && sameJson(a, b)) {
    // the order of fields is a part of the metadata
    return isObject(a) &&
      isObject(b) &&
      Object.keys(a).join('\n') !== Object.keys(b).join('\n') &&
      at.endsWith('fields')
      ? [`${at} (order)`]
      : isObject(a) && isObject(b)
        ? Object.keys(a).flatMap((key) => differences(a[key], b[key], at === '' ? key : `${at}.${key}`))
        : []
  }
  if (!isObject(a) || !isObject(b)) return [at]
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])]
  return keys.flatMap((key) =>
    a[key] !== undefined && b[key] !== undefined && sameJson(a[key], b[key])
      ? []
      : differences(a[key], b[key], at === '' ? key : `${at}.${key}`),
  )
}

export function shownChange({ kind, entity, version, paths, status }: Change): string {
  const where = version === undefined ? entity : `${entity} ${version}`
  switch (kind) {
    case 'add entity':
      return `+ ${where} (${paths.join(', ') || 'no version'})`
    case 'add version':
      return `+ ${where}`
    case 'drop entity':
      return `- ${where}`
    case 'change status':
      return `~ ${where}: status ${status}`
    case 'change info':
    case 'change version':
      return `~ ${where}: ${paths.join(', ')}`
  }
}
