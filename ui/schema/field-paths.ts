/** The paths of the fields in a schema that is being written, as indexes and projections name them. */
import { type JsonObject, isObject, textOf } from '../client/json.ts'
import { isPredefined } from './columns.ts'

export interface FieldPath {
  /** With `*` for the elements of arrays. */
  readonly path: string
  readonly type: string
}

/** Those of a whole schema, with the `_id` that it need not name. */
export function schemaPaths(fields: JsonObject): readonly FieldPath[] {
  return Object.hasOwn(fields, '_id') ? fieldPaths(fields) : [ID, ...fieldPaths(fields)]
}

const ID: FieldPath = { path: '_id', type: 'string' }

function fieldPaths(fields: JsonObject): readonly FieldPath[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    isPredefined(name) || !isObject(field) ? [] : pathsOf(name, field),
  )
}

function pathsOf(path: string, field: JsonObject): readonly FieldPath[] {
  const { fields, items } = field
  const type = textOf(field['type'])
  const inner = isObject(fields) ? fieldPaths(fields).map((each) => inside(path, each)) : []
  const elements = isObject(items) ? pathsOf(`${path}.*`, items) : []
  return [{ path, type }, ...inner, ...elements]
}

function inside(outer: string, { path, type }: FieldPath): FieldPath {
  return { path: `${outer}.${path}`, type }
}

const NOT_INDEXED = ['object', 'array', 'reference', 'any', 'binary']

/** Those that an index can have; words are those of strings. */
export function indexable(paths: readonly FieldPath[], ofWords: boolean): readonly string[] {
  return paths
    .filter(({ type }) => (ofWords ? type === 'string' : !NOT_INDEXED.includes(type)))
    .map(({ path }) => path)
}
