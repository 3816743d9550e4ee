/** The right to deliver to a sink, kept up for as long as it is wanted: one process has it at a time. */
import type { Holder, SinkRecord, SinkStore } from '../../store/sinks.ts'
import { createWakeSignal } from './wake-signal.ts'

export interface Lease {
  readonly holder: Holder
  /** Whether it surely is ours at this moment. */
  isHeld(): boolean
  /** The sink as it was when last asked for. */
  record(): SinkRecord
  /** Lets others have it at once. */
  release(): Promise<void>
}

export interface LeaseOptions {
  readonly ttlMs: number
  readonly renewMs: number
  /** The record changed, or the right is lost. */
  readonly onChange: () => void
}

/** Undefined when somebody else has it. */
export async function takeLease(
  store: Pick<SinkStore, 'hold' | 'release'>,
  holder: Holder,
  { ttlMs, renewMs, onChange }: LeaseOptions,
): Promise<Lease | undefined> {
  const wakeSignal = createWakeSignal()
  let isOver = false
  // By the clock of this process, from before the store was asked: never longer than the store thinks.
  let until = 0
  let record: SinkRecord

  async function hold(): Promise<SinkRecord | undefined> {
    const began = performance.now()
    const held = await store.hold({ ...holder, ttlMs })
    if (held) until = began + held.heldMs
    return held
  }

  async function keepUp(): Promise<void> {
    while (!isOver) {
      await wakeSignal.wait(renewMs)
      if (isOver) return
      // One that fails is tried again: there is time for it.
      const held = await hold().catch(() => record)
      isOver ||= held === undefined
      const isNew = held?.version !== record.version
      if (held) record = held
      if (isNew) onChange()
    }
  }

  const first = await hold()
  if (!first) return undefined
  record = first
  const keeping = keepUp()
  return {
    holder,
    isHeld: () => !isOver && performance.now() < until,
    record: () => record,
    async release() {
      isOver = true
      wakeSignal.ring()
      await keeping
      await store.release(holder)
    },
  }
}
