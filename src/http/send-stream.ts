/** Sends lines as they come into being: no faster than the caller reads, and no longer than the caller stays. */
import { once } from 'node:events'
import { type Exchange, headersOf } from './exchange.ts'
import { STREAM_TYPE } from './route.ts'

/** Lines are gathered up to this size before they are written. */
const CHUNK = 32 * 1024

/** Returns the number of bytes of the body; an answer that cannot be finished is cut off, which the caller notices. */
export async function sendStream(
  { response, id }: Exchange,
  lines: AsyncIterable<string>,
  isLast: boolean,
): Promise<number> {
  const headers = headersOf(id, STREAM_TYPE)
  if (isLast) headers.push('Connection', 'close')
  response.writeHead(200, headers)
  let bytes = 0
  let chunk = ''
  const flush = async (): Promise<void> => {
    bytes += Buffer.byteLength(chunk)
    const hasRoom = response.write(chunk)
    chunk = ''
    if (!hasRoom && !response.destroyed)
      await Promise.race([once(response, 'drain'), once(response, 'close')])
  }
  for await (const line of lines) {
    // Leaving the loop closes the cursor behind it.
    if (response.destroyed) break
    chunk += `${line}\n`
    if (chunk.length >= CHUNK) await flush()
  }
  if (chunk !== '' && !response.destroyed) await flush()
  response.end()
  return bytes
}
