/** Requests to a running Lightblue: JSON in, JSON out. Redirects are not followed, because they could carry credentials away. */
import type { IncomingMessage } from 'node:http'
import { httpModule } from '../../base/http-module.ts'
import type { Json } from '../../base/json/json.ts'
import { parseJson } from '../../base/json/parse-json.ts'
import { SourceError } from '../source-error.ts'

/** Sends one request; the path is relative to the base address. */
export type RestClient = (method: 'GET' | 'POST', path: string, body?: Json) => Promise<Json>

export interface TlsIdentity {
  readonly cert?: Buffer
  readonly key?: Buffer
  readonly ca?: Buffer
}

const IDLE_MS = 120_000
const MAX_BYTES = 256 * 1024 * 1024
/** Far deeper than any document that Lightblue stores. */
const MAX_DEPTH = 200

interface RestIdentity {
  readonly tls: TlsIdentity
  /** The header of that name; user and password in the address, which are sent as HTTP Basic, take precedence. */
  readonly authorization: string | undefined
}

export function createRestClient(address: string, { tls, authorization: given }: RestIdentity): RestClient {
  const url = new URL(address)
  const { username, password } = url
  const pair = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)
  const authorization = username === '' ? given : `Basic ${pair.toString('base64')}`
  const base = `${url.origin}${url.pathname.replace(/\/+$/, '')}`
  const headers = { accept: 'application/json', ...(authorization !== undefined && { authorization }) }
  return async (method, path, body) => {
    const target = `${base}${path}`
    const sent = body === undefined ? undefined : JSON.stringify(body)
    const { status, text } = await exchange(target, { method, headers, tls, sent })
    if (status === 401 || status === 403) {
      throw new SourceError(
        'denied',
        `${target} refuses access (status ${status}); check user, password and certificate`,
      )
    }
    return parsed(text, target, status)
  }
}

/** The address without its password, for messages and the state of an import. */
export function maskAddress(address: string): string {
  const url = new URL(address)
  url.password = ''
  url.username = ''
  return url.href
}

interface Exchange {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly tls: TlsIdentity
  readonly sent: string | undefined
}

async function exchange(
  target: string,
  { method, headers, tls, sent }: Exchange,
): Promise<{ readonly status: number; readonly text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const type = sent === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }
  const options = { method, headers: { ...headers, ...type }, timeout: IDLE_MS }
  const isSecure = target.startsWith('https:')
  const request = isSecure
    ? httpModule('https:').request(target, { ...options, ...tls }, resolve)
    : httpModule('http:').request(target, options, resolve)
  request.on('error', reject)
  request.on('timeout', () => request.destroy(new Error(`no answer within ${IDLE_MS / 1000} s`)))
  request.end(sent)
  try {
    const response = await promise
    return { status: response.statusCode ?? 0, text: await textOf(response) }
  } catch (error) {
    if (error instanceof SourceError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    throw new SourceError(
      'unreachable',
      `${target} does not answer: ${message === '' ? code : message}`,
      error,
    )
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response) {
    chunks.push(chunk as Buffer)
    length += (chunk as Buffer).length
    if (length > MAX_BYTES) throw new SourceError('failed', `a response is larger than ${MAX_BYTES} bytes`)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parsed(text: string, target: string, status: number): Json {
  try {
    return parseJson(text, MAX_DEPTH)
  } catch (error) {
    throw new SourceError('failed', `${target} does not answer with JSON (status ${status})`, error)
  }
}
