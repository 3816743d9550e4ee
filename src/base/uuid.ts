/** Identifiers that sort by creation time. */
import { randomFillSync } from 'node:crypto'

/** Random bytes for 256 identifiers, because a call of `randomFillSync` costs more than the rest together. */
const pool = Buffer.alloc(16 * 256)
let used = pool.length

/** A UUID of version 7 (RFC 9562): 48 bits of milliseconds, then random bits. */
export function uuidV7(now: number): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const bytes = pool.subarray(used, (used += 16))
  bytes.writeUIntBE(now, 0, 6)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
