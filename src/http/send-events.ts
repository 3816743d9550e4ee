/** Sends events as server-sent events: as they come, no faster than the caller reads, until one of both sides leaves. */
import { ServiceError } from '../base/errors.ts'
import type { FollowedEvents } from '../service/service.ts'
import type { WatchRights } from './caller-watch.ts'
import { type Exchange, headersOf } from './exchange.ts'
import { contextOf } from './failure.ts'
import { drained, isOver } from './room.ts'
import { EVENTS_TYPE, type EventsReply } from './route.ts'

export interface SendingEvents extends EventsReply {
  readonly watch: WatchRights
  /** The server is about to end. */
  readonly ending: AbortSignal
  readonly times?: { readonly heartbeatMs: number; readonly patienceMs: number }
}

/** Often enough that nobody on the way takes the connection for dead; and how long it may stay full. */
const TIMES = { heartbeatMs: 15_000, patienceMs: 30_000 }

/** Returns the number of bytes of the body. What fails before the first event is thrown, and can still be answered. */
export async function sendEvents(exchange: Exchange, sending: SendingEvents): Promise<number> {
  const { response, request } = exchange
  const { follow, watch, ending, times = TIMES } = sending
  const over = new AbortController()
  const end = (): void => over.abort()
  response.once('close', end)
  ending.addEventListener('abort', end)
  if (response.destroyed || ending.aborted) end()
  try {
    const followed = await follow(over.signal)
    const sender = begin(exchange, times)
    if (request.method === 'HEAD') end()
    const endWatch = watch((problem) => {
      sender.tell(problem)
      end()
    })
    try {
      await sender.send(followed)
    } finally {
      endWatch()
      sender.end()
    }
    return sender.bytes()
  } finally {
    ending.removeEventListener('abort', end)
  }
}

interface Sender {
  send(followed: AsyncIterable<FollowedEvents>): Promise<void>
  /** Says why there is no more; what was not written yet is never written. */
  tell(problem: ServiceError): void
  end(): void
  bytes(): number
}

function begin(exchange: Exchange, { heartbeatMs, patienceMs }: typeof TIMES): Sender {
  const { response } = exchange
  // it is never used for another request, and must not keep the server from ending
  response.writeHead(200, [
    ...headersOf(exchange, EVENTS_TYPE),
    'Connection',
    'close',
    'X-Accel-Buffering',
    'no',
  ])
  response.flushHeaders()
  let bytes = 0
  let position = 0
  let told = -1
  const write = (text: string): boolean => {
    if (isOver(response)) return true
    bytes += Buffer.byteLength(text)
    return response.write(text)
  }
  /** Whoever comes again goes on from there, and need not be shown again what was not for them. */
  const beat = (): void => {
    if (response.writableNeedDrain) return
    write(position > told ? `:\nid: ${position}\n\n` : ':\n\n')
    told = position
  }
  const heartbeat = setInterval(beat, heartbeatMs).unref()
  return {
    async send(followed) {
      try {
        for await (const { events, position: reached } of followed) {
          // leaving the loop ends what is behind it
          if (isOver(response)) return
          const isFirst = told < 0
          position = reached
          if (isFirst) beat()
          if (events.length === 0) continue
          told = events.at(-1)!.seq
          const text = events.map(({ seq, text }) => `id: ${seq}\ndata: ${text}\n\n`).join('')
          if (!write(text) && !(await drained(response, patienceMs))) response.destroy()
        }
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        this.tell(error)
      }
    },
    tell(problem) {
      write(`event: end\ndata: ${JSON.stringify(problem.within(contextOf(exchange)).toObject())}\n\n`)
      if (!isOver(response)) response.end()
    },
    end() {
      clearInterval(heartbeat)
      if (!isOver(response)) response.end()
    },
    bytes: () => bytes,
  }
}
