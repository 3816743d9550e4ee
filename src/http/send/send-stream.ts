/** Sends the lines of a stream as they are produced, no faster than the caller reads, until the caller disconnects. */
import type { Dialect } from '../../service/dialect.ts'
import type { WatchRights } from '../caller-watch.ts'
import { type Exchange, headersOf } from '../exchange.ts'
import { failureLine } from './failure.ts'
import { type Outlet, isOver, writePieces } from './backpressure.ts'
import { STREAM_TYPE } from '../routes/route.ts'

/** Lines are collected up to this size before they are written. */
const CHUNK = 32 * 1024

interface Sending {
  readonly lines: AsyncIterable<string>
  /** Whether to close the connection afterwards. */
  readonly isLast: boolean
  readonly watch: WatchRights
  readonly outlet: Outlet
  readonly dialect: Dialect
}

/** Returns the size of the body. A response that cannot be completed is cut off, which the caller can detect. */
export async function sendStream(exchange: Exchange, sending: Sending): Promise<number> {
  const { lines, isLast, watch, outlet, dialect } = sending
  const { response } = exchange
  const headers = headersOf(exchange, STREAM_TYPE)
  if (isLast) headers.push('Connection', 'close')
  response.writeHead(200, headers)
  // the caller gets the headers at once, however long the first line takes
  response.flushHeaders()
  let bytes = 0
  let isWriting = false
  let last: string | undefined
  const write = async (text: string): Promise<boolean> => {
    bytes += Buffer.byteLength(text)
    isWriting = true
    const isWritten = await writePieces(outlet, text)
    isWriting = false
    if (isWritten && last !== undefined) response.end(last)
    return isWritten && last === undefined
  }
  // Lines that were not written yet are dropped. The read is aborted too: it may be waiting for the store.
  const endWatch = watch((problem) => {
    if (isOver(response)) return
    last = `${failureLine(exchange, problem, dialect)}\n`
    bytes += Buffer.byteLength(last)
    // `write` completes the lines in progress first, and then ends with this
    if (!isWriting) response.end(last)
    exchange.withdraw(problem)
  })
  try {
    let chunk = ''
    for await (const line of lines) {
      // Leaving the loop closes the cursor behind it.
      if (isOver(response)) break
      chunk += `${line}\n`
      if (chunk.length < CHUNK) continue
      const text = chunk
      chunk = ''
      if (!(await write(text))) break
    }
    if (!isOver(response) && (chunk === '' || (await write(chunk)))) response.end()
  } finally {
    endWatch()
  }
  return bytes
}
