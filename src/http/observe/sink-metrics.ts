/** Metrics of sinks: counted during delivery, and formatted when metrics are read. */
import type { SinkMeter, SinkState } from '../../service/sinks/deliver.ts'
import type { Family, Sample } from './sample.ts'

interface SinkMetrics {
  readonly meter: SinkMeter
  readonly families: readonly Family[]
}

export function createSinkMetrics(now: () => number = Date.now): SinkMetrics {
  const deliveries = new Map<string, number>()
  const failures = new Map<string, number>()
  const states = new Map<string, SinkState>()
  const increase = (counts: Map<string, number>, sink: string): void =>
    void counts.set(sink, (counts.get(sink) ?? 0) + 1)
  const counted = (counts: ReadonlyMap<string, number>) => (): readonly Sample[] =>
    [...counts].map(([sink, value]) => ({ value, labels: { sink } }))
  const measured = (valueOf: (state: SinkState) => number) => (): readonly Sample[] =>
    [...states].map(([sink, state]) => ({ value: valueOf(state), labels: { sink } }))
  const age = ({ oldestAt }: SinkState): number =>
    oldestAt === undefined ? 0 : Math.max(0, now() - oldestAt) / 1_000
  return {
    meter: {
      delivered: (sink) => increase(deliveries, sink),
      failed: (sink) => increase(failures, sink),
      state: (sink, state) => void states.set(sink, state),
      left: (sink) => void states.delete(sink),
    },
    families: [
      family('smalt_sink_deliveries_total', 'counter', 'Events that a sink accepted', counted(deliveries)),
      family('smalt_sink_failures_total', 'counter', 'Attempts that failed', counted(failures)),
      family('smalt_outbox_depth', 'gauge', 'Events not yet delivered to a sink', measured(depthOf)),
      family('smalt_sink_dead_letters', 'gauge', 'Events that a sink did not accept', measured(deadOf)),
      family('smalt_outbox_oldest_seconds', 'gauge', 'Age of the oldest undelivered event', measured(age)),
    ],
  }
}

function family(...[name, type, help, samples]: [string, Family['type'], string, Family['samples']]): Family {
  return { name, type, help, samples }
}

function depthOf({ depth }: SinkState): number {
  return depth
}

function deadOf({ dead }: SinkState): number {
  return dead
}
