/** The changes of a bulk edit: what a user chooses, as an update of the service. */
import type { Json, JsonObject } from '../../client/json.ts'
import type { Column } from '../../schema/columns.ts'

export type ChangeKind = 'set' | 'remove' | 'add'

export interface BulkChange {
  readonly column: Column
  readonly kind: ChangeKind
  /** Of `set` and `add`. */
  readonly value?: Json | undefined
}

const NUMERIC = ['integer', 'double', 'biginteger', 'bigdecimal']
const SIMPLE = [...NUMERIC, 'string', 'boolean', 'date', 'uid', 'any', 'binary']

/** Fields that one value can be given to. */
export function editableColumns(columns: readonly Column[], hidden: ReadonlySet<string>): readonly Column[] {
  return columns.filter(
    ({ path, field }) => path !== '_id' && SIMPLE.includes(field.type) && !hidden.has(path),
  )
}

export function kindsOf({ field }: Column): readonly ChangeKind[] {
  return NUMERIC.includes(field.type) ? ['set', 'add', 'remove'] : ['set', 'remove']
}

/** One operator for each change, in their order; throws where a value is missing. */
export function updateOf(changes: readonly BulkChange[]): readonly JsonObject[] {
  return changes.map(({ column: { path }, kind, value }) => {
    if (kind === 'remove') return { $unset: path }
    if (value === undefined) throw new Error(`give a value for ${path}, or choose to remove it`)
    return kind === 'add' ? { $add: { [path]: value } } : { $set: { [path]: value } }
  })
}
