/**
 * Limits on the size of metadata. They apply to a document in a request, before it is parsed, because the
 * cost of many later steps is a product of these numbers. Stored metadata is not checked, so existing
 * metadata beyond a limit continues to work.
 */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject, member } from '../../base/json/json.ts'
import type { Limits } from '../../base/limits.ts'

export type MetadataLimits = Pick<
  Limits,
  'versionFields' | 'versionRoles' | 'entityVersions' | 'entityCharacters' | 'entityIndexes' | 'indexFields'
>

/** Accepts a schema or a whole metadata document. */
export function checkSizes(document: Json, limits: MetadataLimits): void {
  checkInfoSizes(member(document, 'entityInfo'), limits)
  checkSchema(member(document, 'schema') ?? document, limits)
}

export function checkInfoSizes(info: Json | undefined, { entityIndexes, indexFields }: MetadataLimits): void {
  const indexes = itemsOf(member(info, 'indexes')).map((index) => itemsOf(member(index, 'fields')))
  const count = indexes.filter((fields) => !isId(fields)).length
  check({ count, limit: entityIndexes, setting: 'entityIndexes' }, 'indexes of an entity')
  for (const [i, fields] of indexes.entries()) {
    check({ count: fields.length, limit: indexFields, setting: 'indexFields' }, `fields of index ${i}`)
  }
}

interface Versions {
  readonly entity: string
  /** The texts of the stored versions, which a change of the entity is compared with. */
  readonly texts: readonly string[]
  /** The number of versions after the change. */
  readonly count: number
}

/** Not for changes that add no version. */
export function checkVersions({ entity, texts, count }: Versions, limits: MetadataLimits): void {
  const { entityVersions, entityCharacters } = limits
  check({ count, limit: entityVersions, setting: 'entityVersions' }, `versions of "${entity}"`)
  const characters = texts.reduce((sum, { length }) => sum + length, 0)
  check(
    { count: characters, limit: entityCharacters, setting: 'entityCharacters' },
    `characters in all versions of "${entity}"`,
  )
}

function isId(fields: readonly Json[]): boolean {
  return fields.length === 1 && member(fields[0], 'field') === '_id'
}

function checkSchema(schema: Json, { versionFields, versionRoles, indexFields }: MetadataLimits): void {
  const counted: Counted = { fields: 0, identity: 0, roles: new Set() }
  countRoles(member(schema, 'access'), counted)
  countFields(member(schema, 'fields'), counted, PREDEFINED)
  const { fields, identity, roles } = counted
  for (const name of NO_ROLES) roles.delete(name)
  check({ count: fields, limit: versionFields, setting: 'versionFields' }, 'fields of a version')
  check({ count: roles.size, limit: versionRoles, setting: 'versionRoles' }, 'roles in a version')
  check({ count: identity, limit: indexFields, setting: 'indexFields' }, 'identity fields of a version')
}

interface Counted {
  fields: number
  identity: number
  readonly roles: Set<string>
}

const PREDEFINED = new Set(['_id', 'objectType'])
const NO_ROLES = ['anyone', 'noone']

/** `uncounted` contains names that every schema has. */
function countFields(
  fields: Json | undefined,
  counted: Counted,
  uncounted: ReadonlySet<string> = new Set(),
): void {
  for (const [name, field] of Object.entries(objectOf(fields))) {
    if (!name.endsWith('#') && !uncounted.has(name)) counted.fields++
    const isIdentity = member(member(field, 'constraints'), 'identity')
    if (isIdentity === true || isIdentity === 1) counted.identity++
    countRoles(member(field, 'access'), counted)
    const type = member(field, 'type')
    if (type === 'object') countFields(member(field, 'fields'), counted)
    if (type === 'array') countFields(member(member(field, 'items'), 'fields'), counted)
  }
}

function countRoles(access: Json | undefined, { roles }: Counted): void {
  for (const list of Object.values(objectOf(access))) {
    for (const entry of itemsOf(list)) {
      const role = member(entry, 'role') ?? entry
      if (typeof role === 'string') roles.add(role)
    }
  }
}

function check(
  { count, limit, setting }: { readonly count: number; readonly limit: number; readonly setting: string },
  what: string,
): void {
  if (count <= limit) return
  const problem = `there may be at most ${limit} ${what}, and there are ${count}; use fewer, or raise limits.${setting}`
  throw new ServiceError('crud:LimitExceeded', problem)
}

/** Values of a wrong type count as empty here; parsing refuses them later. */
function itemsOf(value: Json | undefined): readonly Json[] {
  return isArray(value) ? value : []
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {}
}
