/** Identifiers that sort in the order in which they were made. */
import { randomFillSync } from 'node:crypto'

/** Random bytes for 256 identifiers, because a call of `randomFillSync` costs more than the rest together. */
const pool = Buffer.alloc(16 * 256)
let used = pool.length

/** The time of the latest call. */
let latestCall = -1
/** The milliseconds of the latest identifier: ahead of `latestCall` when one millisecond had too many. */
let millis = -1
/** Counts the identifiers of a millisecond, from a random start. */
let counter = 0

const MAX_COUNTER = 0xfff
const MAX_START = 0x7ff

/**
 * A UUID of version 7 (RFC 9562): 48 bits of milliseconds, 12 bits that count within a millisecond, then random bits.
 * Each is greater than the one before it, unless the clock was set back.
 */
export function uuidV7(now: number): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const bytes = pool.subarray(used, (used += 16))
  count(now, bytes.readUInt16BE(6))
  bytes.writeUIntBE(millis, 0, 6)
  bytes.writeUInt16BE(0x7000 | counter, 6)
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

function count(now: number, random: number): void {
  const goesOn = now >= latestCall && now <= millis
  latestCall = now
  if (goesOn && counter < MAX_COUNTER) {
    counter++
    return
  }
  millis = goesOn ? millis + 1 : now
  counter = random & MAX_START
}
