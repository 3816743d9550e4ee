/**
 * How large a regular expression becomes when it is compiled, estimated from its text: a counted repetition such as
 * `{1000}` is compiled into that many copies, so a short pattern can become a very large program. Compiling it to find
 * out would already cost what the limit is there to prevent.
 */

export interface PatternSize {
  /** Never less than the number of instructions. */
  readonly instructions: number
  /** The counted repetition that makes most of them, as it is written; undefined when there is none. */
  readonly largestRepetition?: string
}

/** Of malformed text the result means nothing; compiling it says what is wrong. */
export function patternSize(source: string): PatternSize {
  const scan: Scan = { source, at: 0, largest: 0, largestRepetition: undefined }
  let instructions = 2
  while (scan.at < source.length) {
    instructions += alternatives(scan, 0)
    // a closing bracket that nothing opened
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

/** Far deeper than any pattern that people write; what is deeper counts as too large. */
const MAX_DEPTH = 200

/** Up to a closing bracket or the end. */
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
  // a letter regardless of case, or a range of Unicode, is still one instruction; quoted text is one for each letter
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
    // each copy that may be absent takes a branch, and so does the loop of an open repetition
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
