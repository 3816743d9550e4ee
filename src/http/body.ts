/** From the bytes of a request to JSON, within the limits. */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { ServiceError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { Limits } from '../base/limits.ts'
import { parseJson } from '../base/parse-json.ts'

/** Refuses what is no JSON by its headers, before a byte of it is read. */
export function checkBodyHeaders(request: IncomingMessage, limits: Limits): void {
  const { 'content-type': type, 'content-encoding': encoding, 'content-length': length } = request.headers
  if (type !== undefined && type !== 'application/json' && !JSON_TYPE.test(type)) {
    throw unsupported('send the body as application/json (with curl: --json instead of -d)')
  }
  if (encoding !== undefined && encoding !== 'identity') {
    throw unsupported('the body must not be compressed')
  }
  if (length !== undefined && Number(length) > limits.bodyBytes) throw tooLarge(limits)
}

/** Fails with a refusal as soon as there are too many bytes, and with `Aborted` when they stop coming. */
export function readBody(request: IncomingMessage, limits: Limits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined
    let chunks: Buffer[] | undefined
    let size = 0
    request.on('data', (chunk: Buffer) => {
      if (size > limits.bodyBytes) return
      size += chunk.length
      if (size > limits.bodyBytes) {
        chunks = undefined
        reject(tooLarge(limits))
      } else if (first === undefined) first = chunk
      else (chunks ??= [first]).push(chunk)
    })
    request.on('end', () => resolve(chunks ? Buffer.concat(chunks, size) : (first ?? EMPTY)))
    request.on('error', () => reject(new Aborted()))
  })
}

/** The caller went away before the request was complete; nobody is left to be answered. */
export class Aborted extends Error {}

export function parseBody(bytes: Uint8Array, limits: Limits): Json | undefined {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw new ServiceError('crud:InvalidRequest', 'the body is not valid UTF-8')
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw new ServiceError('crud:InvalidRequest', 'the body begins with a byte order mark; send it without')
  }
  return parseJson(textOf(bytes), limits.nesting)
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
}

const JSON_TYPE = /^\s*application\/json\s*(?:;.*)?$/i
const EMPTY = Buffer.alloc(0)

function unsupported(message: string): ServiceError {
  return new ServiceError('crud:UnsupportedMediaType', message)
}

function tooLarge({ bodyBytes }: Limits): ServiceError {
  return new ServiceError('crud:BodyTooLarge', `the body is larger than ${bodyBytes} bytes`)
}
