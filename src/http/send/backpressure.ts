/** Backpressure: writes in pieces no faster than the caller reads, counts unsent bytes, and disconnects stalled callers. */
import type { ServerResponse } from 'node:http'
import { timerMs } from '../../base/work/timer.ts'
import { createTimeSlices } from '../../base/work/time-slices.ts'
import type { Share } from '../share.ts'

/** The connection to one caller, with its limits. */
export interface Outlet {
  readonly response: ServerResponse
  /** A piece that the caller has not read after this time ends the connection. */
  readonly stallMs: number
  /** Counts the bytes that wait to be read by this caller. */
  readonly unsent?: { readonly share: Share; readonly caller: string }
}

/** Small enough to be encoded without a pause. About one piece is buffered for a caller that does not read. */
const PIECE = 128 * 1024

/**
 * All responses of the process take turns, as they share its main thread: a caller that reads fast takes piece after piece
 * without a wait, and several such callers would take a turn of the event loop together.
 */
const SLICE_MS = 2
const nextSlice = createTimeSlices(SLICE_MS)

export function isOver({ destroyed, writableEnded }: ServerResponse): boolean {
  return destroyed || writableEnded
}

/**
 * Writes the content, and waits after each piece. False when the caller disconnected, or was disconnected for stalling.
 * Text that is known to be pure ASCII may be written as `latin1`, which needs no encoding.
 */
export async function writePieces(
  outlet: Outlet,
  content: string | Uint8Array,
  encoding: 'latin1' | 'utf8' = 'utf8',
): Promise<boolean> {
  const { response } = outlet
  for (let start = 0; start < content.length;) {
    if (isOver(response)) return false
    const end = endOfPiece(content, start)
    const piece = typeof content === 'string' ? content.slice(start, end) : content.subarray(start, end)
    if (!response.write(piece, encoding) && !(await isTaken(outlet, end - start))) return false
    // also after the last one: a response may come as many short texts
    await nextSlice()
    start = end
  }
  return !isOver(response)
}

/** Resolves to true when the buffer drained or the connection closed, and to false after `stallMs`. */
export function drained(response: ServerResponse, stallMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (isDrained: boolean): void => {
      clearTimeout(timer)
      response.off('drain', onRoom).off('close', onRoom)
      resolve(isDrained)
    }
    const onRoom = (): void => done(true)
    const timer = setTimeout(() => done(false), timerMs(stallMs))
    response.on('drain', onRoom).on('close', onRoom)
  })
}

/** Never splits a surrogate pair. */
function endOfPiece(content: string | Uint8Array, start: number): number {
  const end = start + PIECE
  if (end >= content.length) return content.length
  if (typeof content !== 'string') return end
  const isSplit = (content.charCodeAt(end - 1) & 0xfc00) === 0xd800
  return isSplit ? end + 1 : end
}

async function isTaken({ response, stallMs, unsent }: Outlet, size: number): Promise<boolean> {
  unsent?.share.add(unsent.caller, size)
  const hasRoom = await drained(response, stallMs)
  unsent?.share.release(unsent.caller, size)
  if (!hasRoom) response.destroy()
  return hasRoom && !isOver(response)
}
