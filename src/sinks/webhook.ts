/** Sends events to a URL: signed, only to checked addresses, and within a time limit. */
import { type LookupAddress, type LookupAllOptions, lookup as lookUp } from 'node:dns'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { LookupFunction } from 'node:net'
import { httpModule } from '../base/http-module.ts'
import { isPrivateAddress } from './addresses.ts'
import { MAX_CONCURRENT_SENDS } from './delivery/delivery-state.ts'
import { hostOf } from './host.ts'
import { secretKey, sign } from './signature.ts'
import type { SinkCommon } from './sink-kind.ts'
import type { Answer, Message, Transport } from './transport.ts'

export interface WebhookDefinition extends SinkCommon {
  readonly kind: 'webhook'
  readonly secret: string
}

export interface WebhookOptions {
  readonly allowPrivateAddresses: boolean
  /** Limit from the DNS lookup to the response. */
  readonly timeLimitMs?: number
  /** Resolves all addresses of a name; tests replace it. */
  readonly resolve?: Resolve
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

export type Resolve = (name: string, options: LookupAllOptions, callback: Resolved) => void
type Resolved = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void

const TIME_LIMIT_MS = 10_000
/** Maximum size of a response body that is read; the connection of a longer one is closed. */
const ANSWER_BYTES = 65_536
/** Time limit for the response body, once the status has arrived. */
const ANSWER_MS = 1_000

export function openWebhook(definition: WebhookDefinition, options: WebhookOptions): Transport {
  const { allowPrivateAddresses, resolve = lookUp, timeLimitMs = TIME_LIMIT_MS, now = Date.now } = options
  const url = new URL(definition.url)
  const key = secretKey(definition.secret)
  if (!key) throw new Error(`the secret of the sink ${definition.name} is not valid`)
  const client = httpModule(url.protocol)
  const agent = new client.Agent({ keepAlive: true, maxSockets: MAX_CONCURRENT_SENDS, timeout: 60_000 })
  const lookup = resolving(sharing(resolve), allowPrivateAddresses ? () => false : isPrivateAddress)
  const { address } = hostOf(url)
  const isRefused = address !== undefined && !allowPrivateAddresses && isPrivateAddress(address)

  const attempt = ({ id, body }: Message, signal: AbortSignal): Promise<Outcome> => {
    const timestamp = Math.floor(now() / 1_000)
    const headers = {
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'Smalt',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': sign(key, { id, timestamp, body }),
    }
    return exchange(client.request(url, { method: 'POST', agent, lookup, headers, signal }), body)
  }

  return {
    async send(message, signal) {
      if (isRefused) return REFUSED
      const limited = AbortSignal.any([signal, AbortSignal.timeout(timeLimitMs)])
      const first = await attempt(message, limited)
      // The receiver closed an idle keep-alive connection. That is not a failure, so the request is sent again
      // once.
      const outcome = first.isStale && !limited.aborted ? await attempt(message, limited) : first
      signal.throwIfAborted()
      return outcome.answer
    },
    async [Symbol.asyncDispose]() {
      agent.destroy()
    },
  }
}

class RefusedAddressError extends Error {}

const REFUSED: Answer = { kind: 'failed', reason: 'the address is private, loopback or link-local' }

/** Shares one lookup among concurrent sends: lookups block threads of a pool that the whole process uses. */
function sharing(resolve: Resolve): Resolve {
  const waiting: Resolved[] = []
  return (name, options, callback) => {
    waiting.push(callback)
    if (waiting.length > 1) return
    resolve(name, options, (error, addresses) => {
      for (const each of waiting.splice(0)) each(error, addresses)
    })
  }
}

/**
 * Checks every address and returns exactly the checked ones, so that DNS rebinding cannot lead to another
 * address.
 */
function resolving(resolve: Resolve, isRefused: (address: string) => boolean): LookupFunction {
  return (name, { family, hints, all }, callback) => {
    const options = {
      all: true,
      ...(family !== undefined && { family }),
      ...(hints !== undefined && { hints }),
    } as const
    resolve(name, options, (error, addresses) => {
      if (error) return callback(error, [])
      if (addresses.length === 0 || addresses.some((each) => isRefused(each.address))) {
        return callback(new RefusedAddressError(), [])
      }
      // Node.js wants either all addresses, to try them in order, or a single one.
      return all ? callback(null, addresses) : callback(null, addresses[0]!.address, addresses[0]!.family)
    })
  }
}

interface Outcome {
  readonly answer: Answer
  readonly isStale: boolean
}

function exchange(request: ClientRequest, body: string): Promise<Outcome> {
  return new Promise((resolve) => {
    let hasResponse = false
    const end = (answer: Answer, isStale = false): void => resolve({ answer, isStale })
    request.on('response', (response) => {
      hasResponse = true
      void drainResponse(response).then(() => end(answerFor(response.statusCode ?? 0)))
    })
    request.on('upgrade', (_response, socket) => {
      socket.destroy()
      end(answerFor(101))
    })
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (!hasResponse) end(failed(error), request.reusedSocket && error.code === 'ECONNRESET')
    })
    request.on('close', () => {
      if (!hasResponse) end({ kind: 'failed', reason: 'closed without an answer' })
    })
    request.end(body)
  })
}

/**
 * Reads the body to its end, so that the connection can be reused; closes the connection when the body is
 * long or slow.
 */
function drainResponse(response: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0
    const timer = setTimeout(() => response.destroy(), ANSWER_MS)
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > ANSWER_BYTES) response.destroy()
    })
    response.on('error', () => undefined)
    response.on('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

function answerFor(status: number): Answer {
  if (status >= 200 && status < 300) return { kind: 'delivered' }
  if (status === 410) return { kind: 'gone', reason: 'status 410' }
  return { kind: 'failed', reason: `status ${status}` }
}

/** Describes the error by its code only, because the message of an error may contain anything. */
function failed(error: NodeJS.ErrnoException): Answer {
  if (error instanceof RefusedAddressError) return REFUSED
  if (error.name === 'AbortError' || error.name === 'TimeoutError')
    return { kind: 'failed', reason: 'timed out' }
  return { kind: 'failed', reason: error.code ?? 'the connection failed' }
}
