/** Forwards the output of another process in whole lines, so that lines of several processes do not mix. */
import type { Readable, Writable } from 'node:stream'

export function forwardLines(from: Readable, to: Writable): void {
  let begun: Buffer[] = []
  from.on('data', (chunk: Buffer) => {
    const end = chunk.lastIndexOf('\n') + 1
    if (end === 0) {
      begun.push(chunk)
      return
    }
    to.write(Buffer.concat([...begun, chunk.subarray(0, end)]))
    begun = end < chunk.length ? [chunk.subarray(end)] : []
  })
  // the incomplete last line of a crashed process is forwarded too, since it may explain the crash
  from.on('end', () => {
    if (begun.length > 0) to.write(Buffer.concat([...begun, Buffer.from('\n')]))
  })
}
