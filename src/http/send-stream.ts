/** Sends lines as they come into being: no faster than the caller reads, and no longer than the caller stays. */
import type { WatchCaller } from './caller-watch.ts'
import { type Exchange, headersOf } from './exchange.ts'
import { drained, isOver } from './room.ts'
import { STREAM_TYPE } from './route.ts'

/** Lines are gathered up to this size before they are written. */
const CHUNK = 32 * 1024

/** Whoever takes nothing for so long does not keep others from the cursor any more. */
const PATIENCE_MS = 60_000

interface Sending {
  readonly lines: AsyncIterable<string>
  /** Whether the connection closes afterwards. */
  readonly isLast: boolean
  readonly watch: WatchCaller
}

/** Returns the number of bytes of the body; an answer that cannot be finished is cut off, which the caller notices. */
export async function sendStream(exchange: Exchange, { lines, isLast, watch }: Sending): Promise<number> {
  const { response } = exchange
  const headers = headersOf(exchange, STREAM_TYPE)
  if (isLast) headers.push('Connection', 'close')
  response.writeHead(200, headers)
  // the caller learns at once that there will be an answer, however long its first lines take
  response.flushHeaders()
  let bytes = 0
  let chunk = ''
  const write = (): boolean => {
    bytes += Buffer.byteLength(chunk)
    const hasRoom = response.write(chunk)
    chunk = ''
    return hasRoom
  }
  // What was not written yet is never written; the end of the answer ends the work behind it.
  const endWatch = watch((line) => {
    if (isOver(response)) return
    chunk = `${line}\n`
    write()
    response.end()
  })
  try {
    for await (const line of lines) {
      // Leaving the loop closes the cursor behind it.
      if (isOver(response)) break
      chunk += `${line}\n`
      if (chunk.length < CHUNK || write() || isOver(response)) continue
      if (!(await drained(response, PATIENCE_MS))) response.destroy()
    }
  } finally {
    endWatch()
  }
  if (isOver(response)) return bytes
  if (chunk !== '') write()
  response.end()
  return bytes
}
