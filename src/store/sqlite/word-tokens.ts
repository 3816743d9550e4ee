/** How indexes for text search, and searches in them, name tables and words. */
import { Buffer } from 'node:buffer'

/** The tables of an index for text search. */
export interface WordTables {
  readonly fullText: string
  /** The words themselves. */
  readonly texts: string
}

export function wordTable(no: number): string {
  return `words_${no}`
}

/** The table with the words themselves, beside the full-text table. */
export function wordTexts(no: number): string {
  return `texts_${no}`
}

/** The column of such a table with the words of a field, by its place in the index. */
export function wordColumn(field: number): string {
  return `f${field}`
}

/** A word as a token of letters and digits: the token of a beginning is the beginning of the token. */
export function tokenOf(word: string): string {
  return Buffer.from(word).toString('hex')
}
