/** All that differs between engines when queries become SQL. If it is not in here, it is the same SQL. */
import type { Json } from '../../base/json/json.ts'
import type { PatternFlags } from '../../base/pattern.ts'
import type { Step } from '../../base/path.ts'
import type { Kind } from '../../schema/kind.ts'
import type { Comparands } from './comparands.ts'
import type { Fragment, SqlValue } from './fragment.ts'
import type { Reading } from './reading.ts'

/** A JSON value inside the database: the document, or an element of one of its arrays. */
export interface Base {
  /** The value as JSON that can be walked; NULL when it is no container. */
  readonly json: Fragment
  /** Whether the value is anything but null. */
  readonly present: Fragment
  /** Members that have a column of their own. */
  readonly columns?: ReadonlyMap<string, string>
  /** The value itself, when it is an element of an array of simple values. */
  readonly scalar?: (type: Reading) => Fragment
  /** Of which kind the value is, when it is an element of an array. */
  readonly isKind?: (kind: Kind) => Fragment
  /** What an index holds of the value at a path, read as a type, where that is not the value itself. */
  readonly indexedForm?: (path: string, type: Reading) => Form | undefined
}

/** Something that is made of a value. */
export type Form = (value: Fragment) => Fragment

export interface Dialect {
  readonly placeholder: (n: number) => string
  /** A simple value in the form that compares and sorts as its type does; NULL when missing or null. */
  readonly read: (base: Base, steps: readonly Step[], type: Reading) => Fragment
  /** Whether something other than null stands there, container or not. */
  readonly exists: (base: Base, steps: readonly Step[]) => Fragment
  /** Whether something of the kind stands there, where something else may stand on the way. */
  readonly isKind: (base: Base, steps: readonly Step[], kind: Kind) => Fragment
  /** The elements of an array as rows of a table. */
  readonly each: (base: Base, steps: readonly Step[], options: EachOptions) => Elements
  /** A literal in the form that `read` gives. */
  readonly value: (value: Json, type: Reading) => SqlValue
  /** Whether `subject` is one of the values. */
  readonly isIn: (subject: Fragment, values: Comparands, type: Reading) => Fragment
  /** Whether `subject` is one of the values of a sub-select that gives few. */
  readonly isAmong: (subject: Fragment, select: Fragment) => Fragment
  /** Whether `subject` is the key of some row of another table, in a form that either side's indexes serve. */
  readonly isKeyOf: (subject: Fragment, rows: KeyedRows) => Fragment
  /** Equal, or both null. */
  readonly isSame: (a: Fragment, b: Fragment) => Fragment
  /** The same between rows of two tables, in a form by which the engine can look up or hash them. */
  readonly isSameKey: (a: Fragment, b: Fragment, type: Reading) => Fragment
  /** How a sort key runs so that null comes first ascending and last descending. */
  readonly direction: (descending: boolean) => Fragment
  readonly matches: (subject: Fragment, pattern: string, flags: PatternFlags) => Fragment
  /** True as long as somebody waits for the answer, asked for every row; else the statement ends with an error. */
  readonly alive: (row: Fragment) => Fragment
  /** Text folded so that case does not matter. */
  readonly fold: (subject: Fragment) => Fragment
  /** The texts of all rows with commas between them; null when there are no rows. */
  readonly listOf: (text: Fragment, order: Fragment) => Fragment
}

/** Rows of another table, each with a key. */
export interface KeyedRows {
  readonly type: Reading
  /** Whether null may stand on both sides, where it is the same as null. */
  readonly mayBeNull: boolean
  /** What indexes of either side hold of keys. */
  readonly indexedForms: readonly Form[]
  /** A sub-select of what is made of each key. */
  readonly select: (make: (key: Fragment) => Selected) => Fragment
}

interface Selected {
  readonly columns: Fragment
  readonly where?: Fragment
}

export interface EachOptions {
  readonly alias: string
  /** Whether something else than an array may stand there, which has no elements. */
  readonly isMixed: boolean | undefined
}

interface Elements {
  readonly from: Fragment
  readonly element: Base
  readonly position: Fragment
}
