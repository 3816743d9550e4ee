/** Reads and parses the JSON body of a request, within limits of size and time. */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { ServiceError } from '../base/errors.ts'
import type { Json } from '../base/json/json.ts'
import type { Limits } from '../base/limits.ts'
import { parseJson } from '../base/json/parse-json.ts'
import { timerMs } from '../base/work/timer.ts'
import type { Holding } from './share.ts'

/** Rejects a body by its headers, before a byte of it is read: wrong type, compressed, or too large. */
export function checkBodyHeaders(request: IncomingMessage, limits: Limits): void {
  const { 'content-type': type, 'content-length': length } = request.headers
  if (hasBody(request)) requireJsonAcrossOrigins(request)
  if (type !== undefined && !isJson(type) && !(request.method === 'PATCH' && isMergePatch(type))) {
    if (request.method === 'PATCH' && JSON_PATCH.test(type))
      throw unsupported(
        'JSON Patch is not supported; send a JSON Merge Patch as application/merge-patch+json',
      )
    throw unsupported('send the body as application/json (with curl: --json instead of -d)')
  }
  checkEncoding(request)
  if (length !== undefined && Number(length) > limits.bodyBytes) throw tooLarge(limits)
}

/** Rejects a body that does not consist of its own bytes in UTF-8, whatever its type. */
export function checkEncoding({ headers }: IncomingMessage): void {
  const { 'content-type': type, 'content-encoding': content, 'transfer-encoding': transfer } = headers
  if (type !== undefined && !isUtf8Type(type)) {
    throw unsupported(`send the body in UTF-8: Content-Type: ${type.split(';')[0]!.trim()}; charset=utf-8`)
  }
  // Node.js removes the chunks, but decodes no compression beneath them
  const isPlain = isCoding(content, 'identity') && isCoding(transfer, 'chunked')
  if (!isPlain) throw unsupported('the body must not be compressed')
}

function isCoding(given: string | undefined, expected: string): boolean {
  return given === undefined || given.toLowerCase() === expected
}

/** Prevents CSRF: a browser sends other content types without a preflight, from any page open on this machine. */
export function requireJsonAcrossOrigins({
  headers: { origin, 'content-type': type },
}: IncomingMessage): void {
  if (origin !== undefined && (type === undefined || !(isJson(type) || isMergePatch(type))))
    throw unsupported('a request from a web page needs the header Content-Type: application/json')
}

/** The same for files: a browser sends their types with a preflight, too. */
export function requireFileAcrossOrigins({
  headers: { origin, 'content-type': type },
}: IncomingMessage): void {
  if (origin !== undefined && (type === undefined || !FILE_TYPE.test(type)))
    throw unsupported(
      'a request from a web page needs the header Content-Type: text/csv or application/x-ndjson here',
    )
}

/** Rejects with a `ServiceError` when the body is too large or too slow, and with `Aborted` when the caller left. */
export function readBody(request: IncomingMessage, limits: Limits, held: Holding): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined
    let chunks: Buffer[] | undefined
    let size = 0
    let isGivenUp = false
    const giveUp = (problem: unknown): void => {
      isGivenUp = true
      first = chunks = undefined
      clearInterval(timer)
      reject(problem)
    }
    // a small body occupies too little memory for its own timer; `requestTimeout` of the server covers it
    const isSmall = Number(request.headers['content-length'] ?? Infinity) <= UNCOUNTED
    const timer = isSmall ? undefined : expectBytes(limits.uploadStallMs, () => size, giveUp)
    request.on('data', (chunk: Buffer) => {
      if (isGivenUp) return
      const before = size
      size += chunk.length
      if (size > limits.bodyBytes) {
        giveUp(tooLarge(limits))
        return
      }
      try {
        if (size > UNCOUNTED) held.take(before > UNCOUNTED ? chunk.length : size, TOO_MANY_BODIES)
      } catch (problem) {
        giveUp(problem)
        return
      }
      if (first === undefined) first = chunk
      else (chunks ??= [first]).push(chunk)
    })
    request.on('end', () => {
      clearInterval(timer)
      if (!isGivenUp) resolve(chunks ? Buffer.concat(chunks, size) : (first ?? EMPTY))
    })
    request.on('error', () => giveUp(new Aborted()))
  })
}

/** Aborts an upload that brings fewer than `MIN_BYTES` in a period. */
function expectBytes(periodMs: number, size: () => number, giveUp: (problem: unknown) => void) {
  let before = 0
  return setInterval(() => {
    const now = size()
    if (now - before < MIN_BYTES) giveUp(tooSlow(periodMs))
    before = now
  }, timerMs(periodMs)).unref()
}

/** The caller disconnected before the request was complete, so there is nowhere to send a response. */
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
/** Bodies up to this size are not counted in the share of uploads. */
const UNCOUNTED = 16 * 1024
/** Bytes that must arrive in each period of `uploadStallMs`. */
export const MIN_BYTES = 16 * 1024
export const TOO_MANY_BODIES = 'too many large request bodies are under way'

function isJson(type: string): boolean {
  return type === 'application/json' || JSON_TYPE.test(type)
}

const MERGE_PATCH = /^\s*application\/merge-patch\+json\s*(?:;.*)?$/i

const JSON_PATCH = /^\s*application\/json-patch\+json\s*(?:;.*)?$/i

function isMergePatch(type: string): boolean {
  return MERGE_PATCH.test(type)
}

const FILE_TYPE = /^\s*(?:text\/csv|application\/x-ndjson)\s*(?:;.*)?$/i

/** ASCII is a part of UTF-8. */
function isUtf8Type(type: string): boolean {
  if (type === 'application/json') return true
  const charsets = [...type.matchAll(/;\s*charset\s*=\s*"?([^";\s]*)/gi)].map(([, name]) =>
    name!.toLowerCase(),
  )
  return charsets.every((name) => UTF8_CHARSETS.has(name))
}

const UTF8_CHARSETS: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii'])

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

export function unsupported(message: string): ServiceError {
  return new ServiceError('crud:UnsupportedMediaType', message)
}

export function tooSlow(periodMs: number): ServiceError {
  return new ServiceError(
    'crud:RequestTimeout',
    `the body came too slowly: send at least ${MIN_BYTES} bytes every ${periodMs} ms, or all of it`,
  )
}

function tooLarge({ bodyBytes }: Limits): ServiceError {
  return new ServiceError('crud:BodyTooLarge', `the body is larger than ${bodyBytes} bytes`)
}
