/** A lease on a sink, renewed until it is released. Only one process at a time delivers to a sink. */
import type { Holder, SinkRecord, SinkStore } from '../../store/sinks.ts'
import { createWakeSignal } from './wake-signal.ts'

export interface Lease {
  readonly holder: Holder
  /** Whether the lease is certainly valid now. */
  isHeld(): boolean
  /** The sink as of the last renewal. */
  record(): SinkRecord
  /** Ends the lease, so that another process can acquire it at once. */
  release(): Promise<void>
}

interface LeaseOptions {
  readonly ttlMs: number
  readonly renewMs: number
  /** The record changed, or the lease is lost. */
  readonly onChange: () => void
}

/** Undefined when another process has the lease. */
export async function takeLease(
  store: Pick<SinkStore, 'hold' | 'renew' | 'release'>,
  holder: Holder,
  { ttlMs, renewMs, onChange }: LeaseOptions,
): Promise<Lease | undefined> {
  const wakeSignal = createWakeSignal()
  let isOver = false
  // Measured by the clock of this process, from before the request to the store: it never ends later than in
  // the store.
  let until = 0
  let record: SinkRecord

  async function hold(how: 'hold' | 'renew'): Promise<SinkRecord | undefined> {
    const began = performance.now()
    const held = await store[how]({ ...holder, ttlMs })
    if (held) until = began + held.heldMs
    return held
  }

  async function renewUntilOver(): Promise<void> {
    while (!isOver) {
      await wakeSignal.wait(renewMs)
      if (isOver) return
      // A failed renewal is retried; `renewMs` is short enough for several attempts before the lease expires.
      const held = await hold('renew').catch(() => record)
      isOver ||= held === undefined
      const isNew = held?.version !== record.version
      if (held) record = held
      if (isNew) onChange()
    }
  }

  const first = await hold('hold')
  if (!first) return undefined
  record = first
  const renewing = renewUntilOver()
  return {
    holder,
    isHeld: () => !isOver && performance.now() < until,
    record: () => record,
    async release() {
      isOver = true
      wakeSignal.ring()
      await renewing
      await store.release(holder)
    },
  }
}
