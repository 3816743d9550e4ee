/** Work on a connection that is given up when its time is over, or when nobody waits for it any more. */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { callerLeft, timedOut } from '../../../base/work/work.ts'
import type { Bounds } from '../../bounds.ts'
import { AbandonedError, StoppedError, isCancelled, isLost } from './failures.ts'
import { backendOf, breakOff } from './driver.ts'

/** A server that says nothing for so long, where it should answer at once, counts as gone. */
export const WAIT_MS = 5_000

const CANCEL_AGAIN_MS = 50

interface Bounding {
  readonly bounds: Bounds
  readonly cancel: (backend: number) => Promise<void>
  /** Told that nothing more is to be begun, and when that is over. */
  readonly onStop: (isStopped: boolean) => void
}

/** Cancels what runs when the time is over or nobody waits any more. */
export async function bounded<T>(
  client: pg.PoolClient,
  { bounds, cancel, onStop }: Bounding,
  work: () => Promise<T>,
): Promise<T> {
  const getSignal = bounds.getSignal?.()
  if (getSignal?.aborted) throw callerLeft()
  let cancelling: Promise<void> | undefined
  const backend = backendOf(client)
  let onGivenUp = (): void => undefined
  let deadline: NodeJS.Timeout | undefined
  let isGivenUp = false
  let isOver = false
  // A server that does not even cancel is given up: what runs then fails with its connection.
  const giveUp = (): void => {
    isGivenUp = true
    breakOff(client)
    onGivenUp()
  }
  /** Several statements may be on their way, and each cancellation ends only the one that runs. */
  const cancelAll = async (): Promise<void> => {
    for (;;) {
      await cancel(backend).catch(() => undefined)
      if (isOver || isGivenUp) return
      await sleep(CANCEL_AGAIN_MS)
    }
  }
  const stop = (): void => {
    // The backend may be idle just now, between two statements, and then there is nothing to cancel.
    onStop(true)
    deadline ??= setTimeout(giveUp, WAIT_MS)
    cancelling ??= Promise.race([cancelAll(), new Promise<void>((resolve) => (onGivenUp = resolve))])
  }
  const { timeLimitMs } = bounds
  const timer = setTimeout(stop, timeLimitMs)
  getSignal?.addEventListener('abort', stop)
  try {
    return await work()
  } catch (error) {
    if (isGivenUp && isLost(error)) throw new AbandonedError('the server does not react', { cause: error })
    if (!cancelling || !(isCancelled(error) || error instanceof StoppedError)) throw error
    throw getSignal?.aborted ? callerLeft() : timedOut(bounds.work?.timeLimitMs ?? timeLimitMs)
  } finally {
    isOver = true
    clearTimeout(timer)
    getSignal?.removeEventListener('abort', stop)
    // The connection must not be handed on while a cancellation is on its way to it.
    if (cancelling) await cancelling
    clearTimeout(deadline)
    onStop(false)
  }
}

/** Waits for a good-bye, but not for ever: a server that is silent does not say it. */
export async function patiently(ending: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, WAIT_MS)
  await Promise.race([ending, promise]).finally(() => clearTimeout(timer))
}
