/** Joined documents as columns of the same statement: stored texts, aggregated into JSON arrays. */
import type { Step } from '../../base/path.ts'
import { type JoinPlan, type JoinedDocuments, type ReadPlan, TOO_LARGE } from '../../plan/plan.ts'
import type { Base } from './dialect.ts'
import { type Fragment, join, literal, raw, sql } from './fragment.ts'
import { type JoinedRows, joinedRows } from './joined-rows.ts'
import { joiningOf } from './joining.ts'
import { orderBy, sourceColumns } from './order-by.ts'
import { type OtherRows, type Translation, isDocument } from './translation.ts'
import { filterTerms } from './where.ts'

/**
 * One column for each join: the documents in the first line, their facts in the second. Those of the sort follow, if the
 * plan wants them. The only scope is the outer row.
 */
export function joinedColumns(
  { joins = [], sort, withSources }: Pick<ReadPlan, 'joins' | 'sort' | 'withSources'>,
  translation: Translation,
): readonly Fragment[] {
  const sources = withSources ? sourceColumns(sort, translation) : []
  return [...joins.map((plan) => columnOf(plan, translation, LINE_END)), ...sources]
}

/** Parses the columns. */
export function joinedFrom(columns: readonly (string | null)[]): readonly JoinedDocuments[] {
  return columns.map((column) => {
    if (column === null) return { documents: null, facts: null }
    // Stored texts contain no line break.
    const end = column.indexOf(LINE_END)
    return { documents: column.slice(0, end), facts: column.slice(end + 1) }
  })
}

const LINE_END = '\n'

function columnOf(plan: JoinPlan, translation: Translation, separator: string): Fragment {
  const other = translation.other(plan.collection, plan.idType)
  if (plan.isCount) {
    const listing = { plan, other, translation, items: [NUMBER], separator }
    return sql`${listsAt(translation.scopes[0]!, plan.steps.slice(0, -1), listing)} || ${literal(`${separator}null`)}`
  }
  if (!other) return raw('null')
  const items = plan.isShownWhole
    ? [documentIn]
    : [documentIn, ({ inner }: JoinedRows) => factsIn(inner, plan)]
  return listsAt(translation.scopes[0]!, plan.steps.slice(0, -1), {
    plan,
    other,
    translation,
    items,
    separator,
  })
}

/** A text for each joined row. Documents and facts are listed side by side, so that rows are looked up once. */
type Item = (rows: JoinedRows) => Fragment

/** A number of rows is no list of texts. */
const NUMBER: Item = () => raw('null')

interface Listing {
  readonly plan: JoinPlan
  /** Absent while the other collection has no table; then only numbers are listed. */
  readonly other: OtherRows | undefined
  readonly translation: Translation
  readonly items: readonly Item[]
  readonly separator: string
}

/**
 * The lists for the object with the reference, or for every element on the way to it; null for a value that
 * is not an object.
 */
function listsAt(base: Base, steps: readonly Step[], listing: Listing): Fragment {
  const { translation, items } = listing
  const star = steps.indexOf('*')
  if (star === -1) {
    const joined = joinedLists(listing)
    if (steps.length === 0 && isDocument(base)) return joined
    return sql`case when ${translation.dialect.isKind(base, steps, 'object')} then ${joined} end`
  }
  // Versions of other schemas may have stored a value other than an array here.
  const options = { alias: translation.alias(), isMixed: true }
  const { from, element, position } = translation.dialect.each(base, steps.slice(0, star), options)
  const inner = { ...listing, translation: { ...translation, scopes: [element, ...translation.scopes] } }
  const entries = items.map((item) =>
    orElse('null', listsAt(element, steps.slice(star + 1), { ...inner, items: [item] })),
  )
  return sql`(select ${listsOf(entries, position, listing)} from ${from})`
}

function joinedLists(listing: Listing): Fragment {
  const { plan, other, translation, items } = listing
  if (!other) return literal('0')
  const around = { other, translation, filter: filterTerms }
  if (plan.isCount) {
    const counted = joinedRows(joiningOf([plan.query], other), around)
    return sql`(select ${literal('')} || count(*) from ${counted.from} where ${counted.where})`
  }
  const rows = joinedRows(joiningOf([plan.query], other), around, ['version', 'doc', 'paths'])
  const texts = items.map((item) => item(rows))
  const listed = listsOf(texts, orderOf(plan, rows), listing)
  const source = sql`from ${rows.from} where ${rows.where}`
  if (plan.isShownWhole) {
    // The list appears twice in the text, but engines compute equal aggregates once.
    const printed = sql`${listed} || ${maxPaths(rows, listing)}`
    return sql`(select ${withinBounds(printed, listing)} ${source})`
  }
  const alias = raw(translation.alias('l'))
  return sql`(select ${withinBounds(sql`${alias}.lists`, listing)} from (select ${listed} as lists ${source}) ${alias})`
}

function maxPaths({ inner: { paths } }: JoinedRows, { separator }: Listing): Fragment {
  return paths ? sql`${literal(separator)} || max(${paths})` : literal(`${separator}null`)
}

/**
 * Replaces a list that is too large for memory by a marker, so that it is not sent. The bound applies at every
 * level of nesting, so an enclosing list is bounded, too.
 */
function withinBounds(lists: Fragment, { plan, items, separator }: Listing): Fragment {
  const hasFacts = plan.isShownWhole || items.length > 1
  const instead = literal([JSON.stringify(TOO_LARGE), ...(hasFacts ? ['null'] : [])].join(separator))
  return sql`case when octet_length(${lists}) > ${raw(String(MAX_BYTES))} then ${instead} else ${lists} end`
}

/** The limit for one reference in one document. */
const MAX_BYTES = 16 * 1024 * 1024

/** JSON arrays of the texts, all in the same order; null without rows. */
function listsOf(texts: readonly Fragment[], order: Fragment, { translation, separator }: Listing): Fragment {
  const lists = texts.map((text) => translation.dialect.listOf(text, order))
  return sql`'[' || ${join(lists, ` || ']${separator}[' || `)} || ']'`
}

function documentIn({ inner }: JoinedRows): Fragment {
  return raw(`${inner.qualifier}doc`)
}

function factsIn(inner: Translation, { joins }: JoinPlan): Fragment {
  // A nested join sees only its own document, not the outer scopes.
  const within = { ...inner, scopes: inner.scopes.slice(0, 1) }
  const nested = joins.map((plan) => orElse('null,null', columnOf(plan, within, ',')))
  const facts = [inner.version, inner.paths ?? raw(`'null'`), ...nested]
  return sql`'[' || ${join(facts, ` || ',' || `)} || ']'`
}

function orderOf({ sort }: JoinPlan, { inner }: JoinedRows): Fragment {
  // Sort keys of outer scopes are the same for all rows.
  const keys = sort.filter(({ field }) => field.up === 0).map((key) => orderBy(key, inner))
  return join([...keys, raw(`${inner.qualifier}id`)], ', ')
}

function orElse(text: string, value: Fragment): Fragment {
  return sql`coalesce(${value}, ${literal(text)})`
}
