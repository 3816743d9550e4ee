/** Looks again and again whether who asked may still ask, for as long as an answer is under way. */
import type { Authentication } from '../auth/authentication.ts'
import { ServiceError } from '../base/errors.ts'
import type { Exchange } from './exchange.ts'
import { contextOf } from './failure.ts'

/** Calls back once, with the last line of the stream; the result ends the watch. */
export type WatchCaller = (onGone: (line: string) => void) => () => void

export function watchCaller(auth: Authentication, exchange: Exchange): WatchCaller {
  const { request, caller } = exchange
  return (onGone) => {
    let isAsking = false
    const look = async (): Promise<void> => {
      if (isAsking) return
      isAsking = true
      if (await auth.stillCounts(request, caller)) isAsking = false
      else {
        clearInterval(timer)
        onGone(lastLine(exchange))
      }
    }
    const timer = setInterval(() => void look(), PERIOD_MS).unref()
    return () => clearInterval(timer)
  }
}

const PERIOD_MS = 500

function lastLine(exchange: Exchange): string {
  const problem = new ServiceError('crud:NoAccess', 'the credentials of this request no longer count')
  const errors = [problem.within(contextOf(exchange)).toObject()]
  return JSON.stringify({ last: true, status: 'ERROR', matchCount: 0, errors })
}
