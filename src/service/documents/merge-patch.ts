/** JSON Merge Patch (RFC 7396) as an update of one document. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject, member, pointer } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { spend, spendParsing } from '../../base/work/work.ts'
import type { Named } from '../../lang/query.ts'
import type { Update, UpdateStep } from '../../lang/update.ts'
import { type Field, type Fields, type ObjectField, isComputed } from '../../schema/field.ts'
import { withRequestTime } from '../../schema/request-time.ts'
import type { Schema } from '../../schema/schema.ts'
import type { JsonText } from '../response.ts'

/** What a patch may need to know. */
export interface MergeContext {
  readonly schema: Schema
  /** Whether the caller may read the field in every document that the caller can find. */
  readonly isReadable: (field: Field) => boolean
  /**
   * Reads the document as it is. Called only if the update depends on it, because the patch merges into values without
   * schema, whose paths are given, or creates an object only where there is none. The update must then not be applied to
   * another version.
   */
  readonly read: (merged: readonly string[]) => Promise<JsonText>
  /** Charges the request for a step after the document was read. */
  readonly charge: <T>(step: () => T) => T
  /** When the request is, as a stored date. */
  readonly now: () => string
}

/** Values of the patch are literals, whatever they look like; only `{"$now": true}` stands for a date. */
export async function mergeUpdate(patch: JsonObject, context: MergeContext): Promise<Update<Named>> {
  const { schema, isReadable, read, charge, now } = context
  const merging: Merging = { schema, isReadable, set: new Map(), unset: [], pending: [] }
  mergeMembers(patch, schema.root.fields, { path: [], merging })
  const { set, unset, pending } = merging
  if (pending.length > 0) {
    const text = await read(pending.flatMap(({ path, merges }) => (merges ? [path.join('.')] : [])))
    charge(() => resolveAll(pending, text, set))
  }
  return [
    ...unset.map((path): UpdateStep<Named> => ({ kind: 'unset', field: named(path) })),
    ...Array.from(set, ([path, value]): UpdateStep<Named> => {
      const literal = { kind: 'literal', value: withRequestTime(value, now) } as const
      return { kind: 'set', field: named(path), value: literal }
    }),
  ]
}

function named(path: Path): Named {
  return { path: path.join('.'), at: path.reduce((at, name) => pointer(at, name), '') }
}

function resolveAll(pending: readonly Pending[], text: JsonText, set: Merging['set']): void {
  spendParsing(text.length)
  const document = parseTrusted(text)
  for (const { path, resolve } of pending) {
    const value = resolve(path.reduce<Json | undefined>((each, name) => member(each, name), document))
    if (value !== undefined) set.set(path, value)
  }
}

type Path = readonly string[]

interface Merging extends Pick<MergeContext, 'schema' | 'isReadable'> {
  readonly set: Map<Path, Json>
  readonly unset: Path[]
  readonly pending: Pending[]
}

interface Pending {
  readonly path: Path
  /** The value to set, by the one that is there; undefined to leave it. */
  readonly resolve: (current: Json | undefined) => Json | undefined
  /** Whether the value that is there becomes a part of the new one. */
  readonly merges?: true
}

interface Place {
  readonly path: Path
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
  if (value === null) merging.unset.push(path)
  else if (field.kind === 'object' && isObject(value)) mergeObject(value, field, { path, merging })
  else if (field.kind === 'simple' && field.type.name === 'any' && isObject(value))
    merging.pending.push({ path, resolve: (current) => merged(current, value), merges: true })
  else merging.set.set(path, value)
}

/**
 * An object exists afterwards, even if the patch only removes members of it. An object that the caller may not read looks
 * as if it did not exist, so it is not created for a removal.
 */
function mergeObject(patch: JsonObject, field: ObjectField, place: Place): void {
  const { set, pending, isReadable } = place.merging
  const writes = set.size + pending.length
  mergeMembers(patch, field.fields, place)
  const isWritten = set.size + pending.length > writes
  const isEmpty = Object.keys(patch).length === 0
  if (!isWritten && (isEmpty || isReadable(field))) pending.push({ path: place.path, resolve: createEmpty })
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
