/**
 * The write lock of the database file. Another process, such as a backup or a shell, may have it for any time: who wants
 * to write tries again, between other work of the thread, for as long as the bounds allow.
 */
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { ServiceError } from '../../../base/errors.ts'
import { callerLeft } from '../../../base/work/work.ts'
import type { Bounds } from '../../bounds.ts'
import { isBusy, storeFailure } from '../file/failures.ts'

export interface WriteLock {
  /** Begins a transaction that writes; false while another process has the lock. */
  begin(): boolean
}

/** Returns why a write no longer waits; undefined as long as it does. */
export type WaitLimit = () => ServiceError | undefined

const RETRY_MS = 10

/** Shorter than a timer of `RETRY_MS` may take, so that the first one to wake does try. */
const QUIET_MS = RETRY_MS / 2

/** Of work without bounds: bookkeeping, and tasks in the background. */
const WAIT_MS = 10_000

export function createWriteLock(database: DatabaseSync): WriteLock {
  const begin = database.prepare('begin immediate')
  let triedMs = -Infinity
  let isHeld = false
  return {
    begin() {
      // One tries for all, so that a thousand waiting transactions cost no more than one.
      if (isHeld && performance.now() - triedMs < QUIET_MS) return false
      try {
        begin.run()
        isHeld = false
      } catch (error) {
        if (!isBusy(error)) throw storeFailure(error)
        isHeld = true
        triedMs = performance.now()
      }
      return !isHeld
    },
  }
}

/** Resolves when it is worth trying again. */
export async function pauseForLock(): Promise<void> {
  await pause(RETRY_MS)
}

/** The time limit counts from now. */
export function waitLimitOf(bounds: Bounds | undefined): WaitLimit {
  const limitMs = bounds?.timeLimitMs ?? WAIT_MS
  const untilMs = performance.now() + limitMs
  return () => {
    if (bounds?.getSignal?.().aborted || bounds?.work?.isCancelled) return callerLeft()
    if (performance.now() < untilMs) return undefined
    return bounds ? lockedTooLong(bounds.work?.timeLimitMs ?? limitMs) : locked()
  }
}

function lockedTooLong(timeLimitMs: number): ServiceError {
  const message = `the request took longer than ${Math.ceil(timeLimitMs)} ms, because another process has the database file locked; try again in a second`
  return new ServiceError('store-crud:Timeout', message)
}

function locked(): ServiceError {
  const message = 'another process has the database file locked; try again in a second'
  return new ServiceError('crud:Unavailable', message)
}
