/**
 * Resolves declared indexes and identities against the versions of the entity, to the indexes that the store
 * must have.
 */
import { ServiceError } from '../base/errors.ts'
import type { Field, SimpleField } from '../schema/field.ts'
import type { IndexDefinition, IndexField, Schema } from '../schema/schema.ts'
import type { EntityInfo } from './documents/entity-info.ts'
import { type IndexKey, isIdIndex } from './documents/indexes.ts'

/**
 * Expects all versions; the enabled ones decide. An index on a field that only disabled versions have stays,
 * so that disabling a version neither fails nor drops an index.
 */
export function indexDefinitions(info: EntityInfo, schemas: readonly Schema[]): readonly IndexDefinition[] {
  const declared = info.indexes
    .filter((index) => !isIdIndex(index))
    // An index on a field that no version has is built when a version defines the field.
    .filter(({ fields }) => fields.every(({ field }) => isIndexable(field, schemas)))
    .map(({ kind, language, unique, fields }) => ({
      ...(kind && { kind }),
      ...(language && { language }),
      unique,
      fields: fields.map((key) => resolveKey(key, schemas)),
    }))
  for (const index of declared) {
    if (index.kind === 'text') refuseOtherThanText(index.fields)
    else refuseTwoArrays(index.fields)
  }
  const identities = enabled(schemas).map(({ identity }) => ({
    unique: true,
    fields: identity.map(({ path }) => resolveKey({ field: path, ...PLAIN }, schemas)),
  }))
  const wanted: IndexDefinition[] = [...declared]
  for (const identity of identities) {
    const isOfId = identity.fields.length === 1 && identity.fields[0]!.path === '_id'
    if (!isOfId && !wanted.some((index) => guards(index, identity))) wanted.push(identity)
  }
  return wanted
}

function refuseOtherThanText(fields: readonly IndexField[]): void {
  for (const { path, type } of fields) {
    if (type === 'string') continue
    throw invalidIndex(
      `the index field "${path}" is of type ${type}; an index of kind "text" has fields of type string`,
    )
  }
}

/** Refuses an index over two independent arrays: their elements do not pair up. */
function refuseTwoArrays(fields: readonly IndexField[]): void {
  const arrays = fields.map(({ path }) => arrayOf(path)).sort((a, b) => b.length - a.length)
  if (arrays.every((array) => `${arrays[0]!}.`.startsWith(array === '' ? '' : `${array}.`))) return
  throw invalidIndex(`an index may go into one array only: ${fields.map(({ path }) => path).join(', ')}`)
}

/** The path of the array elements that a field belongs to; empty outside of arrays. */
function arrayOf(path: string): string {
  const steps = path.split('.')
  return steps.slice(0, steps.lastIndexOf('*') + 1).join('.')
}

function enabled(schemas: readonly Schema[]): readonly Schema[] {
  return schemas.filter(({ status }) => status !== 'disabled')
}

/** Whether the index makes the same fields unique, regardless of sort directions. */
function guards(index: IndexDefinition, { fields }: IndexDefinition): boolean {
  if (!index.unique || index.fields.length !== fields.length) return false
  return fields.every(({ path }, i) => index.fields[i]!.path === path && !index.fields[i]!.caseInsensitive)
}

/** Whether some version has the field. */
export function isIndexable(path: string, schemas: readonly Schema[]): boolean {
  return schemas.some((schema) => lookUp(schema, path) !== undefined)
}

/** Expects a field that some version has. */
function resolveKey(key: Omit<IndexKey, 'properties'>, schemas: readonly Schema[]): IndexField {
  const inEnabled = findIn(key.field, enabled(schemas))
  const found = inEnabled.length > 0 ? inEnabled : findIn(key.field, schemas).slice(0, 1)
  const [first, ...others] = found
  const { field, version } = first!
  for (const other of others) {
    if (other.field.type === field.type && other.field.path === field.path) continue
    const problem = `is of another type in version ${other.version} than in ${version}`
    throw invalidIndex(`the index field "${key.field}" ${problem}`)
  }
  if (key.caseInsensitive && field.type.family !== 'text') {
    throw invalidIndex(`the index field "${key.field}" is no text, so its case cannot be ignored`)
  }
  const { descending, caseInsensitive } = key
  const { path, type, isMixed } = field
  return { path, type: type.name, descending, caseInsensitive, ...(isMixed && { isMixed }) }
}

interface FoundField {
  readonly field: SimpleField
  readonly version: string
}

function findIn(path: string, schemas: readonly Schema[]): readonly FoundField[] {
  return schemas.flatMap((schema) => {
    const found = lookUp(schema, path)
    if (!found) return []
    const field = found.kind === 'array' ? found.element : found
    const isComparable = field.kind === 'simple' && field.type.family !== undefined && !field.virtual
    if (isComparable) return [{ field, version: schema.version }]
    throw invalidIndex(
      `the index field "${path}" is no simple, comparable field in version ${schema.version}`,
    )
  })
}

function lookUp(schema: Schema, path: string): Field | undefined {
  let field: Field | undefined = schema.root
  for (const step of path.split('.')) {
    if (field?.kind === 'object') field = field.fields.get(step)
    else if (field?.kind === 'array' && step === '*') field = field.element
    else return undefined
  }
  return field
}

function invalidIndex(message: string): ServiceError {
  return new ServiceError('metadata:InvalidIndex', message, { context: 'indexes' })
}

const PLAIN = { descending: false, caseInsensitive: false }
