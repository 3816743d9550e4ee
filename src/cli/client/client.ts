/** Sends requests to a service. A failure becomes the exit of the command, with the message of the service. */
import type { Json } from '../../base/json/json.ts'
import { parseJson } from '../../base/json/parse-json.ts'
import type { Environment } from '../config/settings.ts'
import { EXIT, Exit } from '../exit.ts'
import { type ConnectionFlags, connectionFrom } from './connection.ts'
import { RefusedRequest, failureOf } from './failure.ts'

export interface Client {
  readonly base: string
  /** The response document. Fails if the status is not 200. */
  readonly ask: (method: string, path: string, sending?: Sending) => Promise<Json>
  /** The response as it arrives, for streams. Fails if the status is not 200. */
  readonly open: (method: string, path: string, sending?: Sending) => Promise<Response>
}

export interface Sending {
  readonly body?: Json
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Whether the response may take any time, as a stream of events does. */
  readonly isEndless?: boolean
}

/** Responses nest deeper than requests: a document stands inside of an envelope. */
const MAX_DEPTH = 200
/** Longer than the service works on one request. */
const WAIT_MS = 120_000

export function createClient(flags: ConnectionFlags, environment: Environment): Client {
  const { base, headers } = connectionFrom(flags, environment)

  async function open(method: string, path: string, sending: Sending = {}): Promise<Response> {
    const { body, signal, isEndless = false } = sending
    const limits = [...(signal ? [signal] : []), ...(isEndless ? [] : [AbortSignal.timeout(WAIT_MS)])]
    const request = {
      method,
      redirect: 'error',
      headers: {
        ...headers,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...sending.headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(limits.length > 0 && { signal: AbortSignal.any(limits) }),
    } as const
    const response = await fetch(`${base}${path}`, request).catch((error: unknown) => {
      throw unreachable(base, error)
    })
    if (response.status === 200) return response
    const failure = failureOf(base, response.status, documentIn(base, await textOf(base, response)))
    // the service asks for a header; here a variable or an option makes it
    if (response.status === 401 && !Object.hasOwn(headers, 'authorization'))
      throw new RefusedRequest(401, `${failure.message}; set SMALT_TOKEN, or --token`, failure.errorCode)
    throw failure
  }

  return {
    base,
    open,
    ask: async (method, path, sending) =>
      documentIn(base, await textOf(base, await open(method, path, sending))),
  }
}

async function textOf(base: string, response: Response): Promise<string> {
  return await response.text().catch((error: unknown) => {
    throw unreachable(base, error)
  })
}

export function unreachable(base: string, error: unknown): Exit {
  const { cause, message } = error as Error
  const { code, message: reason = message } = (cause ?? {}) as Partial<NodeJS.ErrnoException>
  return new Exit(
    EXIT.unreachable,
    `no service answers at ${base}: ${code ?? reason}${adviceFor(base, code)}`,
  )
}

function adviceFor(base: string, code = ''): string {
  if (code === 'ECONNREFUSED') return '; start it with smalt, or name another address with --url'
  const isNoTls = code.startsWith('ERR_SSL_') || code === 'EPROTO'
  return isNoTls && base.startsWith('https:') ? '; the service may speak http' : ''
}

function documentIn(base: string, text: string): Json {
  try {
    const value = parseJson(text, MAX_DEPTH)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // reported below, without the text, which may be anything
  }
  throw new Exit(EXIT.failed, `what answers at ${base} is no Smalt service`)
}
