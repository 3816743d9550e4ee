/** Reads the files of mongoexport: one JSON object per line, objects over several lines, or one array of objects. */
import { SourceError } from '../source-error.ts'

/** The text of each object. Throws a SourceError at anything else, and if the file ends too early. */
export async function* exportedTexts(path: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const scan = new Scan(path)
  for await (const chunk of chunks) yield* scan.add(chunk)
  scan.finish()
}

const [TAB, LINE_FEED, RETURN, SPACE, QUOTE, COMMA] = [0x09, 0x0a, 0x0d, 0x20, 0x22, 0x2c]
const [OPEN_BRACKET, BACKSLASH, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5c, 0x5d, 0x7b, 0x7d]
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/** Far more than a document of MongoDB needs: 16 MiB of BSON. */
const LARGEST = 128 * 1024 * 1024

class Scan {
  readonly #path: string
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  /** The earlier chunks of the object that is being read. */
  #parts: Buffer[] = []
  #length = 0
  #depth = 0
  #isInText = false
  #isEscaped = false
  #array: 'none' | 'open' | 'closed' = 'none'
  #objects = 0
  #position = 0

  constructor(path: string) {
    this.#path = path
  }

  *add(chunk: Buffer): Generator<string> {
    let start = 0
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]!
      if (this.#isInText) this.#readText(byte)
      else if (this.#depth === 0) {
        if (byte === OPEN_BRACE) {
          start = i
          this.#open()
        } else this.#readBetween(byte, this.#position + i)
      } else if (byte === QUOTE) this.#isInText = true
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth++
      else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --this.#depth === 0)
        yield this.#textUpTo(chunk.subarray(start, i + 1))
    }
    this.#position += chunk.length
    if (this.#depth > 0) this.#keep(chunk.subarray(start))
  }

  finish(): void {
    if (this.#depth > 0) throw this.#broken('the file ends inside of a document')
    if (this.#array === 'open') throw this.#broken('the file ends inside of the array of documents')
  }

  #open(): void {
    if (this.#array === 'closed') throw this.#broken('a document follows the end of the array')
    this.#depth = 1
    this.#objects++
  }

  #readText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === BACKSLASH) this.#isEscaped = true
    else if (byte === QUOTE) this.#isInText = false
  }

  #readBetween(byte: number, position: number): void {
    if (byte === SPACE || byte === LINE_FEED || byte === RETURN || byte === TAB) return
    if (byte === BYTE_ORDER_MARK[position]) return
    if (byte === COMMA && this.#array === 'open' && this.#objects > 0) return
    if (byte === OPEN_BRACKET && this.#array === 'none' && this.#objects === 0) this.#array = 'open'
    else if (byte === CLOSE_BRACKET && this.#array === 'open') this.#array = 'closed'
    else throw this.#broken(`byte ${position} is not the beginning of a document`)
  }

  #keep(part: Buffer): void {
    this.#parts.push(part)
    this.#length += part.length
    if (this.#length > LARGEST) throw this.#broken(`a document is larger than ${LARGEST} bytes`)
  }

  #textUpTo(last: Buffer): string {
    const bytes = this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last])
    this.#parts = []
    this.#length = 0
    try {
      return this.#decoder.decode(bytes)
    } catch {
      throw this.#broken('a document is not UTF-8')
    }
  }

  #broken(problem: string): SourceError {
    return new SourceError('broken', `${this.#path} is damaged at document ${this.#objects}: ${problem}`)
  }
}
