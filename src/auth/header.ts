/** Headers as credentials read them. */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { unauthenticated } from './unauthenticated.ts'

/** All values of a header as one text; empty when there is none. */
export function headerText(value: string | string[] | undefined): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : value.join(',')
}

/**
 * The only value of a header, or undefined. Two of them are refused: one may come from a caller who hopes that whoever is
 * in between adds instead of replacing.
 */
export function soleHeader({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  let found: string | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const each = rawHeaders[i]!
    if (each.length !== name.length || each.toLowerCase() !== name) continue
    if (found !== undefined) throw unauthenticated(`the header ${name} stands twice`)
    found = rawHeaders[i + 1]!
  }
  return found
}

/** Node reads headers as Latin-1; clients write names in UTF-8. */
export function asUtf8(text: string): string {
  const bytes = Buffer.from(text, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : text
}

/** Names by comma. */
export function namesIn(text: string): readonly string[] {
  return text
    .split(',')
    .map(trimBlanks)
    .filter((name) => name !== '')
}

/** Takes away what HTTP calls white space, and nothing else: a role may end in any other character. */
export function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text, start)) start++
  while (end > start && isBlank(text, end - 1)) end--
  return text.slice(start, end)
}

export function isBlank(text: string, at: number): boolean {
  return text[at] === ' ' || text[at] === '\t'
}
