/**
 * Fair shares of the connections: how many a caller may have, and who waits. Work that is known to be slow has a share of its
 * own, because few slow statements take the processors of the database from everybody else.
 */
import { type FairQueue, type Release, createFairQueue } from '../../../base/work/fair-queue.ts'
import { callerLeft } from '../../../base/work/work.ts'
import type { Bounds } from '../../bounds.ts'
import { createCallerActivity } from '../../../base/work/caller-activity.ts'
import type { PlanChoice } from './plan-choice.ts'
import { WAIT_MS } from './time-limit.ts'

/** Whom work on a connection is charged to, and what it may take. */
export interface Charge {
  /** Limits for all of the work. */
  readonly bounds?: Bounds | undefined
  /** For work whose statements have their own bounds: who waits for it, and on whose account. */
  readonly holder?: Shareholder | undefined
  /** Work of one kind takes about the same time, so the last one tells whether the next one will be slow. */
  readonly kind?: string | undefined
  /** How PostgreSQL plans its statements, which are not in a transaction; `auto` when absent. */
  readonly plans?: PlanChoice | undefined
}

type Shareholder = Pick<Bounds, 'getSignal' | 'work'> & { readonly caller?: string | undefined }

export interface Shares {
  /** Of all connections of the main pool. */
  readonly main: FairQueue
  /** Of the connections for long work. */
  readonly long: FairQueue
  /** Taken in addition to `main`. */
  readonly slow: FairQueue
  /** Without a caller it is work of the store itself, or of a request that is counted already. */
  readonly noteCaller: (caller: string | undefined) => void
}

/** Connections for long work, such as streams, that callers share. */
export const LONG_SLOTS = 6

export function createShares(connections: number): Shares {
  const activity = createCallerActivity()
  return {
    // The other half of the connections serves everybody else.
    main: createFairQueue({ slots: connections, slotsPerCaller: Math.ceil(connections / 2), ...WAITING }),
    long: createFairQueue({ slots: LONG_SLOTS, ...WAITING }),
    slow: createFairQueue({
      slots: Math.ceil(connections / 2),
      slotsPerCaller: Math.ceil(connections / 8),
      mayHaveMore: (caller) => !activity.isAnotherActive(caller),
      ...WAITING,
      maxWaitMs: SLOW_WAIT_MS,
    }),
    noteCaller: (caller) => {
      if (caller !== undefined) activity.note(caller)
    },
  }
}

const SLOW_WAIT_MS = 30_000

/** Limits on waiting for a connection. The time limit of the work starts when it has one. */
const WAITING = { maxWaitMs: WAIT_MS, maxWaiting: 10_000, maxWaitingPerCaller: 2_000 }

export function holderOf({ bounds, holder = {} }: Charge): Shareholder {
  return bounds ?? holder
}

/** Waits for a trial; that does not count against the time limit of the work. */
export async function waitFor(trial: Promise<void>, { work }: Shareholder): Promise<void> {
  const arrivedMs = performance.now()
  await trial
  work?.waited(performance.now() - arrivedMs)
}

export async function acquire(share: FairQueue, { caller, getSignal, work }: Shareholder): Promise<Release> {
  const signal = getSignal?.()
  const arrivedMs = performance.now()
  try {
    const release = await share.acquire(caller, signal)
    work?.waited(performance.now() - arrivedMs)
    return release
  } catch (error) {
    throw signal?.aborted ? callerLeft() : error
  }
}

export async function withShare<T>(
  share: FairQueue,
  holder: Shareholder,
  work: () => Promise<T>,
): Promise<T> {
  const release = await acquire(share, holder)
  try {
    return await work()
  } finally {
    release()
  }
}

/** A slot for work that runs already: it was not known to be slow, and now the rest of its kind waits for it. */
export function createForcedShare(share: FairQueue, { caller }: Shareholder) {
  let release: Release | undefined
  let isOver = false
  return {
    occupy: (): void => {
      if (!isOver) release = share.occupy(caller)
    },
    release: (): void => {
      isOver = true
      release?.()
    },
  }
}
