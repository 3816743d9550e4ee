/**
 * The write lock of the database file. Another process, such as a backup or a shell, may have it for any time, and another
 * thread may have borrowed it: who wants to write tries again, between other work of the thread, for as long as the bounds
 * allow.
 */
import type { DatabaseSync } from 'node:sqlite'
import { ServiceError } from '../../../base/errors.ts'
import { callerLeft } from '../../../base/work/work.ts'
import type { Bounds } from '../../bounds.ts'
import { isBusy, storeFailure } from '../file/failures.ts'

export interface WriteLock {
  /** Begins a transaction; false while another thread has the lock, or another process and this one writes. */
  begin(isReadOnly?: boolean): boolean
  readonly isLent: boolean
  /** No transaction begins in this thread until the result is called. */
  lend(): () => void
  /** Resolves when the lock is not lent. */
  untilReturned(): Promise<void>
  /** Resolves when it is worth trying again. */
  pause(): Promise<void>
  /** The time limit counts from now. */
  waitLimit(bounds: Bounds | undefined): WaitLimit
}

/** Returns why a transaction no longer waits for its begin; undefined as long as it does. */
export type WaitLimit = () => ServiceError | undefined

const RETRY_MS = 10

/** Shorter than a timer of `RETRY_MS` may take, so that the first one to wake does try. */
const QUIET_MS = RETRY_MS / 2

/** How long work waits that is not part of a request with a time limit: changes of metadata, and tasks in the background. */
export interface WaitLimits {
  /** For another process. */
  readonly lockedMs: number
  /** While the lock is lent. Loans end by themselves, and who gives up would only have to start again. */
  readonly lentMs: number
}

const WAIT_LIMITS: WaitLimits = { lockedMs: 10_000, lentMs: 60_000 }

export function createWriteLock(database: DatabaseSync, limits: WaitLimits = WAIT_LIMITS): WriteLock {
  const beginToRead = database.prepare('begin')
  const beginToWrite = database.prepare('begin immediate')
  let triedMs = -Infinity
  let isHeld = false
  let returned: Promise<void> | undefined
  let pausing: Pause | undefined

  function tryToBegin(): boolean {
    // One tries for all, so that a thousand waiting transactions cost no more than one.
    if (isHeld && performance.now() - triedMs < QUIET_MS) return false
    try {
      beginToWrite.run()
      isHeld = false
    } catch (error) {
      if (!isBusy(error)) throw storeFailure(error)
      isHeld = true
      triedMs = performance.now()
    }
    return !isHeld
  }

  return {
    begin(isReadOnly = false) {
      if (returned) return false
      if (!isReadOnly) return tryToBegin()
      beginToRead.run()
      return true
    },
    get isLent() {
      return returned !== undefined
    },
    lend() {
      const { promise, resolve } = Promise.withResolvers<void>()
      returned = promise
      return () => {
        returned = undefined
        resolve()
        pausing?.end()
      }
    },
    async untilReturned() {
      await returned
    },
    pause() {
      pausing ??= startPause(() => (pausing = undefined))
      return pausing.ended
    },
    waitLimit: (bounds) => waitLimit(bounds, { limits, isLent: () => returned !== undefined }),
  }
}

interface Pause {
  readonly ended: Promise<void>
  readonly end: () => void
}

/** One for all who wait, so that they go on in the order in which they came. */
function startPause(onEnd: () => void): Pause {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = (): void => {
    clearTimeout(timer)
    onEnd()
    resolve()
  }
  const timer = setTimeout(end, RETRY_MS)
  return { ended: promise, end }
}

interface Waiting {
  readonly limits: WaitLimits
  readonly isLent: () => boolean
}

function waitLimit(bounds: Bounds | undefined, { limits, isLent }: Waiting): WaitLimit {
  const limitMs = bounds?.timeLimitMs ?? limits.lockedMs
  const isOfRequest = bounds?.work !== undefined
  const lastMs = isOfRequest ? Infinity : performance.now() + Math.max(limitMs, limits.lentMs)
  let untilMs = performance.now() + limitMs
  return () => {
    if (bounds?.getSignal?.().aborted || bounds?.work?.isCancelled) return callerLeft()
    if (isLent() && !isOfRequest) untilMs = performance.now() + limitMs
    if (performance.now() < Math.min(untilMs, lastMs)) return undefined
    const reason = isLent() ? LENT : LOCKED
    return bounds ? waitedTooLong(bounds.work?.timeLimitMs ?? limitMs, reason) : unavailable(reason)
  }
}

const LOCKED = 'another process has the database file locked'
const LENT = 'a larger write, or an index that is built, has to end first'

function waitedTooLong(timeLimitMs: number, reason: string): ServiceError {
  const message = `the request took longer than ${Math.ceil(timeLimitMs)} ms, because ${reason}; try again in a second`
  return new ServiceError('store-crud:Timeout', message)
}

function unavailable(reason: string): ServiceError {
  return new ServiceError('crud:Unavailable', `${reason}; try again in a second`)
}
