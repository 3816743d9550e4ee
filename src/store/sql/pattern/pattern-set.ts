/** Sets of characters as ranges of code points, and their closure under case. */
import { once } from '../../../base/memo.ts'
import { foldCase } from '../../../base/text.ts'

/** Ranges from first to last code point, sorted and not adjacent. */
export type CharacterSet = readonly Range[]
export type Range = readonly [first: number, last: number]

/** All characters that a text may contain: no NUL, and no lone surrogates. */
export const EVERYTHING: CharacterSet = [
  [0x1, 0xd7ff],
  [0xe000, 0x10ffff],
]

/** The union of the ranges, restricted to characters that a text may contain. */
export function setOf(ranges: readonly Range[]): CharacterSet {
  const joined: [number, number][] = []
  for (const [first, last] of ranges.flatMap(allowed).toSorted((a, b) => a[0] - b[0])) {
    const before = joined.at(-1)
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else joined.push([first, last])
  }
  return joined
}

export function complementOf(set: CharacterSet): CharacterSet {
  const gaps: Range[] = []
  let next = 1
  for (const [first, last] of set) {
    gaps.push([next, first - 1])
    next = last + 1
  }
  return setOf([...gaps, [next, 0x10ffff]])
}

/** The set with all case variants of its members. */
export function closedUnderCase(set: CharacterSet): CharacterSet {
  const others = set.flatMap((range) => lettersIn(range).flatMap((letter) => variantsByLetter().get(letter)!))
  return others.length === 0 ? set : setOf([...set, ...others.map(alone)])
}

/**
 * A set that is closed under case, reduced to characters of folded text; unchanged when it is too large to
 * enumerate.
 */
export function foldedMembers(set: CharacterSet): CharacterSet {
  if (set.reduce((sum, [first, last]) => sum + last - first + 1, 0) > COUNTABLE) return set
  return setOf(
    set
      .flatMap(pointsOf)
      .filter((point) => !foldings().has(point))
      .map(alone),
  )
}

const COUNTABLE = 1000

function lettersIn(range: Range): readonly number[] {
  const [first, last] = range
  if (last - first < COUNTABLE) return pointsOf(range).filter((point) => variantsByLetter().has(point))
  return [...variantsByLetter().keys()].filter((letter) => first <= letter && letter <= last)
}

function pointsOf([first, last]: Range): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i)
}

function alone(point: number): Range {
  return [point, point]
}

/** Each letter that folding changes, with its folded letter, as code points. */
export const foldings: () => ReadonlyMap<number, number> = once(() => {
  const map = new Map<number, number>()
  for (const letter of lettersWithCase()) {
    const folded = foldCase(letter)
    if (folded !== letter) map.set(letter.codePointAt(0)!, folded.codePointAt(0)!)
  }
  return map
})

/** All letters with case are in the first two planes. One text for each character would take twice the time. */
function lettersWithCase(): readonly string[] {
  let text = ''
  for (const [first, last] of setOf([[0x1, 0x1ffff]])) {
    for (let start = first; start <= last; start += BLOCK) {
      text += String.fromCodePoint(...pointsOf([start, Math.min(start + BLOCK - 1, last)]))
    }
  }
  return text.match(/\p{Changes_When_Casemapped}/gu) ?? []
}

const BLOCK = 4096

/** Each letter with case variants, with all letters that have the same folding. */
const variantsByLetter: () => ReadonlyMap<number, readonly number[]> = once(() => {
  const byFolded = new Map<number, number[]>()
  for (const [letter, folded] of foldings()) {
    const variants = byFolded.get(folded)
    if (variants === undefined) byFolded.set(folded, [folded, letter])
    else variants.push(letter)
  }
  return new Map([...byFolded.values()].flatMap((variants) => variants.map((letter) => [letter, variants])))
})

function allowed([first, last]: Range): readonly Range[] {
  return EVERYTHING.map(([from, to]): Range => [Math.max(first, from), Math.min(last, to)]).filter(
    ([from, to]) => from <= to,
  )
}
