/** How indexes for text search, and searches in them, name fields and words. */
import { Buffer } from 'node:buffer'

/** The fields of an index, in the form that our functions in SQLite take. */
export function wordPaths(paths: readonly string[]): string {
  return JSON.stringify(paths)
}

export function wordTable(no: number): string {
  return `words_${no}`
}

/** A word as a token of letters and digits: the token of a beginning is the beginning of the token. */
export function tokenOf(word: string): string {
  return Buffer.from(word).toString('hex')
}
