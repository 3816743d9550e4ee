/** Positions in a filter, as error messages name them. */

export function positionOf(text: string, offset: number): string {
  return positionsOf(text, [offset]).get(offset)!
}

/**
 * Lines and columns count from 1; a column is a character (a code point), not a unit of UTF-16. All offsets take one
 * pass over the text together.
 */
export function positionsOf(text: string, offsets: Iterable<number>): ReadonlyMap<number, string> {
  const positions = new Map<number, string>()
  let [at, line, column] = [0, 1, 1]
  for (const offset of [...offsets].sort((a, b) => a - b)) {
    for (; at < offset; at++) {
      const unit = text.charCodeAt(at)
      const isBreak = unit === LINE_FEED || (unit === RETURN && text.charCodeAt(at + 1) !== LINE_FEED)
      if (isBreak) [line, column] = [line + 1, 1]
      else if (!isSecondHalf(unit)) column++
    }
    positions.set(offset, `line ${line}, column ${column}`)
  }
  return positions
}

function isSecondHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

const LINE_FEED = 0x0a
const RETURN = 0x0d
