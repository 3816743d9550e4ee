/** All that differs between engines when queries become SQL. If it is not in here, it is the same SQL. */
import type { Json } from '../../base/json.ts'
import type { PatternFlags } from '../../base/pattern.ts'
import type { Step } from '../../base/path.ts'
import type { TypeName } from '../../schema/types.ts'
import type { Fragment, SqlValue } from './fragment.ts'

/** A JSON value inside the database: the document, or an element of one of its arrays. */
export interface Base {
  /** The value as JSON that can be walked; NULL when it is no container. */
  readonly json: Fragment
  /** Whether the value is anything but null. */
  readonly present: Fragment
  /** Members that have a column of their own. */
  readonly columns?: ReadonlyMap<string, string>
  /** The value itself, when it is an element of an array of simple values. */
  readonly scalar?: (type: TypeName) => Fragment
}

export interface Dialect {
  readonly placeholder: (n: number) => string
  /** A simple value in the form that compares and sorts as its type does; NULL when missing or null. */
  readonly read: (base: Base, steps: readonly Step[], type: TypeName) => Fragment
  /** Whether something other than null stands there, container or not. */
  readonly exists: (base: Base, steps: readonly Step[]) => Fragment
  /** The elements of an array as rows of a table. */
  readonly each: (base: Base, steps: readonly Step[], alias: string) => Elements
  /** A literal in the form that `read` gives. */
  readonly value: (value: Json, type: TypeName) => SqlValue
  /** Whether `subject` is one of the values, none of which is null. */
  readonly isIn: (subject: Fragment, values: readonly Json[], type: TypeName) => Fragment
  /** Equal, or both null. */
  readonly isSame: (a: Fragment, b: Fragment) => Fragment
  /** How a sort key runs so that null comes first ascending and last descending. */
  readonly direction: (descending: boolean) => Fragment
  readonly matches: (subject: Fragment, pattern: string, flags: PatternFlags) => Fragment
  /** True as long as somebody waits for the answer, asked for every row; else the statement ends with an error. */
  readonly alive: (row: Fragment) => Fragment
  /** Text folded so that case does not matter. */
  readonly fold: (subject: Fragment) => Fragment
}

interface Elements {
  readonly from: Fragment
  readonly element: Base
  readonly position: Fragment
}
