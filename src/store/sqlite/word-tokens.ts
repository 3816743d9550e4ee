/** How indexes for text search, and searches in them, name tables and words. */
import { Buffer } from 'node:buffer'

export function wordTable(no: number): string {
  return `words_${no}`
}

/** A word as a token of letters and digits: the token of a beginning is the beginning of the token. */
export function tokenOf(word: string): string {
  return Buffer.from(word).toString('hex')
}
