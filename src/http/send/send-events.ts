/** Sends events as server-sent events, no faster than the caller reads, until the caller or the server disconnects. */
import { ServiceError } from '../../base/errors.ts'
import type { FollowedEvents } from '../../service/service.ts'
import type { WatchRights } from '../caller-watch.ts'
import { type Exchange, headersOf } from '../exchange.ts'
import { contextOf } from './failure.ts'
import { type Outlet, isOver, writePieces } from './backpressure.ts'
import { EVENTS_TYPE, type EventsReply } from '../routes/route.ts'

export interface SendingEvents extends EventsReply {
  readonly watch: WatchRights
  /** Aborted when the server shuts down. */
  readonly ending: AbortSignal
  readonly outlet: Outlet
  readonly heartbeatMs?: number
}

/** Short enough that proxies do not close the connection as idle. */
const HEARTBEAT_MS = 15_000

/** Events are collected up to this size before they are written. */
const CHUNK = 32 * 1024

/** Returns the size of the body. Errors before the headers are sent are thrown, so that they get an error response. */
export async function sendEvents(exchange: Exchange, sending: SendingEvents): Promise<number> {
  const { response, request } = exchange
  const { follow, watch, ending } = sending
  const over = new AbortController()
  const end = (): void => over.abort()
  response.once('close', end)
  ending.addEventListener('abort', end)
  if (response.destroyed || ending.aborted) end()
  try {
    const followed = await follow(over.signal)
    const sender = begin(exchange, sending)
    if (request.method === 'HEAD') end()
    const endWatch = watch((problem) => {
      sender.sendError(problem)
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
  /** Ends the stream with an error event. Events that were not written yet are dropped. */
  sendError(problem: ServiceError): void
  end(): void
  bytes(): number
}

function begin(exchange: Exchange, { outlet, heartbeatMs = HEARTBEAT_MS }: SendingEvents): Sender {
  const { response } = exchange
  // the connection is never reused, and must not delay a shutdown
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
  let sentPosition = -1
  let isWriting = false
  let last: string | undefined
  const write = (text: string): void => {
    if (isOver(response)) return
    bytes += Buffer.byteLength(text)
    response.write(text)
  }
  const writeEvents = async (text: string): Promise<boolean> => {
    bytes += Buffer.byteLength(text)
    isWriting = true
    const isWritten = await writePieces(outlet, text)
    isWriting = false
    if (isWritten && last !== undefined) write(last)
    return isWritten && last === undefined
  }
  /** Heartbeats carry the position: a client that reconnects resumes there, and skips events not visible to it. */
  const beat = (): void => {
    if (response.writableNeedDrain || isWriting) return
    write(position > sentPosition ? `:\nid: ${position}\n\n` : ':\n\n')
    sentPosition = position
  }
  const sendBatch = async (events: FollowedEvents['events']): Promise<boolean> => {
    let chunk = ''
    for (const { seq, text } of events) {
      chunk += `id: ${seq}\ndata: ${text}\n\n`
      if (chunk.length < CHUNK) continue
      const ready = chunk
      chunk = ''
      if (!(await writeEvents(ready))) return false
    }
    return chunk === '' || (await writeEvents(chunk))
  }
  const heartbeat = setInterval(beat, heartbeatMs).unref()
  return {
    async send(followed) {
      try {
        for await (const { events, position: reached } of followed) {
          // leaving the loop ends the subscription
          if (isOver(response) || !(await sendBatch(events))) return
          if (events.length > 0) sentPosition = events.at(-1)!.seq
          position = reached
          if (sentPosition < 0) beat()
        }
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        this.sendError(error)
      }
    },
    sendError(problem) {
      last = `event: end\ndata: ${JSON.stringify(problem.within(contextOf(exchange)).toObject())}\n\n`
      // `writeEvents` completes the events in progress first, and then writes this
      if (isWriting) return
      write(last)
      if (!isOver(response)) response.end()
    },
    end() {
      clearInterval(heartbeat)
      if (!isOver(response)) response.end()
    },
    bytes: () => bytes,
  }
}
