/** Measurements of the service: the text of `/metrics`, and what two readings of it say about the time between them. */

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Reading {
  readonly at: number
  readonly samples: readonly Sample[]
}

export function parseMetrics(text: string): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    const match = /^([a-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/i.exec(line)
    if (!match) return []
    const [, name = '', labels = '', value = ''] = match
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(
      ([, key, text]) => [key, text] as const,
    )
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }]
  })
}

/** What is plotted, at one moment. */
export interface Point {
  readonly at: number
  readonly requests: number
  readonly failures: number
  readonly latencyMs: number
  readonly p95Ms: number
  readonly storeMs: number
  readonly lagMs: number
  readonly memoryMb: number
  readonly cpuPercent: number
}

export function pointBetween(before: Reading, after: Reading): Point {
  const seconds = Math.max(0.001, (after.at - before.at) / 1_000)
  const grown = (name: string, isWanted: (labels: Sample['labels']) => boolean = () => true): number =>
    Math.max(0, total(after, name, isWanted) - total(before, name, isWanted))
  const count = grown('smalt_http_request_duration_seconds_count')
  const storeCount = grown('smalt_store_duration_seconds_count')
  return {
    at: after.at,
    requests: grown('smalt_http_requests_total') / seconds,
    failures: grown('smalt_http_requests_total', ({ status = '' }) => status.startsWith('5')) / seconds,
    latencyMs: count === 0 ? 0 : (grown('smalt_http_request_duration_seconds_sum') / count) * 1_000,
    p95Ms: quantile(before, after) * 1_000,
    storeMs: storeCount === 0 ? 0 : (grown('smalt_store_duration_seconds_sum') / storeCount) * 1_000,
    lagMs: total(after, 'nodejs_eventloop_lag_p99_seconds') * 1_000,
    memoryMb: total(after, 'process_resident_memory_bytes') / 2 ** 20,
    cpuPercent: (grown('process_cpu_seconds_total') / seconds) * 100,
  }
}

export interface RouteFacts {
  readonly route: string
  readonly count: number
  readonly failures: number
  readonly meanMs: number
}

/** Since the service started. */
export function routeFacts({ samples }: Reading): readonly RouteFacts[] {
  const facts = new Map<string, { count: number; failures: number; seconds: number; timed: number }>()
  for (const { name, labels, value } of samples) {
    const route = `${labels['method'] ?? ''} ${labels['route'] ?? ''}`
    const own = facts.get(route) ?? { count: 0, failures: 0, seconds: 0, timed: 0 }
    if (name === 'smalt_http_requests_total') {
      own.count += value
      if (Number(labels['status']) >= 400) own.failures += value
    } else if (name === 'smalt_http_request_duration_seconds_sum') own.seconds += value
    else if (name === 'smalt_http_request_duration_seconds_count') own.timed += value
    else continue
    facts.set(route, own)
  }
  return [...facts]
    .filter(([, { count }]) => count > 0)
    .map(([route, { count, failures, seconds, timed }]) => ({
      route,
      count,
      failures,
      meanMs: timed === 0 ? 0 : (seconds / timed) * 1_000,
    }))
    .sort((a, b) => b.count - a.count)
}

function total(
  { samples }: Reading,
  wanted: string,
  isWanted: (labels: Sample['labels']) => boolean = () => true,
): number {
  let sum = 0
  for (const { name, labels, value } of samples) if (name === wanted && isWanted(labels)) sum += value
  return sum
}

/** The upper bound of the bucket that holds the 95th of a hundred requests. */
function quantile(before: Reading, after: Reading): number {
  const bounds = new Map<number, number>()
  const add = ({ samples }: Reading, sign: number): void => {
    for (const { name, labels, value } of samples) {
      if (name !== 'smalt_http_request_duration_seconds_bucket') continue
      const bound = Number(labels['le'] === '+Inf' ? Infinity : labels['le'])
      bounds.set(bound, (bounds.get(bound) ?? 0) + sign * value)
    }
  }
  add(after, 1)
  add(before, -1)
  const sorted = [...bounds].sort(([a], [b]) => a - b)
  const all = sorted.at(-1)?.[1] ?? 0
  if (all <= 0) return 0
  const found = sorted.find(([, count]) => count >= all * 0.95)?.[0] ?? 0
  return Number.isFinite(found) ? found : (sorted.at(-2)?.[0] ?? 0)
}
