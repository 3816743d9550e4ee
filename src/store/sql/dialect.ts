/** The differences between engines in the SQL of queries. All other SQL is the same. */
import type { Json } from '../../base/json/json.ts'
import type { PatternFlags } from '../../base/pattern.ts'
import type { Step } from '../../base/path.ts'
import type { TextSearch } from '../../lang/query.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import type { Kind } from '../../schema/kind.ts'
import type { Comparands } from './comparands.ts'
import type { Fragment, SqlValue } from './fragment.ts'
import type { ReadAs } from './read-as.ts'

/** A JSON value in the database: the document, or an element of one of its arrays. */
export interface Base {
  /** The value as JSON for path access; NULL when it is not a container. */
  readonly json: Fragment
  /** Whether the value is not null. */
  readonly present: Fragment
  /** Members with their own column. */
  readonly columns?: ReadonlyMap<string, string>
  /** What `read` returns, made of a column that holds the values at the path, if there is one. */
  readonly column?: (steps: readonly Step[], type: ReadAs) => Fragment | undefined
  /** The JSON and the remaining steps by which the value at a path is reached sooner, if there is such a column. */
  readonly member?: (steps: readonly Step[]) => Place | undefined
  /** The value itself, for an element of an array of simple values. */
  readonly scalar?: (type: ReadAs) => Fragment
  /** The JSON text of the value, for an element of an array, where the engine keeps its digits. */
  readonly text?: Fragment
  /** Tests the kind of the value, for an element of an array. */
  readonly isKind?: (kind: Kind) => Fragment
  /** The form of a value in an index, read as a type, where that is not the value itself. */
  readonly indexedForm?: (path: string, type: ReadAs) => Form | undefined
  /** Whether the document matches a text search; absent for elements of arrays. */
  readonly search?: (query: TextSearch<FieldRef>) => Fragment
  /** How relevant the document is for it. */
  readonly score?: (query: TextSearch<FieldRef>) => Fragment
}

/** A value inside of another one. */
export interface Place {
  readonly json: Fragment
  readonly steps: readonly Step[]
}

/** A function from a value to a derived value. */
export type Form = (value: Fragment) => Fragment

export interface Dialect {
  readonly placeholder: (n: number) => string
  /** A simple value in a form that compares and sorts as its type does; NULL when missing or null. */
  readonly read: (base: Base, steps: readonly Step[], type: ReadAs) => Fragment
  /** Whether there is a value other than null, container or not. */
  readonly exists: (base: Base, steps: readonly Step[]) => Fragment
  /** Whether there is a value of this kind; values on the way may be of any kind. */
  readonly isKind: (base: Base, steps: readonly Step[], kind: Kind) => Fragment
  /** The elements of an array as rows. */
  readonly each: (base: Base, steps: readonly Step[], options: EachOptions) => Elements
  /** A literal in the form that `read` returns. */
  readonly value: (value: Json, type: ReadAs) => SqlValue
  /** Whether `subject` is one of the values. */
  readonly isIn: (subject: Fragment, values: Comparands, type: ReadAs) => Fragment
  /** Whether `subject` is one of the values of a subselect with few rows. */
  readonly isAmong: (subject: Fragment, select: Fragment) => Fragment
  /** Whether `subject` is the key of some row of another table, in a form that indexes of either side serve. */
  readonly isKeyOf: (subject: Fragment, rows: KeyedRows) => Fragment
  /** Whether `subject` is not null, in a form that finds the first value in an index. */
  readonly isThere: (subject: Fragment) => Fragment
  /** Equal, or both null. */
  readonly isSame: (a: Fragment, b: Fragment) => Fragment
  /** The same between rows of two tables, in a form that the engine can look up or hash. */
  readonly isSameKey: (a: Fragment, b: Fragment, type: ReadAs) => Fragment
  /** The direction of a sort key: null is first ascending and last descending. */
  readonly direction: (descending: boolean) => Fragment
  readonly matches: (subject: Fragment, pattern: string, flags: PatternFlags) => Fragment
  /** True while the caller waits, evaluated for every row; otherwise the statement fails, which cancels it. */
  readonly alive: (row: Fragment) => Fragment
  /** The case-folded text. */
  readonly fold: (subject: Fragment) => Fragment
  /** The texts of all rows, separated by commas; null without rows. */
  readonly listOf: (text: Fragment, order: Fragment) => Fragment
  /** Ends a subselect of rows to delete: it leaves out those that another transaction has locked, and waits for none. */
  readonly unlockedOnly: Fragment
}

/** Rows of another table, each with a key. */
export interface KeyedRows {
  readonly type: ReadAs
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

interface EachOptions {
  readonly alias: string
  /** Whether a value other than an array may be stored there; it has no elements. */
  readonly isMixed: boolean | undefined
}

interface Elements {
  readonly from: Fragment
  readonly element: Base
  readonly position: Fragment
}
