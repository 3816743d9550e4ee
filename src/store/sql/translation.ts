/** What both halves of the translation to SQL share: scopes, candidates, and negation that knows about NULL. */
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
  /** Innermost first: what `$this` is, and what each `up` of a field reference climbs to. */
  readonly scopes: readonly Base[]
  /** Makes a table alias that no other part of the statement uses. */
  readonly alias: (letter?: 'e' | 'r' | 'l') => string
  /** The documents of another collection; undefined while there is no table of them. */
  readonly other: (collection: Collection, idType: TypeName) => OtherRows | undefined
  /**
   * Puts a sub-select of another table's rows in front of the statement, under a name; absent where it may stand where
   * it is used.
   */
  readonly putInFront?: (name: string, select: Fragment) => void
  /** Whether loops ask at every step if anybody still waits. */
  readonly isWatched: boolean
  /** Whether it stands inside of an `or` or `not`, of which no engine makes a join. */
  readonly isOptional?: boolean
  /** Whether nothing else is asked of the documents, so that they can only be found by what this asks. */
  readonly isAlone?: boolean
}

/** The table whose documents a query is about. */
export interface Rows {
  /** The same table once more, where it may be read apart from the rows that are asked. */
  readonly again?: OtherRows
  /** Stands before the names of its columns, where a statement reads several tables. */
  readonly qualifier: string
  /** The column that holds the version of a document. */
  readonly version: Fragment
  /** The one that holds how many paths its writers knew, where there may be others who know more. */
  readonly paths?: Fragment
  /** Whether an index holds the folded text of the field, so that ignoring case can use it. */
  readonly hasFoldedIndex: (path: string) => boolean
  /** The table that holds the elements at a path into an array, with the number of their document. */
  readonly elementsOf: (path: string) => string | undefined
  /** The same for an index that holds them folded. */
  readonly foldedElementsOf: (path: string) => string | undefined
  /** A condition that an index serves and that holds wherever the query does; only for queries about the root. */
  readonly hint?: (query: Query<FieldRef>) => Fragment | undefined
  /** The same where the condition holds nowhere else. */
  readonly indexed?: (query: Query<FieldRef>) => Fragment | undefined
}

/** The documents of another collection, as a part of the same statement. */
export interface OtherRows {
  readonly table: string
  /** For what is asked of these documents alone, under an alias. */
  readonly translation: (alias: string) => Translation
  /** Whether an index leads to the documents that satisfy the query. */
  readonly isServed: (query: Query<FieldRef>) => boolean
  /** Whether an index finds documents by the value of a field, read as a type. */
  readonly isIndexed: (field: FieldRef, type: Reading) => boolean
}

/** The first condition of a loop over elements: one document may hold so many that a loop in a loop takes for ever. */
export function alive(to: Translation, position: Fragment): Fragment {
  return to.isWatched ? sql`${to.dialect.alive(position)} and ` : raw('')
}

/**
 * The same scopes with every member read from the document: inside the elements of an array the name of a column could
 * mean one of the elements' own, and a column holds the form of its own type only, not that of the other side.
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

/** The scopes around the elements of an array: the names of columns are safe there only when they are qualified. */
export function aroundElements(to: Translation): readonly Base[] {
  return to.qualifier === '' ? withoutColumns(to).scopes : to.scopes
}

/** A whole document, and not an element of an array. */
export function isDocument({ scalar }: Base): boolean {
  return scalar === undefined
}

/** What holds for a candidate; `undefined` stands for the missing element of an absent array. */
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

/** A test that missing values fail can be put to the indexed elements instead of to each document. */
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

/** Whether no array stands there; what stands there instead of one has no elements. */
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

/** True exactly where the other is not true, be it false or unknown. */
export function not(fragment: Fragment): Fragment {
  return sql`((${fragment}) is not true)`
}

function readField(base: Base, steps: readonly Step[], field: Field, dialect: Dialect): Fragment {
  if (field.kind === 'simple' && field.type.family !== undefined)
    return dialect.read(base, steps, typeOf(field))
  // Containers and opaque values can only be asked whether they are there.
  const isThere = field.isMixed ? dialect.isKind(base, steps, kindOf(field)) : dialect.exists(base, steps)
  return sql`nullif(${isThere}, ${raw('false')})`
}

/** How values of the field are read, or the elements of an array. */
export function typeOf(field: Field): Reading {
  const value = field.kind === 'array' ? field.element : field
  return value.kind === 'simple' ? readingOf(value.type.name, value.isMixed) : 'any'
}
