/**
 * Checks the credentials of a caller periodically while a response is in progress. A long stream would otherwise
 * outlive the rights that it started with.
 */
import type { Authentication } from '../auth/authentication.ts'
import { ServiceError } from '../base/errors.ts'
import { timerMs } from '../base/work/timer.ts'
import type { Exchange } from './exchange.ts'

/** Calls back once, with the reason, when the caller lost the right to the request. The result ends the watch. */
export type WatchRights = (onGone: (problem: ServiceError) => void) => () => void

/** Watches authenticated callers only: an unauthenticated caller has no credentials that could expire. */
export function watchRights(auth: Authentication, exchange: Exchange): WatchRights {
  if (!auth.isAuthenticated(exchange.caller)) return () => () => undefined
  return (onGone) => watch(auth, exchange, onGone)
}

/** Adds a time limit to a watch, with the same callback. */
export function withDeadline(watch: WatchRights, { ms, advice }: Deadline): WatchRights {
  return (onGone) => {
    const timer = setTimeout(() => {
      endWatch()
      const message = `this has lasted for ${Math.round(ms / 1_000)} s, the longest it may; ${advice}`
      onGone(new ServiceError('store-crud:Timeout', message))
    }, timerMs(ms)).unref()
    const endWatch = watch((problem) => {
      clearTimeout(timer)
      onGone(problem)
    })
    return () => {
      clearTimeout(timer)
      endWatch()
    }
  }
}

interface Deadline {
  readonly ms: number
  /** Part of the error message: how the caller can continue. */
  readonly advice: string
}

interface WatchedWork {
  /** The signal of the exchange. The first call starts the watch, because only long work requests the signal. */
  readonly getSignal: () => AbortSignal
  /** Ends the watch. Returns the reason if the work was aborted by it. */
  readonly end: () => ServiceError | undefined
}

/** Aborts work whose caller loses the right to it, through the same signal as a disconnect. */
export function watchWork(auth: Authentication, exchange: Exchange): WatchedWork {
  let endWatch: (() => void) | undefined
  let gone: ServiceError | undefined
  let isWatched = auth.isAuthenticated(exchange.caller)
  return {
    getSignal() {
      if (isWatched)
        endWatch ??= watch(auth, exchange, (problem) => {
          gone = problem
          exchange.withdraw(problem)
        })
      return exchange.getSignal()
    },
    end() {
      // A stream requests the signal after this; by then the sender of the stream watches the caller.
      isWatched = false
      endWatch?.()
      return gone
    },
  }
}

const PERIOD_MS = 500

/** Throws when the caller lost the right to the request. Returns a promise only for authenticated callers. */
export function recheck(auth: Authentication, exchange: Exchange): void | Promise<void> {
  if (auth.isAuthenticated(exchange.caller)) return recheckLater(auth, exchange)
}

/** A body that takes longer to arrive has its caller checked again. Only a deliberately slow upload takes so long. */
export const TRUSTED_MS = 500

async function recheckLater(auth: Authentication, { request, caller }: Exchange): Promise<void> {
  if (await auth.isStillValid(request, caller)) return
  // throws the exact reason, unless only the rights changed
  await auth.callerOf(request)
  throw noLonger()
}

function watch(
  auth: Authentication,
  { request, caller }: Exchange,
  onGone: (problem: ServiceError) => void,
): () => void {
  let isAsking = false
  const look = async (): Promise<void> => {
    if (isAsking) return
    isAsking = true
    if (await auth.isStillValid(request, caller)) isAsking = false
    else if (!isEnded) {
      clearInterval(timer)
      onGone(noLonger())
    }
  }
  let isEnded = false
  const timer = setInterval(() => void look(), PERIOD_MS).unref()
  return () => {
    isEnded = true
    clearInterval(timer)
  }
}

function noLonger(): ServiceError {
  return new ServiceError('crud:NoAccess', 'the credentials of this request no longer count')
}
