/**
 * Plans for finds that differ only in the texts they compare with: made once, with blanks in the place of the texts, and
 * filled in for each. Which texts those are decides nothing on the way to a plan, neither what may be seen nor what a
 * name means; a plan that is filled in is a plan like any other.
 */
import { randomBytes } from 'node:crypto'
import type { Json } from '../base/json/json.ts'
import { mapCompared } from '../lang/resolve/query-walk.ts'
import type { ReadPlan } from './plan.ts'

/** The text for each blank. */
export type Texts = ReadonlyMap<Json, string>

/** What a plan was made of; nothing is known of plans that were made of this one. */
export interface Origin {
  readonly template: ReadPlan
  readonly texts: Texts
}

/** Texts that nobody else can have written, all of the length that a text which fills one in has at most. */
export const BLANKS: readonly string[] = Array.from({ length: 8 }, () => randomBytes(20).toString('hex'))

const MAX_CHARACTERS = BLANKS[0]!.length

/** Whether no part of the service treats the text in another way than a blank: short, and of plain characters. */
export function isPlainText(text: string): boolean {
  return text.length > 0 && text.length <= MAX_CHARACTERS && /^[ -~]+$/.test(text)
}

/** Other texts for the blanks, as unlike them as can be, and with no character in common: they show what becomes of texts. */
export function probesFor(blanks: readonly string[]): Texts {
  return new Map(blanks.map((blank, i) => [blank, `${String.fromCharCode(71 + i)}z "'%_*?$\\`]))
}

/** The blanks that came through as they are, as something that a field of text is compared with. */
export function blanksIn({ query }: ReadPlan): readonly string[] {
  const found = new Set<Json>()
  if (query) {
    mapCompared(query, (comparison) => {
      const { field } = comparison.field
      if (field.kind === 'simple' && TEXTS.has(field.type.name)) found.add(comparison.value)
      return comparison
    })
  }
  return BLANKS.filter((blank) => found.has(blank))
}

const TEXTS: ReadonlySet<string> = new Set(['string', 'uid'])

export function fillBlanks(template: ReadPlan, texts: Texts): ReadPlan {
  const query = mapCompared(template.query!, (comparison) => {
    const value = texts.get(comparison.value)
    return value === undefined ? comparison : { ...comparison, value }
  })
  const plan = { ...template, query }
  origins.set(plan, { template, texts })
  return plan
}

const origins = new WeakMap<ReadPlan, Origin>()

export function originOf(plan: ReadPlan): Origin | undefined {
  return origins.get(plan)
}

/** The same plan for all that differ only in texts: what does not depend on these can be remembered of it. */
export function shapeOf(plan: ReadPlan): ReadPlan {
  return origins.get(plan)?.template ?? plan
}
