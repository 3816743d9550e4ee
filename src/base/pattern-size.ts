/**
 * Estimates the size of a compiled regular expression from its text. A counted repetition such as `{1000}` compiles to
 * that many copies, so a short pattern can become a very large program. Compiling it to measure it would already cost
 * the time and memory that the limit prevents.
 */

interface PatternSize {
  /** An upper bound. */
  readonly instructions: number
  /** Text of the counted repetition with the most instructions; undefined when there is none. */
  readonly largestRepetition?: string
}

/** The result is meaningless for malformed patterns; compiling them reports the error. */
export function patternSize(source: string): PatternSize {
  const scan: Scan = { source, at: 0, largest: 0, largestRepetition: undefined }
  let instructions = 2
  while (scan.at < source.length) {
    instructions += alternatives(scan, 0)
    // skips an unmatched closing bracket
    scan.at++
  }
  const { largestRepetition } = scan
  return { instructions, ...(largestRepetition !== undefined && { largestRepetition }) }
}

interface Scan {
  readonly source: string
  at: number
  /** Instructions of the largest counted repetition so far. */
  largest: number
  largestRepetition: string | undefined
}

/** Limits the recursion. Deeper patterns count as too large. */
const MAX_DEPTH = 200

/** Parses up to a closing bracket or the end. */
function alternatives(scan: Scan, depth: number): number {
  if (depth > MAX_DEPTH) return Infinity
  let size = 0
  while (scan.at < scan.source.length && scan.source[scan.at] !== ')') {
    if (scan.source[scan.at] === '|') {
      scan.at++
      size += 2
    } else size += repeated(scan, piece(scan, depth))
  }
  return size
}

/** One character, class, escape or group. */
function piece(scan: Scan, depth: number): number {
  const { source } = scan
  const first = source[scan.at]!
  if (first === '(') {
    scan.at++
    const size = alternatives(scan, depth + 1)
    scan.at++
    return size + 2
  }
  const token = first === '[' ? CLASS : first === '\\' ? ESCAPE : ANY
  token.lastIndex = scan.at
  const length = token.exec(source)?.[0].length ?? 1
  scan.at += length
  // a case-insensitive letter or a Unicode range is one instruction; quoted text has one for each letter
  return source.startsWith('\\Q', scan.at - length) ? length : 1
}

function repeated(scan: Scan, size: number): number {
  let total = size
  for (;;) {
    REPETITION.lastIndex = scan.at
    const found = REPETITION.exec(scan.source)
    if (!found) return total
    scan.at += found[0].length
    const [text, least, comma, most] = found
    if (least === undefined) {
      total += 1
      continue
    }
    const copies = Math.max(Number(most || least), 1)
    // each optional copy needs a branch instruction, and so does the loop of an open repetition
    const branches = comma === undefined ? 0 : most ? Number(most) - Number(least) : 1
    total = copies * total + branches
    if (total > scan.largest) {
      scan.largest = total
      scan.largestRepetition = text
    }
  }
}

const REPETITION = /[*+?]|\{(\d+)(?:(,)(\d*))?\}\??/y
const ESCAPE = /\\Q[^]*?(?:\\E|$)|\\[pP]\{[^}]*\}|\\x\{[^}]*\}|\\[^]?/y
const CLASS = /\[\^?\]?(?:\\[^]|\[:\^?\w+:\]|[^\]\\])*\]?/y
const ANY = /[^]/y
