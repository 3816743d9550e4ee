/**
 * The keys of cursors, derived from the secret of the store and a random salt, which stands in each cursor. A process
 * seals many cursors with one key, because deriving a key costs as much as sealing; the nonce of each cursor is random, so
 * a key is replaced long before one could repeat.
 */
import { createHmac, hkdfSync, randomFillSync } from 'node:crypto'
import { SizedCache } from '../../../base/sized-cache.ts'

export const SALT_BYTES = 16
export const NONCE_BYTES = 12

interface SealingKey {
  readonly secret: string
  readonly salt: Buffer
  readonly key: Buffer
  /** The number of cursors that it may still seal. */
  left: number
}

/** With 2^20 random nonces of 96 bits, the odds that two are equal are 1 in 2^57. */
const MAX_CURSORS = 2 ** 20

let current: SealingKey | undefined

/** The salt and the key of the next cursor. */
export function sealingKey(secret: string): Pick<SealingKey, 'salt' | 'key'> {
  if (current?.secret !== secret || current.left === 0) {
    const salt = randomFillSync(Buffer.alloc(SALT_BYTES))
    current = { secret, salt, key: deriveKey(secret, salt), left: MAX_CURSORS }
  }
  current.left--
  return current
}

/** Other processes and earlier starts have other salts; a caller may send any. */
const opening = new SizedCache<string, Buffer>(100)

/** The key of a cursor with this salt. */
export function openingKey(secret: string, salt: Buffer): Buffer {
  const name = salt.toString('latin1') + secret
  const known = opening.get(name)
  if (known) return known
  const key = deriveKey(secret, salt)
  opening.set(name, key, 1)
  return key
}

function deriveKey(secret: string, salt: Buffer): Buffer {
  return createHmac('sha256', rootKey(secret)).update(salt).digest()
}

/** Derived once. A process has one secret, until its store is replaced. */
let root: { readonly secret: string; readonly key: Buffer } | undefined

function rootKey(secret: string): Buffer {
  if (root?.secret !== secret) {
    root = { secret, key: Buffer.from(hkdfSync('sha256', secret, '', 'smalt cursor', 32)) }
  }
  return root.key
}

/** Random bytes for many nonces at a time: each call of the generator costs more than a nonce. */
const pool = Buffer.alloc(256 * NONCE_BYTES)
let used = pool.length

/** A view of the pool, to be used before the next call. */
export function nextNonce(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += NONCE_BYTES
  return pool.subarray(used - NONCE_BYTES, used)
}
