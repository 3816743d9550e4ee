/** The words of documents in SQLite: as one text, and as a list for the table of an index. */
import type { DatabaseSync } from 'node:sqlite'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import { parsePath } from '../../../base/path.ts'
import { documentWords, scoreOfWords } from '../../../schema/document-words.ts'
import { tokenOf } from '../word-tokens.ts'

export function addWordFunctions(database: DatabaseSync): void {
  const options = { deterministic: true } as const
  // One statement may ask about several phrases in the same document.
  let last: { readonly document: string; readonly fields: string; readonly words: string } | undefined
  const wordsOf = (document: string, fields: string): string => {
    if (last?.document === document && last.fields === fields) return last.words
    const paths = (JSON.parse(fields) as readonly string[]).map((path) => parsePath(path, ''))
    const words = documentWords(parseTrusted(document), paths)
    last = { document, fields, words }
    return words
  }
  database.function('smalt_words', options, (document, fields) => wordsOf(String(document), String(fields)))
  database.function('smalt_score', options, (document, fields, weights, pieces) =>
    scoreOfWords(
      wordsOf(String(document), String(fields)),
      listIn(weights) as readonly number[],
      listIn(pieces) as readonly string[],
    ),
  )
  database.function('smalt_word_tokens', options, (document, fields) =>
    wordsOf(String(document), String(fields)).split('  ').map(tokenIn).join(' '),
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
