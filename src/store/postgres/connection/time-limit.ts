/** Bounds work on a connection: it is cancelled at its time limit, or when its caller has disconnected. */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { callerLeft, timedOut } from '../../../base/work/work.ts'
import type { Bounds } from '../../bounds.ts'
import { AbandonedError, StoppedError, isCancelled, isLost } from './failures.ts'
import { backendOf, breakOff } from './driver.ts'

/** A server that should respond at once and is silent for this long counts as lost. */
export const WAIT_MS = 5_000

const CANCEL_AGAIN_MS = 50

interface Bounding {
  readonly bounds: Bounds
  readonly cancel: (backend: number) => Promise<void>
  /** Called with true when no further statement may start, and with false when that is over. */
  readonly onStop: (isStopped: boolean) => void
}

/** Cancels the running statement at the time limit, or when the caller has disconnected. */
export async function bounded<T>(
  client: pg.PoolClient,
  { bounds, cancel, onStop }: Bounding,
  work: () => Promise<T>,
): Promise<T> {
  const signal = bounds.getSignal?.()
  if (signal?.aborted) throw callerLeft()
  let cancelling: Promise<void> | undefined
  const backend = backendOf(client)
  let onGivenUp = (): void => undefined
  let deadline: NodeJS.Timeout | undefined
  let isGivenUp = false
  let isOver = false
  // If the server does not react to the cancellation, the socket is destroyed, and the running statement
  // fails.
  const giveUp = (): void => {
    isGivenUp = true
    breakOff(client)
    onGivenUp()
  }
  /** Repeats the cancellation, because several statements may be in flight and each one ends only the running one. */
  const cancelAll = async (): Promise<void> => {
    for (;;) {
      await cancel(backend).catch(() => undefined)
      if (isOver || isGivenUp) return
      await sleep(CANCEL_AGAIN_MS)
    }
  }
  const stop = (): void => {
    // First of all: the backend may be idle between two statements, and then there is nothing to cancel.
    onStop(true)
    deadline ??= setTimeout(giveUp, WAIT_MS)
    cancelling ??= Promise.race([cancelAll(), new Promise<void>((resolve) => (onGivenUp = resolve))])
  }
  const { timeLimitMs } = bounds
  const timer = setTimeout(stop, timeLimitMs)
  signal?.addEventListener('abort', stop)
  try {
    return await work()
  } catch (error) {
    if (isGivenUp && isLost(error)) throw new AbandonedError('the server does not react', { cause: error })
    if (!cancelling || !(isCancelled(error) || error instanceof StoppedError)) throw error
    throw signal?.aborted ? callerLeft() : timedOut(bounds.work?.timeLimitMs ?? timeLimitMs)
  } finally {
    isOver = true
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
    // The connection must not go back to the pool while a cancellation is on its way to it.
    if (cancelling) await cancelling
    clearTimeout(deadline)
    onStop(false)
  }
}

/** Waits for a connection to end, but not for ever: a silent server never confirms it. */
export async function untilEnded(ending: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, WAIT_MS)
  await Promise.race([ending, promise]).finally(() => clearTimeout(timer))
}
