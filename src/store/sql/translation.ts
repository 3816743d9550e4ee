/** Shared parts of the translation to SQL: scopes, candidates, and negation with respect to NULL. */
import type { Step } from '../../base/path.ts'
import { type ListOperand, isParameter } from '../../lang/operand.ts'
import type { AffirmativeOp } from '../../lang/operators.ts'
import type { Query } from '../../lang/query.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import type { Field } from '../../schema/field.ts'
import type { Collection } from '../../schema/schema.ts'
import type { TypeName } from '../../schema/types.ts'
import { kindOf } from '../../schema/kind.ts'
import { comparands } from './comparands.ts'
import type { Base, Dialect } from './dialect.ts'
import { type Fragment, raw, sql } from './fragment.ts'
import { type Reading, readingOf } from './reading.ts'

export interface Translation extends Rows {
  readonly dialect: Dialect
  /** Innermost first: the first is `$this`, and `up` of a field reference is an index. */
  readonly scopes: readonly Base[]
  /** Creates a table alias that is unique in the statement. */
  readonly alias: (letter?: 'e' | 'r' | 'l') => string
  /** The documents of another collection; undefined while it has no table. */
  readonly other: (collection: Collection, idType: TypeName) => OtherRows | undefined
  /**
   * Adds a subselect of another table's rows as a common table expression with this name; absent where the
   * engine accepts it inline.
   */
  readonly putInFront?: (name: string, select: Fragment) => void
  /** Whether loops check at every step that the caller still waits. */
  readonly isWatched: boolean
  /** Whether it is inside an `or` or `not`, which no engine turns into a join. */
  readonly isOptional?: boolean
  /** Whether this is the only condition on the documents, so that no other condition can find them. */
  readonly isAlone?: boolean
}

/** The table of the documents that a query is about. */
export interface Rows {
  /** The same table a second time, where it may be read independently of the outer rows. */
  readonly again?: OtherRows
  /** Precedes column names, where a statement reads several tables. */
  readonly qualifier: string
  /** The column with the version of a document. */
  readonly version: Fragment
  /** The column with the number of paths that the writer knew, where other processes may know more. */
  readonly paths?: Fragment
  /** Whether an index has the folded text of the field, so that case-insensitive conditions can use it. */
  readonly hasFoldedIndex: (path: string) => boolean
  /** The table with the elements at a path into an array, and the number of their document. */
  readonly elementsOf: (path: string) => string | undefined
  /** The same for an index of folded elements. */
  readonly foldedElementsOf: (path: string) => string | undefined
  /** An implied condition that an index serves; only for queries about the root. */
  readonly hint?: (query: Query<FieldRef>) => Fragment | undefined
  /** The same where the condition is equivalent to the query. */
  readonly indexed?: (query: Query<FieldRef>) => Fragment | undefined
}

/** The documents of another collection, as part of the same statement. */
export interface OtherRows {
  readonly table: string
  /** For conditions on these documents alone, under an alias. */
  readonly translation: (alias: string) => Translation
  /** Whether an index finds the documents that satisfy the query. */
  readonly isServed: (query: Query<FieldRef>) => boolean
  /** Whether an index finds documents by the value of a field, read as a type. */
  readonly isIndexed: (field: FieldRef, type: Reading) => boolean
}

/** The first condition of a loop over elements: nested loops over large arrays must be cancellable. */
export function alive(to: Translation, position: Fragment): Fragment {
  return to.isWatched ? sql`${to.dialect.alive(position)} and ` : raw('')
}

/**
 * The same scopes without columns, so that every member is read from the document. Among the elements of an
 * array a column name could mean a column of the elements, and a column has the form of its own type only,
 * not that of the other side.
 */
export function withoutColumns(to: Translation): Translation {
  return {
    ...to,
    scopes: to.scopes.map(({ json, present, scalar, isKind }) => ({
      json,
      present,
      ...(scalar && { scalar }),
      ...(isKind && { isKind }),
    })),
  }
}

/** The outer scopes of array elements: column names are unambiguous there only when they are qualified. */
export function aroundElements(to: Translation): readonly Base[] {
  return to.qualifier === '' ? withoutColumns(to).scopes : to.scopes
}

/** Whether the base is a whole document, not an element of an array. */
export function isDocument({ scalar }: Base): boolean {
  return scalar === undefined
}

/** A condition on a candidate; `undefined` stands for the missing element of an absent array. */
type Test = (value: Fragment | undefined) => Fragment | undefined

/** Some candidate of the field passes the test. */
export function some({ up, steps, field }: FieldRef, test: Test, to: Translation): Fragment {
  const indexed = indexedElements({ steps, field }, test, to)
  if (indexed) return indexed
  const read = (base: Base, rest: readonly Step[]): Fragment => readField(base, rest, field, to.dialect)
  return someStep(to.scopes[up]!, steps, { read, test, to, isMixed: field.isMixed })
}

/** Whether the path leads to every element, as an index into an array does. */
export function isWholeArray(steps: readonly Step[]): boolean {
  return steps.includes('*') && !steps.some((step) => typeof step === 'number')
}

/** A test that fails for missing values can be evaluated on the indexed elements instead of on each document. */
function indexedElements(
  { steps, field }: Pick<FieldRef, 'steps' | 'field'>,
  test: Test,
  { scopes, elementsOf, qualifier }: Translation,
): Fragment | undefined {
  const table = isWholeArray(steps) && scopes.length === 1 ? elementsOf(field.path) : undefined
  if (table === undefined || test(undefined) !== undefined) return undefined
  return sql`${raw(qualifier)}no in (select doc from ${raw(table)} where ${test(raw('k0'))!})`
}

interface Search {
  readonly read: (base: Base, steps: readonly Step[]) => Fragment
  readonly test: Test
  readonly to: Translation
  readonly isMixed: boolean | undefined
}

function someStep(base: Base, steps: readonly Step[], search: Search): Fragment {
  const star = steps.indexOf('*')
  if (star === -1) return search.test(search.read(base, steps)) ?? raw('1=0')
  const { isMixed, to } = search
  const head = steps.slice(0, star)
  const { from, element } = to.dialect.each(base, head, { alias: to.alias(), isMixed })
  const found = sql`exists (select 1 from ${from} where ${someStep(element, steps.slice(star + 1), search)})`
  const missing = search.test(undefined)
  return missing ? sql`((${isAbsent(base, head, search)} and ${missing}) or ${found})` : found
}

/** Whether there is no array; another value in its position has no elements. */
export function isAbsent(
  base: Base,
  steps: readonly Step[],
  { to: { dialect }, isMixed }: Pick<Search, 'to' | 'isMixed'>,
): Fragment {
  return not(isMixed ? dialect.isKind(base, steps, 'array') : dialect.exists(base, steps))
}

export const OPERATORS: Readonly<Record<AffirmativeOp, string>> = {
  $eq: '=',
  $lt: '<',
  $gt: '>',
  $lte: '<=',
  $gte: '>=',
}

export const isNull: Test = (subject) => (subject ? sql`${subject} is null` : raw('1=1'))

export function isIn(values: ListOperand, { dialect }: Translation, type: Reading): Test {
  const hasNull = !isParameter(values) && values.includes(null)
  const others = comparands(hasNull ? values.filter((value) => value !== null) : values)
  return (subject) => {
    if (!subject) return hasNull ? raw('1=1') : undefined
    const listed = others ? dialect.isIn(subject, others, type) : raw('1=0')
    return hasNull ? sql`(${listed} or ${subject} is null)` : listed
  }
}

/** True exactly where the fragment is not true, whether false or unknown. */
export function not(fragment: Fragment): Fragment {
  return sql`((${fragment}) is not true)`
}

function readField(base: Base, steps: readonly Step[], field: Field, dialect: Dialect): Fragment {
  if (field.kind === 'simple' && field.type.family !== undefined)
    return dialect.read(base, steps, typeOf(field))
  // Containers and opaque values can only be tested for existence.
  const isThere = field.isMixed ? dialect.isKind(base, steps, kindOf(field)) : dialect.exists(base, steps)
  return sql`nullif(${isThere}, ${raw('false')})`
}

/** The reading of a field's values, or of an array's elements. */
export function typeOf(field: Field): Reading {
  const value = field.kind === 'array' ? field.element : field
  return value.kind === 'simple' ? readingOf(value.type.name, value.isMixed) : 'any'
}
