/** Parses certificate subjects that reverse proxies send: `CN=ann,OU=editor,O=Example`, escaped as in RFC 4514. */
import { isUtf8 } from 'node:buffer'
import { isBlank } from './header.ts'

/**
 * Attribute in upper case → its values in order. Undefined when the text is malformed or ambiguous: guessing could take a
 * value for an attribute, or one role for another.
 */
export function parseDistinguishedName(text: string): ReadonlyMap<string, readonly string[]> | undefined {
  const found = new Map<string, string[]>()
  for (let at = 0, isMore = true; isMore;) {
    ATTRIBUTE.lastIndex = at
    const [all, name, escaped, separator] = ATTRIBUTE.exec(text) ?? []
    const value = escaped === undefined ? undefined : unescaped(escaped)
    if (all === undefined || name === undefined || value === undefined) return undefined
    const key = name.toUpperCase()
    const values = found.get(key)
    if (values) values.push(value)
    else found.set(key, [value])
    at += all.length
    isMore = separator !== ''
  }
  return found
}

/** Does not match the old form with quotes, in which a value may contain a comma, and binary values, which begin with `#`. */
const ATTRIBUTE = /[ \t]*([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)*)=[ \t]*(?!#)((?:[^"\\,+;<>]|\\.)*)([,+]|$)/sy
const TOKEN = /(?:\\[0-9A-Fa-f]{2})+|\\.|[^\\]+/gs
const SPECIAL = /^\\[ "#+,;<=>\\]$/

function unescaped(value: string): string | undefined {
  let text = ''
  let escapedUpTo = 0
  for (const [token] of value.matchAll(TOKEN)) {
    const plain = token.startsWith('\\') ? plainOf(token) : token
    if (plain === undefined) return undefined
    text += plain
    if (plain !== token) escapedUpTo = text.length
  }
  let end = text.length
  while (end > escapedUpTo && isBlank(text, end - 1)) end--
  return text.slice(0, end)
}

/** Refuses escapes of characters that need none: the backslash was probably meant as a character of the value. */
function plainOf(escape: string): string | undefined {
  if (escape.length === 2) return SPECIAL.test(escape) ? escape[1] : undefined
  const bytes = Buffer.from(escape.replaceAll('\\', ''), 'hex')
  if (!isUtf8(bytes)) return undefined
  const plain = bytes.toString('utf8')
  return /[\p{Cc}A-Za-z0-9]/u.test(plain) ? undefined : plain
}
