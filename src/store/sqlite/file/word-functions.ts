/** The words of documents in SQLite: as one text, and as a list for the table of an index. */
import type { DatabaseSync } from 'node:sqlite'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import { documentWords, scoreOfWords } from '../../../schema/document-words.ts'
import { parseSource } from '../../layout/word-source.ts'
import { tokenOf } from '../word-tokens.ts'

export function addWordFunctions(database: DatabaseSync): void {
  const options = { deterministic: true } as const
  // One statement may ask about several phrases in the same document.
  let last: { readonly document: string; readonly source: string; readonly words: string } | undefined
  const wordsOf = (document: string, source: string): string => {
    if (last?.document === document && last.source === source) return last.words
    const words = documentWords(parseTrusted(document), parseSource(source))
    last = { document, source, words }
    return words
  }
  database.function('smalt_words', options, (document, source) => wordsOf(String(document), String(source)))
  database.function('smalt_score', options, (document, source, weights, pieces) =>
    scoreOfWords(
      wordsOf(String(document), String(source)),
      listIn(weights) as readonly number[],
      listIn(pieces) as readonly string[],
    ),
  )
  database.function('smalt_word_tokens', options, (document, source) =>
    wordsOf(String(document), String(source)).split('  ').map(tokenIn).join(' '),
  )
}

function listIn(text: unknown): readonly unknown[] {
  return JSON.parse(String(text)) as readonly unknown[]
}

/** What separates values has another token than all words. */
function tokenIn(padded: string): string {
  const word = padded.trim()
  return word === '|' || word === '' ? 'separator' : tokenOf(word)
}
