/**
 * How a document lies in the columns of a CSV file. A column is the path of a field, such as `address.city`. A column
 * whose name ends in `:json` contains JSON: arrays, and values of any type. An empty cell is an absent member, and
 * `""` is an empty text.
 */
import { type Json, type JsonObject, isArray, isObject } from '../base/json/json.ts'

export interface Column {
  /** As it stands in the header. */
  readonly name: string
  readonly path: readonly string[]
  readonly isJson: boolean
}

const JSON_MARK = ':json'

export class ColumnError extends Error {}

export function columnFrom(name: string): Column {
  const isJson = name.endsWith(JSON_MARK)
  const path = (isJson ? name.slice(0, -JSON_MARK.length) : name).split('.')
  if (path.includes(''))
    throw new ColumnError(`"${name}" is no column: a column is the path of a field, such as address.city`)
  if (path.includes('__proto__')) throw new ColumnError('"__proto__" is not allowed as a column')
  return { name, path, isJson }
}

/** Many times the fields of a version. Rows are read on the main thread, and each costs as much as its columns. */
const MAX_COLUMNS = 10_000
/** Each document of a row has these names in it, however short the row is. */
const MAX_NAME = 10_000

/** Refuses a column that stands twice, inside of another one, or deeper than a document may be. */
export function columnsFrom(names: readonly string[], maxDepth: number): readonly Column[] {
  if (names.length > MAX_COLUMNS) throw new ColumnError(`the header has more than ${MAX_COLUMNS} columns`)
  const long = names.find((name) => name.length > MAX_NAME)
  if (long !== undefined)
    throw new ColumnError(`the column "${shown(long)}" has a name of more than ${MAX_NAME} characters`)
  const nameless = names.indexOf('')
  if (nameless !== -1)
    throw new ColumnError(`column ${nameless + 1} of the header has no name; name it, or remove the column`)
  const columns = names.map(columnFrom)
  const root: PathNode = { children: new Map(), isColumn: false }
  for (const { path, name } of columns) {
    // the members of the document are its first level
    if (path.length > maxDepth)
      throw new ColumnError(`the column "${shown(name)}" has more than ${maxDepth} steps`)
    const node = path.reduce(childOf, root)
    if (node.isColumn) throw new ColumnError(`the column "${name}" stands twice in the header`)
    node.isColumn = true
  }
  for (const { path, name } of columns) {
    let node = root
    for (const [i, step] of path.slice(0, -1).entries()) {
      node = childOf(node, step)
      if (!node.isColumn) continue
      const outer = path.slice(0, i + 1).join('.')
      throw new ColumnError(`the column "${name}" lies inside of the column "${outer}"`)
    }
  }
  return columns
}

/** A node in the tree of all paths. Comparing every prefix of a path as text would cost the square of its length. */
interface PathNode {
  readonly children: Map<string, PathNode>
  isColumn: boolean
}

function childOf({ children }: PathNode, step: string): PathNode {
  const known = children.get(step)
  if (known) return known
  const child: PathNode = { children: new Map(), isColumn: false }
  children.set(step, child)
  return child
}

const MAX_SHOWN = 100

function shown(name: string): string {
  return name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name
}

/** Sets a value at a path, and makes the objects on the way. */
export function setAt(document: Record<string, Json>, path: readonly string[], value: Json): void {
  let at = document
  for (const step of path.slice(0, -1)) {
    const inner = Object.hasOwn(at, step) ? at[step] : undefined
    const next = (isObject(inner) ? inner : {}) as Record<string, Json>
    at[step] = next
    at = next
  }
  at[path.at(-1)!] = value
}

/** The cells of a document: column name → value. Members that the service derives (`objectType`, sizes) are left out. */
export function cellsOf(document: JsonObject): ReadonlyMap<string, Json> {
  const cells = new Map<string, Json>()
  collect(document, '', cells)
  return cells
}

function collect(object: JsonObject, prefix: string, cells: Map<string, Json>): void {
  for (const [name, value] of Object.entries(object)) {
    if (isDerived(name) || (prefix === '' && name === 'objectType')) continue
    const path = `${prefix}${name}`
    if (isArray(value)) cells.set(`${path}${JSON_MARK}`, value)
    else if (isObject(value)) {
      if (Object.keys(value).length === 0)
        throw new ColumnError(`"${path}" is an empty object, which CSV cannot express; use ndjson`)
      collect(value, `${path}.`, cells)
    } else if (value !== null) cells.set(name.endsWith(JSON_MARK) ? refuseMark(path) : path, value)
  }
}

/** `tags#` is the number of elements of `tags`, which the service keeps; no field may have such a name. */
export function isDerived(name: string): boolean {
  return name.endsWith('#')
}

function refuseMark(path: string): never {
  throw new ColumnError(
    `the name of the field "${path}" ends in ${JSON_MARK}, which CSV uses otherwise; use ndjson`,
  )
}
