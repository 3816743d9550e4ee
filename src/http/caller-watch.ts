/** Looks again and again whether who asked may still ask, for as long as an answer is under way. */
import type { Authentication } from '../auth/authentication.ts'
import { ServiceError } from '../base/errors.ts'
import { timerMs } from '../base/work/timer.ts'
import type { Exchange } from './exchange.ts'

/** Calls back once, with why who asked may not ask any more; the result ends the watch. */
export type WatchRights = (onGone: (problem: ServiceError) => void) => () => void

/** Whoever only says who they are can lose nothing. */
export function watchRights(auth: Authentication, exchange: Exchange): WatchRights {
  if (!auth.isAuthenticated(exchange.caller)) return () => () => undefined
  return (onGone) => watch(auth, exchange, onGone)
}

/** The same, and calls back when a time has passed as well. */
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
  /** How to go on. */
  readonly advice: string
}

export interface WatchedWork {
  /** The signal of the exchange; whoever asks for it works so long that the caller is watched from then on. */
  readonly getSignal: () => AbortSignal
  /** Why the work was ended before its time; undefined when it was not. */
  readonly end: () => ServiceError | undefined
}

/** Work whose caller loses the right to it is ended as if they had hung up. */
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
      // A stream asks for the signal after this; from then on its sender watches the caller.
      isWatched = false
      endWatch?.()
      return gone
    },
  }
}

const PERIOD_MS = 500

/** Fails when whoever asked may not ask any more; a promise only where finding out takes one. */
export function recheck(auth: Authentication, exchange: Exchange): void | Promise<void> {
  if (auth.isAuthenticated(exchange.caller)) return recheckLater(auth, exchange)
}

/** Asked again after so long, which nobody needs to send a body unless they want to. */
export const TRUSTED_MS = 500

async function recheckLater(auth: Authentication, { request, caller }: Exchange): Promise<void> {
  if (await auth.isStillValid(request, caller)) return
  // says why, unless only the rights changed
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
