/** Compiles aggregations to closures: rows of a document, groups of rows, and pages of groups. */
import { type Json, type JsonObject, isArray, isNumber, numberText } from '../../base/json/json.ts'
import { spend } from '../../base/work/work.ts'
import { asCompared } from '../../schema/kind.ts'
import { periodStart } from '../../schema/periods/period.ts'
import { type Group, type GroupKey, type GroupValue, type Groups, doubleResult } from '../aggregate.ts'
import type { Link, ResolvedAggregation, RowField } from '../resolve/resolve-aggregate.ts'
import { type Accumulator, accumulator } from './accumulators.ts'
import { keyText } from './join-key.ts'
import { type Linking, documentsBy, valueAt } from './links.ts'
import { type Seen, climb } from './candidates.ts'
import { compileQuery } from './match.ts'
import { compileSort } from './order.ts'
import type { ShouldYield, Yielding } from './time-slice.ts'

export interface Aggregator {
  /** Adds the rows of a document to their groups. */
  readonly add: (document: Json) => Yielding<void>
  /** The page of the groups that satisfy `having`. */
  readonly page: (range: { readonly from: number; readonly to?: number }) => Groups
}

export interface AggregatorOptions extends Linking {
  /** Accounts for memory that grows with the groups. */
  readonly hold: (bytes: number) => void
}

interface Accumulated {
  readonly keys: readonly Accumulator[]
  readonly values: readonly Accumulator[]
}

export function compileAggregation(aggregation: ResolvedAggregation, options: AggregatorOptions): Aggregator {
  const { keys, values, chain } = aggregation
  const { hold, shouldYield } = options
  const readKeys = keys.map(readerOf)
  const readValues = values.map((value) => ('field' in value ? reading(value.field) : undefined))
  const groups = new Map<string, Accumulated>()
  const groupFor = (text: string): Accumulated => {
    const known = groups.get(text)
    if (known) return known
    hold(GROUP_BYTES * (1 + keys.length + values.length) + 2 * text.length)
    const made = {
      keys: keys.map(({ field }) => accumulator('key', field.field, hold)),
      values: values.map((value) => accumulatorOf(value, hold)),
    }
    groups.set(text, made)
    return made
  }
  // Without keys there is one group, even if there are no rows.
  if (keys.length === 0) groupFor('')
  const addRow = (row: Seen): void => {
    spend(STEPS_PER_VALUE * (1 + keys.length + values.length))
    const found = readKeys.map((read) => read(row))
    const group = groupFor(found.map((value) => keyText(value ?? null)).join())
    for (const [i, value] of found.entries()) if (isValue(value)) group.keys[i]!.add(value)
    for (const [i, each] of group.values.entries()) {
      const read = readValues[i]
      const value = read ? read(row) : true
      if (isValue(value)) each.add(value)
    }
  }
  const eachRow = rowsOf(
    chain.map((link) => opening(link, options)),
    shouldYield,
  )
  return {
    add: (document) => eachRow({ value: document }, addRow),
    page: (range) => pageOf([...groups.values()].map(printGroup), aggregation, range),
  }
}

/** The approximate size of an accumulator. */
const GROUP_BYTES = 100
const STEPS_PER_VALUE = 4

function accumulatorOf(value: GroupValue<RowField>, hold: (bytes: number) => void): Accumulator {
  return value.op === '$count' ? counter() : accumulator(value.op, value.field.field, hold)
}

function counter(): Accumulator {
  let count = 0
  return { add: () => void count++, result: () => count }
}

function printGroup({ keys, values }: Accumulated): Group {
  return [...keys, ...values].map((each) => each.result())
}

function isValue(value: Json | undefined): value is Exclude<Json, null> {
  return value !== undefined && value !== null
}

type Read = (row: Seen) => Json | undefined

function readerOf({ field, truncate }: GroupKey<RowField>): Read {
  const read = reading(field)
  if (!truncate) return read
  const start = periodStart(truncate.period, truncate.timeZone)
  return (row) => {
    const date = read(row)
    return typeof date === 'string' ? start(date) : undefined
  }
}

function reading({ up, steps, field }: RowField): Read {
  const compared = asCompared(field)
  const read: Read = (row) => compared(valueAt(climb(row, up).value, steps))
  if (field.type.name !== 'double') return read
  // Another version may have stored more digits than a double has: equal doubles are one group.
  return (row) => {
    const value = read(row)
    return isNumber(value) ? doubleResult(Number(numberText(value))) : value
  }
}

/** The values of the scopes that a link opens inside of another. */
type Opening = (outer: Seen) => readonly Json[] | Yielding<readonly Json[]>

function opening(link: Link, { documentsOf, shouldYield }: AggregatorOptions): Opening {
  if (link.kind === 'elements') {
    return ({ value }) => {
      const array = valueAt(value, link.steps)
      return isArray(array) ? array : []
    }
  }
  return documentsBy(link, { documentsOf, shouldYield })
}

function rowsOf(openings: readonly Opening[], shouldYield: ShouldYield) {
  return function* eachRow(outer: Seen, addRow: (row: Seen) => void, at = 0): Yielding<void> {
    const open = openings[at]
    if (!open) {
      addRow(outer)
      return
    }
    const found = open(outer)
    const opened = 'length' in found ? found : yield* found
    spend(opened.length)
    for (const value of opened) {
      if (shouldYield()) yield
      yield* eachRow({ value, outer }, addRow, at + 1)
    }
  }
}

/** Groups are ordered by the sort, then by their keys. */
export function pageOf(
  all: readonly Group[],
  { having, sort, keys, results }: ResolvedAggregation,
  { from, to }: { readonly from: number; readonly to?: number },
): Groups {
  spend(all.length * results.length)
  const named = all.map((group) => ({ value: byName(group, results), group }))
  const matches = having && compileQuery(having)
  const matching = matches ? named.filter(matches) : named
  const byKeys = results.slice(0, keys.length).map((field) => ({ field, descending: false }))
  const order = compileSort([...sort, ...byKeys])(matching)
  const page = order.slice(from, to === undefined ? undefined : Math.max(to + 1, from))
  return { groups: page.map((position) => matching[position]!.group), matchCount: matching.length }
}

function byName(group: Group, results: ResolvedAggregation['results']): JsonObject {
  return Object.fromEntries(results.map(({ path }, i) => [path, group[i]!]))
}
