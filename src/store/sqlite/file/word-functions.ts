/** The words of documents in SQLite: as one text, field by field, and as a list of tokens for a full-text table. */
import type { DatabaseSync } from 'node:sqlite'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import { FIELD_END, documentWords, scoreOfFields } from '../../../schema/document-words.ts'
import { parseSource } from '../../layout/word-source.ts'
import { tokenOf } from '../word-tokens.ts'

export function addWordFunctions(database: DatabaseSync): void {
  const options = { deterministic: true } as const
  // One statement may ask about several phrases in the same document, or several fields of it.
  let last: { readonly document: string; readonly source: string; readonly words: string } | undefined
  const wordsOf = (document: string, source: string): string => {
    if (last?.document === document && last.source === source) return last.words
    const words = documentWords(parseTrusted(document), parseSource(source))
    last = { document, source, words }
    return words
  }
  database.function('smalt_words', options, (document, source) => wordsOf(String(document), String(source)))
  database.function('smalt_field_words', options, (document, source, field) => {
    const words = wordsOf(String(document), String(source)).split(FIELD_END)
    return words[Number(field)] ?? ''
  })
  let counted: { readonly search: string; readonly score: ScoredSearch } | undefined
  database.function('smalt_score', { ...options, varargs: true }, (search, ...fields) => {
    if (counted?.search !== search) {
      counted = { search: String(search), score: JSON.parse(String(search)) as ScoredSearch }
    }
    return scoreOfFields(fields as readonly string[], counted.score.weights, counted.score.pieces)
  })
  database.function('smalt_word_tokens', options, (words) => String(words).split('  ').map(tokenIn).join(' '))
}

/** What `smalt_score` counts, as JSON. */
export interface ScoredSearch {
  readonly weights: readonly number[]
  readonly pieces: readonly string[]
}

/** What separates values has another token than all words. */
function tokenIn(padded: string): string {
  const word = padded.trim()
  return word === '|' || word === '' ? 'separator' : tokenOf(word)
}
