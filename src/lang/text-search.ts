/** Reads what a text search asks for: words, phrases in quotes, `-` before what must not occur, `*` after a beginning. */
import { ServiceError } from '../base/errors.ts'
import type { Language } from '../base/stemmers.ts'
import { wordsIn } from '../base/words.ts'
import { asWritten, wordsText } from '../schema/document-words.ts'

/** Words that follow each other in one value of a document, in the form that the index has. */
export interface SearchTerm {
  readonly words: readonly string[]
  /** Whether the last word is the beginning of one. */
  readonly isPrefix: boolean
  /** Whether it must not occur. */
  readonly isExcluded: boolean
}

/**
 * Text that is cut into several words, such as `blue-green`, is a phrase: in a document it is cut in the same way.
 * `at` is the JSON pointer to the text, for error messages. In a language, stems are searched; a beginning of a word has
 * no stem, so that a term with one is about words as they are written.
 */
export function parseSearch(text: string, at: string, language?: Language): readonly SearchTerm[] {
  const terms: SearchTerm[] = []
  for (const [whole, minus, quoted, quote, star, bare] of text.matchAll(TERM)) {
    if (quote === '') throw refused('a phrase begins and ends with a quote, as in "night sky"', at)
    const isPrefix = star === '*' || bare?.endsWith('*') === true
    const words = wordsOf(quoted ?? bare ?? '', isPrefix, language)
    if (words.length === 0) throw refused(`${JSON.stringify(whole)} has no word to search for; ${FORM}`, at)
    terms.push({ words, isPrefix, isExcluded: minus === '-' })
  }
  if (terms.length === 0) throw refused(`there is no word to search for; ${FORM}`, at)
  return terms
}

function wordsOf(text: string, isPrefix: boolean, language: Language | undefined): readonly string[] {
  if (language === undefined) return wordsIn(text)
  return isPrefix ? wordsIn(text).map(asWritten) : wordsIn(text, language)
}

const FORM = 'a search has words, phrases and beginnings of words, such as blue "night sky" -red sta*'

/** A phrase with its end and its `*`, or text without spaces. */
const TERM = /(-?)(?:"([^"]*)("|$)(\*?)|([^\s"]+))/g

/** The piece that the text of a document's words contains exactly where the term occurs. */
export function pieceOf({ words, isPrefix }: SearchTerm): string {
  const text = wordsText(words)
  return isPrefix ? text.slice(0, -1) : text
}

/** The pieces of the terms that must occur. */
export function wantedPieces(terms: readonly SearchTerm[]): readonly string[] {
  return terms.filter(({ isExcluded }) => !isExcluded).map(pieceOf)
}

function refused(message: string, at: string): ServiceError {
  return new ServiceError('query-api:InvalidQuery', message, { at })
}
