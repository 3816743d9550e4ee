/** Reads a file from its beginning to its end, in pieces of any length and in constant memory. */
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { SourceError } from '../source-error.ts'

const CHUNK_BYTES = 1024 * 1024

/** The bytes of a file, decompressed if it is gzip. `onRead` receives the number of bytes of the file read so far. */
export async function* bytesOf(path: string, onRead?: (bytes: number) => void): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES })
  const chunks = (await isGzip(path)) ? pipeline(file, createGunzip(), () => undefined) : file
  try {
    for await (const chunk of chunks) {
      onRead?.(file.bytesRead)
      yield chunk as Buffer
    }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    const isCompression = code.startsWith('Z_')
    throw isCompression
      ? new SourceError('broken', `${path} is damaged or incomplete: ${message}`, error)
      : new SourceError('failed', `${path} cannot be read: ${message}`, error)
  } finally {
    file.destroy()
  }
}

/** The first bytes of a file, decompressed if it is gzip. */
export async function firstBytes(path: string, count: number): Promise<Buffer> {
  for await (const chunk of bytesOf(path)) return chunk.subarray(0, count)
  return Buffer.alloc(0)
}

async function isGzip(path: string): Promise<boolean> {
  const file = await open(path).catch((error: unknown) => {
    throw new SourceError('failed', `${path} cannot be read: ${(error as Error).message}`, error)
  })
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0)
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b
  } finally {
    await file.close()
  }
}

export class ByteReader {
  readonly path: string
  readonly #chunks: AsyncIterator<Buffer>
  #buffer: Buffer = Buffer.alloc(0)
  #position = 0

  constructor(path: string, chunks: AsyncIterable<Buffer>) {
    this.path = path
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Whether there are so many bytes more; reads on if necessary. */
  async has(count: number): Promise<boolean> {
    if (this.#buffer.length >= count) return true
    const parts = [this.#buffer]
    let length = this.#buffer.length
    while (length < count) {
      const { value, done } = await this.#chunks.next()
      if (done) break
      parts.push(value)
      length += value.length
    }
    this.#buffer = Buffer.concat(parts)
    return length >= count
  }

  /** The next four bytes as a number, which `has` has made available. */
  peekInt32(): number {
    return this.#buffer.readInt32LE(0)
  }

  /** The next bytes, which `has` has made available. */
  take(count: number): Buffer {
    const taken = this.#buffer.subarray(0, count)
    this.#buffer = this.#buffer.subarray(count)
    this.#position += count
    return taken
  }

  /** Whether nothing is left after `has` has returned false. */
  get isAtEnd(): boolean {
    return this.#buffer.length === 0
  }

  broken(problem: string): SourceError {
    return new SourceError('broken', `${this.path} is damaged at byte ${this.#position}: ${problem}`)
  }
}
