/** JSON Merge Patch (RFC 7396) as an update of one document. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject, member } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { spend, spendParsing } from '../../base/work/work.ts'
import { type Field, type Fields, isComputed } from '../../schema/field.ts'
import type { Schema } from '../../schema/schema.ts'
import type { JsonText } from '../response.ts'

export interface MergeUpdate {
  readonly update: readonly JsonObject[]
  /**
   * Whether the update was made from the document as it is, because the patch merges into a value without schema, or
   * creates an object only where there is none. It must then not be applied to another version.
   */
  readonly dependsOnState: boolean
}

/** What a patch that depends on the document needs. */
export interface CurrentDocument {
  /** Called only if the update depends on the document. */
  readonly read: () => Promise<JsonText>
  /** Charges the request for a step after the document was read. */
  readonly charge: <T>(step: () => T) => T
}

export async function mergeUpdate(
  patch: JsonObject,
  schema: Schema,
  { read, charge }: CurrentDocument,
): Promise<MergeUpdate> {
  const merging: Merging = { schema, set: {}, unset: [], pending: [] }
  mergeMembers(patch, schema.root.fields, { path: [], merging })
  const { set, unset, pending } = merging
  if (pending.length > 0) {
    const text = await read()
    charge(() => resolveAll(pending, text, set))
  }
  const update = [
    ...(unset.length > 0 ? [{ $unset: unset }] : []),
    ...(Object.keys(set).length > 0 ? [{ $set: set }] : []),
  ]
  return { update, dependsOnState: pending.length > 0 }
}

function resolveAll(pending: readonly Pending[], text: JsonText, set: Record<string, Json>): void {
  spendParsing(text.length)
  const document = parseTrusted(text)
  for (const { path, resolve } of pending) {
    const value = resolve(path.reduce<Json | undefined>((each, name) => member(each, name), document))
    if (value !== undefined) set[path.join('.')] = value
  }
}

interface Merging {
  readonly schema: Schema
  readonly set: Record<string, Json>
  readonly unset: string[]
  readonly pending: Pending[]
}

interface Pending {
  readonly path: readonly string[]
  /** The value to set, by the one that is there; undefined to leave it. */
  readonly resolve: (current: Json | undefined) => Json | undefined
}

interface Place {
  readonly path: readonly string[]
  readonly merging: Merging
}

function mergeMembers(patch: JsonObject, fields: Fields, { path, merging }: Place): void {
  for (const [name, value] of Object.entries(patch)) {
    spend(1)
    const field = fields.get(name)
    const place = { path: [...path, name], merging }
    if (!field) throw unknownField(place.path.join('.'))
    mergeMember(value, field, place)
  }
}

function mergeMember(value: Json, field: Field, { path, merging }: Place): void {
  const name = path.join('.')
  // As in documents, what the service computes may be sent and is ignored.
  if (isComputed(field)) return
  if (name === 'objectType') {
    requireSameType(value, merging.schema)
    return
  }
  if (field.kind === 'reference') {
    requireEmpty(value, name)
    return
  }
  if (value === null) merging.unset.push(name)
  else if (field.kind === 'object' && isObject(value)) {
    if (Object.keys(value).length === 0) merging.pending.push({ path, resolve: createEmpty })
    mergeMembers(value, field.fields, { path, merging })
  } else if (field.kind === 'simple' && field.type.name === 'any' && isObject(value))
    merging.pending.push({ path, resolve: (current) => merged(current, value) })
  else merging.set[name] = value
}

function requireSameType(value: Json, { entity }: Schema): void {
  if (value === entity) return
  throw new ServiceError('crud:InvalidEntity', `"objectType" must be "${entity}"`, { context: 'objectType' })
}

function requireEmpty(value: Json, name: string): void {
  if (value === null || (isArray(value) && value.length === 0)) return
  const message = `"${name}" is a reference and holds no data`
  throw new ServiceError('metadata:IncompatibleValue', message, { context: name })
}

function createEmpty(current: Json | undefined): Json | undefined {
  return isObject(current) ? undefined : {}
}

/** The algorithm of RFC 7396 for values without schema. */
function merged(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  const result: Record<string, Json> = isObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    spend(1)
    if (value === null) delete result[name]
    else result[name] = merged(member(target, name), value)
  }
  return result
}

function unknownField(path: string): ServiceError {
  return new ServiceError('metadata:InvalidFieldReference', `there is no field "${path}"`, { context: path })
}
