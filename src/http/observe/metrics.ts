/**
 * Metrics for Prometheus. Requests are counted in plain numbers, which are converted to the exposition format only when
 * metrics are read: prom-client would hash the labels of every observation, and is a fifth of all modules of a start.
 */
import type { SinkMeter } from '../../service/sinks/deliver.ts'
import type { Exposition, Snapshot } from './exposition.ts'
import type { Family, Labels, Sample } from './sample.ts'
import { createSinkMetrics } from './sink-metrics.ts'

export interface Metrics {
  /** The meter of one route. Create it once and reuse it: each request then looks up the status only. */
  readonly meterOf: (method: string, route: string) => Meter
  readonly observeStore: (operation: string, seconds: number) => void
  readonly sinks: SinkMeter
  readonly text: () => Promise<string>
  /** The metrics of this process, as plain data that can be sent to another process. */
  readonly snapshot: () => Promise<Snapshot>
}

export type { Snapshot }

/** Collects the metrics of all processes that share the port; `own` are those of the current process. */
type Gather = (own: Snapshot) => Promise<readonly Snapshot[]>

export interface Meter {
  observe(status: number, seconds: number): void
}

export function createMetrics(gather?: Gather): Metrics {
  const requests: RouteMeter[] = []
  const operations = new Map<string, Timings>()
  const { meter: sinks, families } = createSinkMetrics()
  let exposition: Promise<Exposition> | undefined
  const expose = (): Promise<Exposition> =>
    (exposition ??= import('./exposition.ts').then(({ createExposition }) =>
      createExposition([...ownFamilies(requests, operations), ...families]),
    ))
  return {
    sinks,
    meterOf(method, route) {
      const meter = new RouteMeter({ method, route })
      requests.push(meter)
      return meter
    },
    observeStore(operation, seconds) {
      let timings = operations.get(operation)
      if (!timings) operations.set(operation, (timings = new Timings()))
      timings.observe(seconds)
    },
    snapshot: async () => await (await expose()).snapshot(),
    async text() {
      const exposed = await expose()
      return gather ? await exposed.merged(await gather(await exposed.snapshot())) : await exposed.text()
    },
  }
}

function ownFamilies(
  requests: readonly RouteMeter[],
  operations: ReadonlyMap<string, Timings>,
): readonly Family[] {
  return [
    {
      name: 'smalt_http_requests_total',
      type: 'counter',
      help: 'Requests by route and status',
      samples: () => requests.flatMap((meter) => meter.counts()),
    },
    {
      name: ROUTE_TIMES,
      type: 'histogram',
      help: 'Time to the answer by route',
      samples: () => requests.flatMap(({ timings, labels }) => timings.samples(ROUTE_TIMES, labels)),
    },
    {
      name: STORE_TIMES,
      type: 'histogram',
      help: 'Time in the store by operation',
      samples: () =>
        [...operations].flatMap(([operation, timings]) => timings.samples(STORE_TIMES, { operation })),
    },
  ]
}

const ROUTE_TIMES = 'smalt_http_request_duration_seconds'
const STORE_TIMES = 'smalt_store_duration_seconds'

class RouteMeter implements Meter {
  readonly labels: Labels
  readonly timings = new Timings()
  readonly #byStatus = new Map<number, number>()

  constructor(labels: Labels) {
    this.labels = labels
  }

  observe(status: number, seconds: number): void {
    this.#byStatus.set(status, (this.#byStatus.get(status) ?? 0) + 1)
    this.timings.observe(seconds)
  }

  counts(): readonly Sample[] {
    return [...this.#byStatus].map(([status, value]) => ({ value, labels: { ...this.labels, status } }))
  }
}

/** Upper bounds in seconds. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

class Timings {
  readonly #buckets = new Float64Array(BOUNDS.length + 1)
  #sum = 0

  observe(seconds: number): void {
    let bucket = 0
    while (bucket < BOUNDS.length && seconds > BOUNDS[bucket]!) bucket++
    this.#buckets[bucket]! += 1
    this.#sum += seconds
  }

  samples(name: string, labels: Labels): readonly Sample[] {
    let count = 0
    const buckets = [...BOUNDS, '+Inf'].map((le, i): Sample => {
      count += this.#buckets[i]!
      return { value: count, labels: { ...labels, le }, metricName: `${name}_bucket` }
    })
    if (count === 0) return []
    return [
      ...buckets,
      { value: this.#sum, labels, metricName: `${name}_sum` },
      { value: count, labels, metricName: `${name}_count` },
    ]
  }
}
