/** The differences between engines in the SQL of queries. All other SQL is the same. */
import type { Json } from '../../base/json/json.ts'
import type { PatternFlags } from '../../base/pattern.ts'
import type { Step } from '../../base/path.ts'
import type { Kind } from '../../schema/kind.ts'
import type { Comparands } from './comparands.ts'
import type { Fragment, SqlValue } from './fragment.ts'
import type { Reading } from './reading.ts'

/** A JSON value in the database: the document, or an element of one of its arrays. */
export interface Base {
  /** The value as JSON for path access; NULL when it is no container. */
  readonly json: Fragment
  /** Whether the value is not null. */
  readonly present: Fragment
  /** Members with their own column. */
  readonly columns?: ReadonlyMap<string, string>
  /** The value itself, for an element of an array of simple values. */
  readonly scalar?: (type: Reading) => Fragment
  /** Tests the kind of the value, for an element of an array. */
  readonly isKind?: (kind: Kind) => Fragment
  /** The form of a value in an index, read as a type, where that is not the value itself. */
  readonly indexedForm?: (path: string, type: Reading) => Form | undefined
}

/** A function from a value to a derived value. */
export type Form = (value: Fragment) => Fragment

export interface Dialect {
  readonly placeholder: (n: number) => string
  /** A simple value in a form that compares and sorts as its type does; NULL when missing or null. */
  readonly read: (base: Base, steps: readonly Step[], type: Reading) => Fragment
  /** Whether there is a value other than null, container or not. */
  readonly exists: (base: Base, steps: readonly Step[]) => Fragment
  /** Whether there is a value of this kind; values on the way may be of any kind. */
  readonly isKind: (base: Base, steps: readonly Step[], kind: Kind) => Fragment
  /** The elements of an array as rows. */
  readonly each: (base: Base, steps: readonly Step[], options: EachOptions) => Elements
  /** A literal in the form that `read` returns. */
  readonly value: (value: Json, type: Reading) => SqlValue
  /** Whether `subject` is one of the values. */
  readonly isIn: (subject: Fragment, values: Comparands, type: Reading) => Fragment
  /** Whether `subject` is one of the values of a subselect with few rows. */
  readonly isAmong: (subject: Fragment, select: Fragment) => Fragment
  /** Whether `subject` is the key of some row of another table, in a form that indexes of either side serve. */
  readonly isKeyOf: (subject: Fragment, rows: KeyedRows) => Fragment
  /** Equal, or both null. */
  readonly isSame: (a: Fragment, b: Fragment) => Fragment
  /** The same between rows of two tables, in a form that the engine can look up or hash. */
  readonly isSameKey: (a: Fragment, b: Fragment, type: Reading) => Fragment
  /** The direction of a sort key: null is first ascending and last descending. */
  readonly direction: (descending: boolean) => Fragment
  readonly matches: (subject: Fragment, pattern: string, flags: PatternFlags) => Fragment
  /** True while the caller waits, evaluated for every row; otherwise the statement fails, which cancels it. */
  readonly alive: (row: Fragment) => Fragment
  /** The case-folded text. */
  readonly fold: (subject: Fragment) => Fragment
  /** The texts of all rows, separated by commas; null without rows. */
  readonly listOf: (text: Fragment, order: Fragment) => Fragment
}

/** Rows of another table, each with a key. */
export interface KeyedRows {
  readonly type: Reading
  /** Whether null may be on both sides, where null equals null. */
  readonly mayBeNull: boolean
  /** The forms of keys in indexes of either side. */
  readonly indexedForms: readonly Form[]
  /** A subselect of the columns that `make` derives from each key. */
  readonly select: (make: (key: Fragment) => Selected) => Fragment
}

interface Selected {
  readonly columns: Fragment
  readonly where?: Fragment
}

export interface EachOptions {
  readonly alias: string
  /** Whether a value other than an array may be stored there; it has no elements. */
  readonly isMixed: boolean | undefined
}

interface Elements {
  readonly from: Fragment
  readonly element: Base
  readonly position: Fragment
}
