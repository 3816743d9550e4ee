/** Sends lines as they come into being: no faster than the caller reads, and no longer than the caller stays. */
import type { WatchRights } from '../caller-watch.ts'
import { type Exchange, headersOf } from '../exchange.ts'
import { failureLine } from './failure.ts'
import { type Outlet, isOver, writePieces } from './backpressure.ts'
import { STREAM_TYPE } from '../routes/route.ts'

/** Lines are gathered up to this size before they are written. */
const CHUNK = 32 * 1024

interface Sending {
  readonly lines: AsyncIterable<string>
  /** Whether the connection closes afterwards. */
  readonly isLast: boolean
  readonly watch: WatchRights
  readonly outlet: Outlet
}

/** Returns the number of bytes of the body; an answer that cannot be finished is cut off, which the caller notices. */
export async function sendStream(exchange: Exchange, sending: Sending): Promise<number> {
  const { lines, isLast, watch, outlet } = sending
  const { response } = exchange
  const headers = headersOf(exchange, STREAM_TYPE)
  if (isLast) headers.push('Connection', 'close')
  response.writeHead(200, headers)
  // the caller learns at once that there will be an answer, however long its first lines take
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
  // What was not written yet is never written. The work behind it ends too: it may wait for something else.
  const endWatch = watch((problem) => {
    if (isOver(response)) return
    last = `${failureLine(exchange, problem)}\n`
    bytes += Buffer.byteLength(last)
    // the lines that are being written are finished first
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
