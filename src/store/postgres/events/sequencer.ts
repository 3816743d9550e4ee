/**
 * Runs the numbering of events (see numbering.ts) in the background. Every process tries, an advisory lock lets one at a
 * time in, and the lock ends with its connection, so that another process takes over from one that dies.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { tryLock } from '../connection/advisory-locks.ts'
import { type Connections, openConnections } from '../connection/connections.ts'
import { isLost } from '../connection/failures.ts'
import type { Location } from '../connection/location.ts'
import { type Numbered, numberUnder } from './numbering.ts'

interface Sequencer extends AsyncDisposable {
  /** Signals that there are events to number. */
  readonly wake: () => void
  /** From now on, also looks for events that other processes left without a number. */
  readonly watch: () => void
}

interface SequencerOptions {
  readonly location: Location
  /** Awaited before anything else. */
  readonly ready: () => Promise<void>
  readonly onPublished: () => void
  readonly onError: (error: unknown) => void
}

/** Between two rounds, so that one round numbers the events of many writes. */
const REST_MS = 25
/** While another process holds the lock: it may have read the outbox before our events were committed. */
const BUSY_MS = 20
/**
 * Without a wake-up, for events of processes that died before they numbered them. One process looks this often. The
 * others look rarely, in case it hangs: on a cluster each look reads every shard.
 */
const LOOK_MS = 1_000
const LOOK_BESIDE_MS = 10_000
const ROUND = { timeLimitMs: 30_000 }
const NOTHING: Numbered = { count: 0, hasMore: false }

export function createSequencer({ location, ready, onPublished, onError }: SequencerOptions): Sequencer {
  const lock = `events of ${location.schema}`
  const lookoutLock = `lookout for events of ${location.schema}`
  const ending = new AbortController()
  let running: Promise<void> | undefined
  let woken = Promise.withResolvers<void>()
  let isDue = false
  let own: Connections | undefined
  let lastNotified = ''
  let lastRound = -Infinity

  /** On a connection of its own: if it is lost, the server releases the lock and ends the statement under it. */
  async function round(): Promise<'busy' | 'done' | 'failed'> {
    const mayBeSpared = !isDue && performance.now() - lastRound < LOOK_BESIDE_MS
    isDue = false
    try {
      await ready()
      own ??= openConnections({ ...location, poolSize: 1 }, onError)
      const numbered = await own.with(
        async (connection) => {
          // Held until the connection ends: one process stays on the lookout.
          if (mayBeSpared && !(await tryLock(connection, lookoutLock))) return NOTHING
          lastRound = performance.now()
          return await numberUnder(connection, lock)
        },
        { bounds: ROUND },
      )
      lastNotified = ''
      if (!numbered) return 'busy'
      if (numbered.hasMore) isDue = true
      if (numbered.count > 0) onPublished()
      return 'done'
    } catch (error) {
      notifyOnce(error)
      const broken = own
      own = undefined
      await broken?.[Symbol.asyncDispose]()
      return 'failed'
    }
  }

  /** A failure that persists comes again with every round, and is reported once. */
  function notifyOnce(error: unknown): void {
    if (isLost(error) || String(error) === lastNotified) return
    lastNotified = String(error)
    onError(error)
  }

  async function rest(ms: number): Promise<void> {
    await pause(ms, undefined, { ref: false, signal: ending.signal }).catch(() => undefined)
  }

  async function keepNumbering(): Promise<void> {
    while (!ending.signal.aborted) {
      const outcome = await round()
      if (outcome === 'busy') isDue = true
      await rest(outcome === 'busy' ? BUSY_MS : outcome === 'failed' ? LOOK_MS : REST_MS)
      if (!isDue) await Promise.race([woken.promise, rest(LOOK_MS)])
      woken = Promise.withResolvers()
    }
  }

  return {
    wake() {
      isDue = true
      woken.resolve()
      running ??= keepNumbering()
    },
    watch() {
      running ??= keepNumbering()
    },
    async [Symbol.asyncDispose]() {
      ending.abort()
      await running
      // Otherwise, events of the last writes would wait until another process looks.
      if (isDue) await round()
      await own?.[Symbol.asyncDispose]()
    },
  }
}
