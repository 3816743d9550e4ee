/** The exposition format of metrics, by prom-client, with the metrics of the process itself from the first read on. */
import { AggregatorRegistry, Registry, collectDefaultMetrics } from 'prom-client'
import type { Family } from './sample.ts'

export type Snapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

export interface Exposition {
  readonly text: () => Promise<string>
  readonly snapshot: () => Promise<Snapshot>
  /** The sum of the metrics of several processes. */
  readonly merged: (all: readonly Snapshot[]) => Promise<string>
}

export function createExposition(families: readonly Family[]): Exposition {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const { name, type, help, samples } of families) {
    const aggregator = type === 'gauge' ? 'max' : 'sum'
    const metric = { name, help, get: async () => ({ name, help, type, values: samples(), aggregator }) }
    // a registry uses only `name` and `get` of a metric
    registry.registerMetric(metric as unknown as Registered)
  }
  return {
    text: () => registry.metrics(),
    snapshot: () => registry.getMetricsAsJSON(),
    merged: (all) => AggregatorRegistry.aggregate([...all]).metrics(),
  }
}

type Registered = Parameters<Registry['registerMetric']>[0]
