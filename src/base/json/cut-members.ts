/** Removes members from the text of a JSON object, or picks them, without parsing it: many times faster than parsing. */

import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  endOfString,
} from './json-text.ts'

/** The object without these members. */
export function memberCutter(names: Iterable<string>): (text: string) => string {
  const locate = memberLocator(names)
  return (text) => cutMembers(text, locate(text))
}

/** The object with only these members. */
export function memberPicker(names: Iterable<string>): (text: string) => string {
  const locate = memberLocator(names)
  return (text) => {
    const present = locate(text).filter(({ start }) => start !== NONE)
    return `{${present.map(({ start, end }) => text.slice(start + 1, end)).join(',')}}`
  }
}

/** Accepts only text that `JSON.stringify` printed: it has no white space, and one way to escape each key. */
function memberLocator(names: Iterable<string>): (text: string) => readonly Member[] {
  const escaped = new Set([...names].map(asInText))
  if (escaped.size === 0) return () => []
  const keys = escaped.size <= MAX_HINTED_KEYS ? [...escaped].map((name) => `"${name}":`) : []
  if (keys.length === 0 || keys.some(isAmbiguous)) return (text) => scanMembers(text, escaped)
  // Documents of a collection are mostly alike, so the offsets in the previous document are hints for the next one.
  let previous: readonly Member[] = keys.map((key) => ({ key, start: NONE, end: NONE }))
  return (text) => {
    previous = locateByHints(text, previous) ?? withAbsent(keys, scanMembers(text, escaped))
    return previous
  }
}

/** The name as it is printed. Mostly that is the name itself, so that a long list of names needs no copies of them. */
function asInText(name: string): string {
  const printed = JSON.stringify(name)
  return printed.length === name.length + 2 ? name : printed.slice(1, -1)
}

/** Each absent key costs a search of the whole text. A scan costs the same for any number of keys. */
const MAX_HINTED_KEYS = 8

/** Offsets of the comma or brace before a member and of the one after it; both are `NONE` when it is absent. */
interface Member {
  readonly key: string
  readonly start: number
  readonly end: number
}

function cutMembers(text: string, members: readonly Member[]): string {
  let result = '{'
  let copiedTo = 1
  for (const { start, end } of members) {
    if (start === NONE) continue
    // With no member before it in the result, the comma after it has nothing to separate.
    const isFirst = start < copiedTo
    result += text.slice(copiedTo, start)
    copiedTo = isFirst && text.charCodeAt(end) === COMMA ? end + 1 : end
  }
  return copiedTo === 1 ? text : result + text.slice(copiedTo)
}

/** Exact offsets of the members; undefined when their order changed or a nested object may have the same keys. */
function locateByHints(text: string, previous: readonly Member[]): readonly Member[] | undefined {
  const members: Member[] = []
  let topLevelEnd = 0
  for (const { key, start: hint } of previous) {
    const start = startOf(text, key, hint)
    if (start === NONE) members.push({ key, start, end: NONE })
    else {
      if (!isTopLevel(text, topLevelEnd, start)) return undefined
      topLevelEnd = endOfMember(text, start)
      members.push({ key, start, end: topLevelEnd })
    }
  }
  return members
}

/** Offset of the comma or brace before the key, which may belong to the document or to an object in it. */
function startOf(text: string, key: string, hint: number): number {
  if (hint <= 0 && text.startsWith(key, 1)) return 0
  const start = text.indexOf(`,${key}`, hint - LEEWAY)
  if (start !== NONE || hint <= 0) return start
  return text.startsWith(key, 1) ? 0 : text.indexOf(`,${key}`)
}

/** How far before its hint a member is searched for. */
const LEEWAY = 32

/** Whether a string that ends in a comma, with the text after it, could be mistaken for a comma and this key. */
function isAmbiguous(key: string): boolean {
  return /^"[,:\]}]/.test(key)
}

/** Whether the key at this offset belongs to the document itself; `from` is the end of a member that does. */
function isTopLevel(text: string, from: number, key: number): boolean {
  let topLevelEnd = from
  for (let brace = text.indexOf('{', from + 1); brace !== NONE && brace < key;) {
    const value = valueOpenedBy(text, brace)
    if (value === NONE) return false
    topLevelEnd = endOfValue(text, value)
    brace = text.indexOf('{', topLevelEnd)
  }
  return topLevelEnd <= key
}

/** Offset of the object or array of objects that the brace opens as the value of a member; `NONE` when in doubt. */
function valueOpenedBy(text: string, brace: number): number {
  const value = text.charCodeAt(brace - 1) === OPEN_BRACKET ? brace - 1 : brace
  // No string begins after such a character, so this quote ends one; the colon after it makes the string a key.
  const isSure = text.startsWith('":', value - 2) && !BEFORE_STRING.includes(text.charAt(value - 3))
  return isSure ? value : NONE
}

/** After these characters a quote begins a string; after the last one it is escaped. */
const BEFORE_STRING = '{[,:\\'

/** The members that are present. Nothing is kept or allocated for the others, of which there can be thousands. */
function scanMembers(text: string, names: ReadonlySet<string>): readonly Member[] {
  const members: Member[] = []
  for (let start = 0; text.charCodeAt(start + 1) === QUOTE;) {
    const quote = endOfString(text, start + 2)
    const end = endOfValue(text, quote + 2)
    if (names.has(text.slice(start + 2, quote)))
      members.push({ key: text.slice(start + 1, quote + 2), start, end })
    start = end
  }
  return members
}

/**
 * With the keys that are absent, which the next document may have. A key that was cut out of a text would keep that whole
 * text in memory, so each one is replaced by its own copy.
 */
function withAbsent(keys: readonly string[], members: readonly Member[]): readonly Member[] {
  const absent = new Map(keys.map((key) => [key, key]))
  const present = members.map((member) => {
    const key = absent.get(member.key) ?? member.key
    absent.delete(key)
    return { ...member, key }
  })
  return [...present, ...[...absent.keys()].map((key) => ({ key, start: NONE, end: NONE }))]
}

/** Offset of the comma or brace after a member; `start` is the offset of the one before it. */
function endOfMember(text: string, start: number): number {
  return endOfValue(text, endOfString(text, start + 2) + 2)
}

/** Offset of the comma or brace after a value. */
function endOfValue(text: string, start: number): number {
  if (text.charCodeAt(start) === QUOTE) return endOfString(text, start + 1) + 1
  let depth = 0
  for (let i = start; ; i++) {
    const unit = text.charCodeAt(i)
    if (unit === QUOTE) i = endOfString(text, i + 1)
    else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) depth++
    else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) {
      if (depth === 0) return i
      depth--
    } else if (unit === COMMA && depth === 0) return i
  }
}

const NONE = -1
