/** What a text search means, in lists of words: an independent reference, without the texts that indexes have. */
import type { JsonObject } from '../../../src/base/json/json.ts'
import type { Language } from '../../../src/base/stemmers.ts'
import { wordsIn } from '../../../src/base/words.ts'

export interface Term {
  readonly words: readonly string[]
  readonly isPrefix: boolean
  readonly isExcluded: boolean
}

/** Read in another way than the parser does: from the end of each term. Undefined where a term has no word. */
export function readTerm(term: string, language: Language | undefined): Term | undefined {
  const isExcluded = term.length > 1 && term.startsWith('-')
  const rest = isExcluded ? term.slice(1) : term
  const isPrefix = rest.endsWith('*')
  const words = wordsIn(rest.replaceAll('"', ' '), isPrefix ? undefined : language)
  return words.length === 0 ? undefined : { words, isPrefix, isExcluded }
}

/** The words of each value, by field. */
interface Words {
  readonly written: readonly (readonly string[])[]
  readonly stems: readonly (readonly string[])[]
}

/** Judges documents by the terms of a search, for an index in a language. */
export function referenceIn(language: Language | undefined) {
  const known = new WeakMap<JsonObject, ReadonlyMap<number, Words>>()
  const wordsOf = (document: JsonObject): ReadonlyMap<number, Words> => {
    const before = known.get(document)
    if (before) return before
    const { title, tags, notes } = document
    const said = ((notes ?? []) as readonly JsonObject[]).map((note) => note['said'])
    const made = new Map(
      [[title], (tags ?? []) as readonly unknown[], said].map((values, i): [number, Words] => {
        const texts = values.filter((text) => typeof text === 'string')
        const written = texts.map((text) => wordsIn(text))
        return [
          WEIGHTS[i]!,
          { written, stems: language ? texts.map((text) => wordsIn(text, language)) : written },
        ]
      }),
    )
    known.set(document, made)
    return made
  }
  const count = (document: JsonObject, term: Term): number => {
    let sum = 0
    for (const [weight, { written, stems }] of wordsOf(document)) {
      for (const words of term.isPrefix ? written : stems) sum += weight * times(term, words)
    }
    return sum
  }
  /** The score of a document that matches; undefined for another. */
  return (document: JsonObject, terms: readonly Term[]): number | undefined => {
    let score = 0
    for (const term of terms) {
      const found = count(document, term)
      if (found > 0 === term.isExcluded) return undefined
      score += found
    }
    return score
  }
}

/** Of title, tags and notes; all different, so that they tell the fields apart. */
export const WEIGHTS = [3, 1, 10] as const

/** How often the term occurs, each time after the end of the one before. */
function times(term: Term, words: readonly string[]): number {
  const { length } = term.words
  let count = 0
  for (let i = 0; i + length <= words.length;) {
    const isHere = occursAt(term, words, i)
    if (isHere) count++
    i += isHere ? length : 1
  }
  return count
}

function occursAt({ words, isPrefix }: Term, value: readonly string[], start: number): boolean {
  const last = words.length - 1
  for (let i = 0; i <= last; i++) {
    const found = value[start + i]!
    if (isPrefix && i === last ? !found.startsWith(words[i]!) : found !== words[i]) return false
  }
  return true
}
