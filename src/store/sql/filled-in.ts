/** The statements of plans that were made of a template: written once for the template, and filled in for each plan. */
import { memoized, once } from '../../base/memo.ts'
import type { ReadPlan, StoredDocument } from '../../plan/plan.ts'
import { type Texts, blanksIn, fillIn, opposites, originOf } from '../../plan/template.ts'
import type { SqlValue, Statement } from './fragment.ts'

interface Reading {
  readonly page: Statement
  readonly count: () => Statement
  /** What is asked of documents besides. */
  readonly residual?: (document: StoredDocument) => boolean
}

type Read<T> = (plan: ReadPlan, table: T) => Reading

/** `read` writes the statements of a plan on a table; what comes back does the same, and the same work only once. */
export function filledIn<T extends object>(read: Read<T>): Read<T> {
  const known = memoized((template: ReadPlan) =>
    memoized((table: T) => readingOf(template, (plan) => read(plan, table))),
  )
  return (plan, table) => {
    const origin = originOf(plan)
    const reading = origin && known(origin.template)(table)
    if (!reading) return read(plan, table)
    const { texts } = origin
    return { page: filled(reading.page, texts), count: () => filled(reading.count(), texts) }
  }
}

/** Undefined where more depends on the texts than the values beside the statements. */
function readingOf(template: ReadPlan, read: (plan: ReadPlan) => Reading): Reading | undefined {
  const others = opposites(blanksIn(template))
  const [one, other] = [read(template), read(fillIn(template, others))]
  // It has the texts in it.
  if (one.residual) return undefined
  const count = once(one.count)
  const isFilledIn = isSame(one.page, other.page, others) && isSame(count(), other.count(), others)
  return isFilledIn ? { page: one.page, count } : undefined
}

/** Whether two statements differ only in that blanks stand in one where their opposites stand in the other. */
function isSame(one: Statement, other: Statement, opposite: Texts): boolean {
  const isPair = (value: SqlValue, i: number): boolean => asText(opposite, value) === other.values[i]
  return one.text === other.text && one.values.length === other.values.length && one.values.every(isPair)
}

function filled({ text, values }: Statement, texts: Texts): Statement {
  return { text, values: values.map((value) => asText(texts, value)) }
}

function asText(texts: Texts, value: SqlValue): SqlValue {
  return typeof value === 'string' ? (texts.get(value) ?? value) : value
}
