/**
 * Numbers events after they were committed, so that whoever read up to a number has seen all there will ever be below
 * it. In all processes together one is at it at a time; of any that dies, the next one takes over.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Connections, openConnections } from '../connection/connections.ts'
import { isLost } from '../connection/failures.ts'
import type { Location } from '../connection/location.ts'
import { numberUnder } from './numbering.ts'

export interface Sequencer extends AsyncDisposable {
  /** There are events to number. */
  readonly wake: () => void
  /** From now on, those that others left are looked for too. */
  readonly watch: () => void
}

interface SequencerOptions {
  readonly location: Location
  /** Awaited before anything else. */
  readonly ready: () => Promise<void>
  readonly onPublished: () => void
  readonly onError: (error: unknown) => void
}

/** Between two rounds, so that one numbers what many wrote. */
const REST_MS = 25
/** Whoever has the lock may have looked before our events were there. */
const BUSY_MS = 20
/** For events of processes that died. */
const LOOK_MS = 1_000
const ROUND = { timeLimitMs: 30_000 }

export function createSequencer({ location, ready, onPublished, onError }: SequencerOptions): Sequencer {
  const lock = `events of ${location.schema}`
  const ending = new AbortController()
  let running: Promise<void> | undefined
  let woken = Promise.withResolvers<void>()
  let isDue = false
  let own: Connections | undefined
  let lastNotified = ''

  /** On a connection of its own: the lock goes with the connection, and with it whatever was under way there. */
  async function round(): Promise<'busy' | 'done' | 'failed'> {
    isDue = false
    try {
      await ready()
      own ??= openConnections({ ...location, poolSize: 1 }, onError)
      const numbered = await own.with((connection) => numberUnder(connection, lock), ROUND)
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

  /** The same failure comes again with every round. */
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
      // what nobody numbers now would wait until somebody comes
      if (isDue) await round()
      await own?.[Symbol.asyncDispose]()
    },
  }
}
