/** Parses headers that contain credentials. */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { unauthenticated } from './unauthenticated.ts'

/** All values of a header, joined by commas; empty when there is none. */
export function headerText(value: string | string[] | undefined): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : value.join(',')
}

/**
 * The only value of a header, or undefined. Duplicate headers are refused: one of them may come from a client that relies
 * on a proxy which appends its header instead of replacing it.
 */
export function soleHeader({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  let found: string | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const each = rawHeaders[i]!
    if (each.length !== name.length || each.toLowerCase() !== name) continue
    if (found !== undefined) throw unauthenticated(`the header ${name} appears twice`)
    found = rawHeaders[i + 1]!
  }
  return found
}

/** Node.js decodes headers as Latin-1; clients send names in UTF-8. */
export function asUtf8(text: string): string {
  const bytes = Buffer.from(text, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : text
}

/** Splits a list of names at commas. */
export function namesIn(text: string): readonly string[] {
  return text
    .split(',')
    .map(trimBlanks)
    .filter((name) => name !== '')
}

/** Removes only HTTP white space (space and tab): a role may end in any other character. */
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
