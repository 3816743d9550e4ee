/** Which routes and store operations were slow, as far as the histograms of `/metrics` know: counts by time, not queries. */
import type { Reading } from './metrics.ts'

export interface SlowFacts {
  /** A route such as `POST /data/find/{entity}`, or `store: find`. */
  readonly name: string
  readonly count: number
  readonly overTenth: number
  readonly overSecond: number
  /** The upper bound of the bucket with the 95th of a hundred; undefined beyond the last bound. */
  readonly p95Seconds: number | undefined
}

const HISTOGRAMS: Readonly<Record<string, (labels: Readonly<Record<string, string>>) => string>> = {
  smalt_http_request_duration_seconds_bucket: ({ method = '', route = '' }) => `${method} ${route}`,
  smalt_store_duration_seconds_bucket: ({ operation = '' }) => `store: ${operation}`,
}

/** Those with something over a tenth of a second, since the service started; the worst come first. */
export function slowFacts({ samples }: Reading): readonly SlowFacts[] {
  const histograms = new Map<string, Map<number, number>>()
  for (const { name, labels, value } of samples) {
    const nameOf = HISTOGRAMS[name]
    if (!nameOf) continue
    const key = nameOf(labels)
    const buckets = histograms.get(key) ?? new Map<number, number>()
    histograms.set(key, buckets)
    buckets.set(labels['le'] === '+Inf' ? Infinity : Number(labels['le']), value)
  }
  return [...histograms]
    .map(([name, buckets]) => factsOf(name, buckets))
    .filter(({ overTenth }) => overTenth > 0)
    .sort((a, b) => b.overSecond - a.overSecond || b.overTenth - a.overTenth)
}

/** Buckets are cumulative. */
function factsOf(name: string, buckets: ReadonlyMap<number, number>): SlowFacts {
  const count = buckets.get(Infinity) ?? 0
  const bounds = [...buckets].sort(([a], [b]) => a - b)
  const p95 = bounds.find(([, within]) => within >= count * 0.95)?.[0]
  return {
    name,
    count,
    overTenth: count - (buckets.get(0.1) ?? count),
    overSecond: count - (buckets.get(1) ?? count),
    p95Seconds: p95 === Infinity ? undefined : p95,
  }
}
