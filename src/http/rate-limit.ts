/** Rate limit per caller: a token bucket. */
import { evictFirst } from '../base/memo.ts'

export interface RateLimit {
  readonly perSecond: number
  /** How many requests a caller may send at once after a pause. */
  readonly burst: number
}

/**
 * Removes `count` tokens from the bucket of a caller. Returns 0, or the seconds until there would be enough. `before` is
 * the number that the same request has removed already.
 */
export type Take = (key: string, count: number, before?: number) => number

export function limitRate({ perSecond, burst }: RateLimit, now: () => number = seconds): Take {
  const buckets = new Map<string, Bucket>()
  return (key, count, before = 0) => {
    const time = now()
    const bucket = buckets.get(key) ?? { left: burst, at: time }
    const left = Math.min(burst, bucket.left + (time - bucket.at) * perSecond)
    // a full bucket admits a cost larger than the bucket; the balance is negative until refills repay it
    const missing = Math.min(count, burst - before) - left
    // moves the bucket to the end of the map: the least recently used one comes first and is evicted first
    buckets.delete(key)
    buckets.set(key, { left: missing > 0 ? left : left - count, at: time })
    evictFirst(buckets, MAX_BUCKETS)
    return missing > 0 ? Math.ceil(missing / perSecond) : 0
  }
}

interface Bucket {
  readonly left: number
  /** The time at which `left` was computed. */
  readonly at: number
}

/** Beyond this, the least recently used bucket is evicted. Its caller gets a full one; the old one was probably full too. */
const MAX_BUCKETS = 10_000

function seconds(): number {
  return performance.now() / 1_000
}
