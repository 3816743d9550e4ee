/**
 * Indexes for text search: a full-text table (FTS5) of the words of each document, written in the transaction of the
 * document. It stores no text. Words are cut by us; each is a token of hexadecimal digits, so that the engine neither
 * cuts nor folds them.
 */
import type { IndexDefinition } from '../../../schema/schema.ts'
import { indexedSource } from '../../layout/word-source.ts'
import { literal, render } from '../../sql/fragment.ts'
import { SQLITE } from '../../sql/sqlite-dialect.ts'
import { wordTable } from '../word-tokens.ts'
import type { ArrayIndex } from './array-indexes.ts'

export function wordIndex(definition: IndexDefinition, documents: string, no: number): ArrayIndex {
  const table = wordTable(no)
  const source = render(literal(indexedSource(definition)), SQLITE.placeholder).text
  const enter = (only: string): string =>
    `replace into ${table}(rowid, words) select no, smalt_word_tokens(doc, ${source}) from ${documents}${only}`
  return {
    table,
    create: [
      `create virtual table ${table} using fts5(words, content='', contentless_delete=1, tokenize='ascii')`,
    ],
    enterAll: enter(''),
    enterOne: enter(' where no = ?'),
    removeOne: `delete from ${table} where rowid = ?`,
    isReplaced: true,
  }
}
