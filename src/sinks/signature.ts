/**
 * Signatures according to Standard Webhooks: a receiver with the secret can verify the sender and the time of
 * sending.
 */
import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const MIN_BYTES = 24
const MAX_BYTES = 64

/** The bytes of a `whsec_…` secret; undefined when it is malformed, too short or too long. */
export function secretKey(secret: string): Buffer | undefined {
  const text = secret.slice(PREFIX.length)
  if (!secret.startsWith(PREFIX) || !BASE64.test(text)) return undefined
  const key = Buffer.from(text, 'base64')
  return key.length >= MIN_BYTES && key.length <= MAX_BYTES ? key : undefined
}

interface Signed {
  readonly id: string
  /** Seconds since 1970 at the time of sending, not of the event. */
  readonly timestamp: number
  readonly body: string
}

export function sign(key: Buffer, { id, timestamp, body }: Signed): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}
