/** The statements of plans that were made of a template: written once for the template, and filled in for each plan. */
import { memoized, once } from '../../base/memo.ts'
import type { ReadPlan, StoredDocument } from '../../plan/plan.ts'
import { type Texts, blanksIn, fillBlanks, originOf, probesFor } from '../../plan/template.ts'
import type { Statement } from './fragment.ts'

export interface Written {
  readonly page: Statement
  readonly count: () => Statement
  /** What is asked of documents besides. */
  readonly residual?: (document: StoredDocument) => boolean
}

type Write<T> = (plan: ReadPlan, table: T) => Written

/** `write` makes the statements of a plan on a table; what comes back does the same, and the same work only once. */
export function filledIn<T extends object>(write: Write<T>): Write<T> {
  const known = memoized((template: ReadPlan) =>
    memoized((table: T) => fillable(template, (plan) => write(plan, table))),
  )
  return (plan, table) => {
    const origin = originOf(plan)
    const written = origin && known(origin.template)(table)
    if (!written) return write(plan, table)
    const { texts } = origin
    return { page: filled(written.page, texts), count: () => filled(written.count(), texts) }
  }
}

/** Undefined where more depends on the texts than the values beside the statements. */
function fillable(template: ReadPlan, write: (plan: ReadPlan) => Written): Written | undefined {
  const probes = probesFor(blanksIn(template))
  const [one, other] = [write(template), write(fillBlanks(template, probes))]
  // It has the texts in it.
  if (one.residual) return undefined
  const count = once(one.count)
  const isFit = isSame(filled(one.page, probes), other.page) && isSame(filled(count(), probes), other.count())
  return isFit ? { page: one.page, count } : undefined
}

function isSame(one: Statement, other: Statement): boolean {
  return (
    one.text === other.text &&
    one.values.length === other.values.length &&
    one.values.every((value, i) => value === other.values[i])
  )
}

function filled({ text, values }: Statement, texts: Texts): Statement {
  return {
    text,
    values: values.map((value) => (typeof value === 'string' ? (texts.get(value) ?? value) : value)),
  }
}
