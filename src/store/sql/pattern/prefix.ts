/** The literal prefix of a pattern, so that an index over the text can narrow the search. */
import type { PatternFlags } from '../../../base/pattern.ts'

/** Empty when no prefix is certain. Conservative on purpose: a short prefix costs time, a wrong one loses matches. */
export function literalPrefix(pattern: string, flags: PatternFlags): string {
  if (flags.multiline || flags.extended || !pattern.startsWith('^') || pattern.includes('|')) return ''
  let prefix = ''
  const characters = Array.from(pattern).slice(1)
  for (const [i, character] of characters.entries()) {
    const isPlain = /[\p{L}\p{N} _,;:@/'"=<>!%&~`-]/u.test(character)
    const next = characters[i + 1]
    const mayBeAbsent = next === '*' || next === '?' || next === '{'
    if (!isPlain || mayBeAbsent) break
    prefix += character
  }
  return prefix
}

/** The smallest text above all texts with this prefix; undefined when there is none. */
export function prefixEnd(prefix: string): string | undefined {
  const characters = Array.from(prefix)
  while (characters.length > 0) {
    const last = characters.pop()!.codePointAt(0)!
    if (last === 0x10ffff) continue
    const next = last === 0xd7ff ? 0xe000 : last + 1
    return characters.join('') + String.fromCodePoint(next)
  }
  return undefined
}
