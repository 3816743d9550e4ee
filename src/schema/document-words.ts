/**
 * The words of a document that an index for text search holds, as one text: each word with a space before and after it.
 * Words that follow each other then are one piece of that text, and the beginning of a word is a piece as well.
 */
import { type Json, isArray, member } from '../base/json/json.ts'
import type { Path } from '../base/path.ts'
import type { Language } from '../base/stemmers.ts'
import { wordsIn } from '../base/words.ts'
import { spend } from '../base/work/work.ts'

/** Stands between the values of one field: no words follow each other across it. */
const VALUE_END = ' | '
/** Stands between fields. */
export const FIELD_END = ' \n '

/** What an index for text search has the words of. */
export interface WordSource {
  readonly fields: readonly Path[]
  /** The index then has the stems of the words, and for beginnings of words also the words. */
  readonly language?: Language | undefined
}

/** Empty if the document has no words in these fields. Values that are no texts count as missing. */
export function documentWords(document: Json | undefined, { fields, language }: WordSource): string {
  let isEmpty = true
  const parts = fields.map((path) =>
    textsAt(document, path)
      .flatMap((text) => wordLists(text, language))
      .filter((words) => words.length > 0)
      .map((words) => {
        isEmpty = false
        return wordsText(words)
      })
      .join(VALUE_END),
  )
  return isEmpty ? '' : parts.join(FIELD_END)
}

function wordLists(text: string, language: Language | undefined): readonly (readonly string[])[] {
  const words = wordsIn(text)
  return language === undefined ? [words] : [wordsIn(text, language), words.map(asWritten)]
}

/** A word as it is written, beside stems. No word contains the sign. */
export function asWritten(word: string): string {
  return `=${word}`
}

/** The text of words that follow each other. */
export function wordsText(words: readonly string[]): string {
  return words.map((word) => ` ${word} `).join('')
}

/** How relevant a document is: how often each piece occurs in a field, times the weight of the field. */
export function scoreOfWords(words: string, weights: readonly number[], pieces: readonly string[]): number {
  spend((words.length * pieces.length) / CHARACTERS_COUNTED_PER_STEP)
  return scoreOfFields(words.split(FIELD_END), weights, pieces)
}

/** The same, of words that are cut into fields already. */
export function scoreOfFields(
  fields: readonly string[],
  weights: readonly number[],
  pieces: readonly string[],
): number {
  let score = 0
  for (const [i, words] of fields.entries()) {
    for (const piece of pieces) score += weights[i]! * occurrences(piece, words)
  }
  return score
}

/** A piece is counted again only after its end. */
function occurrences(piece: string, words: string): number {
  let count = 0
  for (let at = words.indexOf(piece); at !== -1; at = words.indexOf(piece, at + piece.length)) count++
  return count
}

const CHARACTERS_COUNTED_PER_STEP = 32

function textsAt(value: Json | undefined, path: Path): readonly string[] {
  let values: readonly (Json | undefined)[] = [value]
  for (const step of path) {
    spend(values.length)
    values =
      step === '*'
        ? values.flatMap((each) => (isArray(each) ? each : []))
        : values.map((each) => member(each, String(step)))
  }
  return values.filter((each) => typeof each === 'string')
}
