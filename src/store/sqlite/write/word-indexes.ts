/**
 * Indexes for text search: a table with the words of each document, a column for each field, and a full-text table (FTS5)
 * of them, written in the transaction of the document. The full-text table stores no text; it finds documents. The words
 * beside it order them by relevance without a look into the documents. Words are cut by us; each is a token of hexadecimal
 * digits, so that the engine neither cuts nor folds them.
 */
import { parsePath } from '../../../base/path.ts'
import { FIELD_END } from '../../../schema/document-words.ts'
import type { IndexDefinition } from '../../../schema/schema.ts'
import { indexedSource } from '../../layout/word-source.ts'
import { literal, render } from '../../sql/fragment.ts'
import { SQLITE } from '../../sql/sqlite-dialect.ts'
import { wordColumn, wordTable, wordTexts } from '../word-tokens.ts'
import type { ArrayIndex } from './array-indexes.ts'

export function wordIndex(definition: IndexDefinition, documents: string, no: number): ArrayIndex {
  const [table, texts] = [wordTable(no), wordTexts(no)]
  const quoted = (text: string): string => render(literal(text), SQLITE.placeholder).text
  const source = quoted(indexedSource(definition))
  const columns = definition.fields.map((_, i) => wordColumn(i))
  const words = columns.map((_, i) => `smalt_field_words(doc, ${source}, ${i})`)
  const whole = columns.map((column) => `new.${column}`).join(` || ${quoted(FIELD_END)} || `)
  const enter = (only: string): string =>
    `replace into ${texts}(no, ${columns.join(', ')}) select no, ${words.join(', ')} from ${documents}${only}`
  return {
    table,
    paths: definition.fields.map(({ path }) => parsePath(path, '')),
    create: [
      `create table ${texts}(no integer primary key, ${columns.map((column) => `${column} text not null`).join(', ')})`,
      `create virtual table ${table} using fts5(words, content='', contentless_delete=1, tokenize='ascii')`,
      `create trigger ${texts}_entered after insert on ${texts} begin
         replace into ${table}(rowid, words) values (new.no, smalt_word_tokens(${whole})); end`,
      `create trigger ${texts}_removed after delete on ${texts} begin
         delete from ${table} where rowid = old.no; end`,
    ],
    enterAll: enter(''),
    enterOne: enter(' where no = ?'),
    removeOne: `delete from ${texts} where no = ?`,
    isReplaced: true,
  }
}
