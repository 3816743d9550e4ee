/** Shared parts of the translation to SQL: scopes, candidates, and negation with respect to NULL. */
import type { Step } from '../../base/path.ts'
import { type ListOperand, isParameter } from '../../lang/operand.ts'
import type { PositiveOp } from '../../lang/operators.ts'
import type { Query } from '../../lang/query.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import type { Field } from '../../schema/field.ts'
import type { Collection } from '../../schema/schema.ts'
import type { TypeName } from '../../schema/types.ts'
import { kindOf } from '../../schema/kind.ts'
import { type Comparands, comparands } from './comparands.ts'
import type { Base, Dialect } from './dialect.ts'
import { type Fragment, join, raw, sql } from './fragment.ts'
import { type ReadAs, readAsOf } from './read-as.ts'

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
  /** Absent where the engine plans statements of any length. */
  readonly size?: StatementSize
  /**
   * Whether loops check at every step that the caller still waits. False for a statement that was judged
   * quick, and on PostgreSQL, which cancels statements itself.
   */
  readonly isWatched: boolean
  /** Whether it is inside an `or` or `not`, which no engine turns into a join. */
  readonly isOptional?: boolean
  /** Whether this is the only condition on the documents, so that no other condition can find them. */
  readonly isAlone?: boolean
  /** The names of values of other documents that the statement has computed beside the rows, by sort field. */
  readonly joinedValues?: ReadonlyMap<FieldRef, Fragment>
  /** How a simple value is read to be compared with another field; absent where both are read from JSON. */
  readonly paired?: (field: FieldRef, other: FieldRef) => Fragment
  /** Whether a loop over nested arrays is one subselect: a cluster accepts none inside of another. */
  readonly isFlat?: boolean
}

/** Bounds what the parts of one statement add to it together. */
export interface StatementSize {
  /** Adds a condition on a reference, in a form that keeps planning short. Throws if there are too many. */
  readonly reference: (write: () => Fragment) => Fragment
  /** Whether the queries may be written a second time. */
  readonly mayRepeat: (queries: readonly Query<FieldRef>[]) => boolean
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
  readonly elementsOf: (field: Field) => string | undefined
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
  /** The columns that conditions on these documents may read. */
  readonly columns: readonly string[]
  /** For conditions on these documents alone, under an alias. */
  readonly translation: (alias: string) => Translation
  /** Whether an index finds the documents that satisfy the query. */
  readonly isServed: (query: Query<FieldRef>) => boolean
  /** Whether an index finds documents by the value of a field, read as a type. */
  readonly isIndexed: (field: FieldRef, type: ReadAs) => boolean
}

/** The first condition of a loop over elements: nested loops over large arrays must be cancellable. */
export function alive(translation: Translation, position: Fragment): Fragment {
  return translation.isWatched ? sql`${translation.dialect.alive(position)} and ` : raw('')
}

/**
 * The same scopes without the columns of single members, which are read from the document. Among the elements
 * of an array the name of such a column could mean a column of the elements, and it has the form of its own type
 * only, not that of the other side. Neither is true of the numbered columns of a layout.
 */
export function withoutColumns(translation: Translation): Translation {
  return {
    ...translation,
    scopes: translation.scopes.map(({ json, present, column, member, scalar, isKind, search, score }) => ({
      json,
      present,
      ...(column && { column }),
      ...(member && { member }),
      ...(scalar && { scalar }),
      ...(isKind && { isKind }),
      ...(search && { search }),
      ...(score && { score }),
    })),
  }
}

/** The outer scopes of array elements: column names are unambiguous there only when they are qualified. */
export function scopesAroundElements(translation: Translation): readonly Base[] {
  return translation.qualifier === '' ? withoutColumns(translation).scopes : translation.scopes
}

/** Whether the base is a whole document, not an element of an array. */
export function isDocument({ scalar }: Base): boolean {
  return scalar === undefined
}

/** A condition on a candidate; `undefined` stands for the missing element of an absent array. */
type Test = (value: Fragment | undefined) => Fragment | undefined

/** Some candidate of the field passes the test. */
export function some({ up, steps, field }: FieldRef, test: Test, translation: Translation): Fragment {
  const indexed = indexedElements({ steps, field }, test, translation)
  if (indexed) return indexed
  const read = (base: Base, rest: readonly Step[]): Fragment =>
    readField(base, rest, field, translation.dialect)
  return someStep(translation.scopes[up]!, steps, { read, test, translation, isMixed: field.isMixed })
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
  const table = isWholeArray(steps) && scopes.length === 1 ? elementsOf(field) : undefined
  if (table === undefined || test(undefined) !== undefined) return undefined
  return sql`${raw(qualifier)}no in (select doc from ${raw(table)} where ${test(raw('k0'))!})`
}

interface Search {
  readonly read: (base: Base, steps: readonly Step[]) => Fragment
  readonly test: Test
  readonly translation: Translation
  readonly isMixed: boolean | undefined
}

function someStep(base: Base, steps: readonly Step[], search: Search): Fragment {
  const star = steps.indexOf('*')
  if (star === -1) return search.test(search.read(base, steps)) ?? raw('1=0')
  const { isMixed, translation } = search
  if (translation.isFlat) return someOfAll(base, steps, search)
  const head = steps.slice(0, star)
  const { from, element, position } = translation.dialect.each(base, head, {
    alias: translation.alias(),
    isMixed,
  })
  const inside = someStep(element, steps.slice(star + 1), search)
  const found = sql`exists (select 1 from ${from} where ${alive(translation, position)}${inside})`
  const missing = search.test(undefined)
  return missing ? sql`((${isAbsent(base, head, search)} and ${missing}) or ${found})` : found
}

/**
 * The same with one subselect for each depth: some outer element lacks the inner array, or some innermost element passes
 * the test.
 */
function someOfAll(root: Base, steps: readonly Step[], search: Search): Fragment {
  const { translation } = search
  const missing = search.test(undefined)
  const terms: Fragment[] = []
  const { loops, base, rest } = loopsOf(root, { steps, isMixed: search.isMixed }, translation, (outer) => {
    if (missing)
      terms.push(inLoops(outer.loops, sql`${isAbsent(outer.base, outer.head, search)} and ${missing}`))
  })
  terms.push(inLoops(loops, search.test(search.read(base, rest)) ?? raw('1=0')))
  return sql`(${join(terms, ' or ')})`
}

interface Loops {
  /** Each one loops over an array of the elements of the one before. */
  readonly loops: readonly Fragment[]
  /** The elements of each loop. */
  readonly bases: readonly Base[]
  /** The innermost elements, and the steps from there. */
  readonly base: Base
  readonly rest: readonly Step[]
}

interface OuterLoops extends Pick<Loops, 'loops' | 'base'> {
  /** The steps from the elements to the next array. */
  readonly head: readonly Step[]
}

/** The loops that lead to the elements at a path, for a single subselect. */
export function loopsOf(
  root: Base,
  { steps, isMixed }: { readonly steps: readonly Step[]; readonly isMixed: boolean | undefined },
  { dialect, alias }: Pick<Translation, 'dialect' | 'alias'>,
  onArray: (outer: OuterLoops) => void = () => undefined,
): Loops {
  const loops: Fragment[] = []
  const bases: Base[] = []
  let base = root
  let rest = steps
  for (let star = rest.indexOf('*'); star !== -1; star = rest.indexOf('*')) {
    const head = rest.slice(0, star)
    onArray({ loops: [...loops], base, head })
    const { from, element } = dialect.each(base, head, { alias: alias(), isMixed })
    loops.push(from)
    bases.push(element)
    base = element
    rest = rest.slice(star + 1)
  }
  return { loops, bases, base, rest }
}

function inLoops(loops: readonly Fragment[], condition: Fragment): Fragment {
  return loops.length === 0
    ? sql`(${condition})`
    : sql`exists (select 1 from ${join(loops, ', ')} where ${condition})`
}

/** Whether there is no array; another value in its position has no elements. */
export function isAbsent(
  base: Base,
  steps: readonly Step[],
  { translation: { dialect }, isMixed }: Pick<Search, 'translation' | 'isMixed'>,
): Fragment {
  return not(isMixed ? dialect.isKind(base, steps, 'array') : dialect.exists(base, steps))
}

export const OPERATORS: Readonly<Record<PositiveOp, string>> = {
  $eq: '=',
  $lt: '<',
  $gt: '>',
  $lte: '<=',
  $gte: '>=',
}

export const isNull: Test = (subject) =>
  subject ? sql`${subject.beginning?.text ?? subject} is null` : raw('1=1')

export function isIn(values: ListOperand, { dialect }: Translation, type: ReadAs): Test {
  const hasNull = !isParameter(values) && values.includes(null)
  const others = comparands(hasNull ? values.filter((value) => value !== null) : values)
  return (subject) => {
    if (!subject) return hasNull ? raw('1=1') : undefined
    const listed = others ? dialect.isIn(comparedWith(subject, others), others, type) : raw('1=0')
    return hasNull ? sql`(${listed} or ${subject} is null)` : listed
  }
}

/** The column of a text suffices for values that are not longer than what it holds for certain. */
export function comparedWith(subject: Fragment, values: Comparands | undefined): Fragment {
  const { beginning } = subject
  return beginning && values && values.maxCharacters() <= beginning.length ? beginning.text : subject
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
export function typeOf(field: Field): ReadAs {
  const value = field.kind === 'array' ? field.element : field
  return value.kind === 'simple' ? readAsOf(value.type.name, value.isMixed) : 'any'
}
