/** Reads a file that is one JSON array of documents, or a single document, element by element. */
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../base/json/json-text.ts'
import { type Chunks, type RecordLimits, RecordsError, type SourceRecord } from './record.ts'
import { recordFrom } from './ndjson.ts'

const LINE_FEED = 0x0a

interface Scanner {
  line: number
  /** 0 outside of everything, 1 inside the array, more inside a document. */
  depth: number
  isText: boolean
  isEscaped: boolean
  /** Whether the file is an array; undefined before its first character. */
  isArray: boolean | undefined
  isEnded: boolean
  /** Whether a comma must come before the next document. */
  needsComma: boolean
}

export async function* readJsonArray(chunks: Chunks, limits: RecordLimits): AsyncGenerator<SourceRecord> {
  const at: Scanner = {
    line: 1,
    depth: 0,
    isText: false,
    isEscaped: false,
    isArray: undefined,
    isEnded: false,
    needsComma: false,
  }
  let parts: Buffer[] = []
  let size = 0
  let begunOn = 1
  let isFirst = true
  for await (const chunk of chunks) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    let begin = size > 0 ? 0 : -1
    let i = isFirst && buffer[0] === 0xef ? 3 : 0
    isFirst = false
    for (; i < buffer.length; i++) {
      const unit = buffer[i]!
      const isOutside = isBetween(at)
      step(at, unit)
      if (isOutside && !isBetween(at)) {
        begin = i
        begunOn = at.line
      } else if (!isOutside && isBetween(at)) {
        parts.push(buffer.subarray(begin, i + 1))
        size += i + 1 - begin
        if (size > limits.maxBytes) throw tooLarge(begunOn, limits)
        const record = recordFrom(Buffer.concat(parts), begunOn, limits)
        if (record) yield record
        parts = []
        size = 0
        begin = -1
      }
    }
    if (begin < 0) continue
    const rest = Buffer.from(buffer.subarray(begin))
    size += rest.length
    if (size > limits.maxBytes) throw tooLarge(begunOn, limits)
    parts.push(rest)
  }
  if (at.isArray !== undefined && !at.isEnded)
    throw new RecordsError(at.line, 'the JSON ends before it is complete')
}

function tooLarge(line: number, { maxBytes }: RecordLimits): RecordsError {
  return new RecordsError(line, `the document is larger than ${maxBytes} bytes`)
}

/** Whether the scanner is not inside of a document. */
function isBetween({ depth, isArray, isText }: Scanner): boolean {
  return !isText && depth <= (isArray === true ? 1 : 0)
}

function step(at: Scanner, unit: number): void {
  if (unit === LINE_FEED) at.line++
  if (at.isText) {
    if (at.isEscaped) at.isEscaped = false
    else if (unit === BACKSLASH) at.isEscaped = true
    else if (unit === QUOTE) at.isText = false
    return
  }
  if (isBetween(at)) return stepBetween(at, unit)
  if (unit === QUOTE) at.isText = true
  else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) at.depth++
  else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) {
    at.depth--
    if (at.isArray === false && at.depth === 0) at.isEnded = true
  }
}

/** Between documents only white space, commas and the brackets of the array may stand. */
function stepBetween(at: Scanner, unit: number): void {
  if (unit === LINE_FEED || unit === 0x20 || unit === 0x0d || unit === 0x09) return
  if (!at.isEnded && at.isArray === undefined && unit === OPEN_BRACKET) {
    at.isArray = true
    at.depth = 1
  } else if (!at.isEnded && unit === OPEN_BRACE && !at.needsComma) {
    at.isArray ??= false
    at.depth++
    at.needsComma = at.isArray
  } else if (at.isArray === true && !at.isEnded && unit === COMMA && at.needsComma) at.needsComma = false
  else if (at.isArray === true && !at.isEnded && unit === CLOSE_BRACKET) {
    at.isEnded = true
    at.depth = 0
  } else throw new RecordsError(at.line, 'a JSON file must be an array of documents, or one document')
}
