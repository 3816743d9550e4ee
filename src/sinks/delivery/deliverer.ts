/**
 * Delivers to every sink that no other process delivers to. Each sink has a run of its own, so a receiver
 * that hangs delays no other.
 */
import { randomUUID } from 'node:crypto'
import { createWakeSignal } from './wake-signal.ts'
import { takeLease } from './lease.ts'
import { type RunOptions, SinkRun } from './sink-run.ts'

export interface DelivererOptions extends Omit<RunOptions, 'now' | 'random'> {
  readonly now?: () => number
  readonly random?: () => number
  /**
   * How long the lease of a crashed process stays valid; until then no other process can deliver to its
   * sinks.
   */
  readonly ttlMs?: number
  readonly renewMs?: number
  /** How often to check for sinks without a delivering process. */
  readonly pollMs?: number
}

export interface Deliverer extends AsyncDisposable {
  /** New events may exist, or a sink may have changed. Optional: polling finds both, only later. */
  wake(): void
}

/** Delay before delivery to a sink restarts after an error on our side, such as a failing store. */
const REST_MS = 5_000

/**
 * Starts immediately. Disposal stops delivery and releases the leases, so other processes can continue at
 * once.
 */
export function startDeliverer(options: DelivererOptions): Deliverer {
  const { store, observer, ttlMs = 5_000, renewMs = 1_500, pollMs = 1_000 } = options
  const running: RunOptions = { now: Date.now, random: Math.random, ...options }
  const runs = new Map<string, SinkRun | undefined>()
  const restUntil = new Map<string, number>()
  const ending = new Set<Promise<void>>()
  const wakeSignal = createWakeSignal()
  const stopping = new AbortController()

  async function deliver(name: string): Promise<void> {
    const holder = { name, owner: randomUUID() }
    const onChange = (): void => runs.get(name)?.wake()
    try {
      const lease = await takeLease(store, holder, { ttlMs, renewMs, onChange })
      if (!lease) return
      const run = new SinkRun(lease, running)
      runs.set(name, run)
      if (stopping.signal.aborted) run.stop()
      await run.done
    } catch (error) {
      restUntil.set(name, performance.now() + REST_MS)
      observer.error?.(error, name)
    }
  }

  function begin(name: string): void {
    if (stopping.signal.aborted || runs.has(name) || (restUntil.get(name) ?? 0) > performance.now()) return
    runs.set(name, undefined)
    const delivering = deliver(name).finally(() => {
      runs.delete(name)
      ending.delete(delivering)
    })
    ending.add(delivering)
  }

  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const enabled = (await store.list()).filter(({ progress }) => !progress.isDisabled)
        for (const { name } of enabled) begin(name)
      } catch (error) {
        observer.error?.(error)
      }
      await wakeSignal.wait(pollMs)
    }
  }

  const polling = poll()
  return {
    wake() {
      for (const run of runs.values()) run?.wake()
    },
    async [Symbol.asyncDispose]() {
      stopping.abort()
      wakeSignal.ring()
      await polling
      for (const run of runs.values()) run?.stop()
      await Promise.all(ending)
    },
  }
}
