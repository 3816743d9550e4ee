/** How often a caller may ask: a bucket for each that refills steadily; who finds it empty waits. */

export interface RateLimit {
  readonly perSecond: number
  /** How many requests a caller who has been quiet may send at once. */
  readonly burst: number
}

/**
 * Takes so many requests out of the bucket of a caller: 0, or the seconds until they would be there. `before` is what the
 * same request has taken already.
 */
export type Take = (key: string, count: number, before?: number) => number

export function limitRate({ perSecond, burst }: RateLimit, now: () => number = seconds): Take {
  const buckets = new Map<string, Bucket>()
  return (key, count, before = 0) => {
    const time = now()
    const bucket = buckets.get(key) ?? { left: burst, at: time }
    const left = Math.min(burst, bucket.left + (time - bucket.at) * perSecond)
    // what is larger than a whole bucket is let through by a full one, and paid for afterwards
    const missing = Math.min(count, burst - before) - left
    // back to the end of the map, whose beginning is forgotten first
    buckets.delete(key)
    buckets.set(key, { left: missing > 0 ? left : left - count, at: time })
    if (buckets.size > MAX_BUCKETS) buckets.delete(buckets.keys().next().value!)
    return missing > 0 ? Math.ceil(missing / perSecond) : 0
  }
}

interface Bucket {
  readonly left: number
  /** When it held so much. */
  readonly at: number
}

/** Whoever has been quiet the longest gets a new one, which is full as the old one probably was. */
const MAX_BUCKETS = 10_000

function seconds(): number {
  return performance.now() / 1_000
}
