/**
 * Spreads requests over iterations of the event loop while clients connect. Node accepts one new connection per
 * iteration, and before that reads all others: while sixty-four clients each cause a millisecond of work, a new one would
 * wait for dozens of such iterations.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

/** Handles a request that arrived at a time of `performance.now()`. */
type Begin = (request: IncomingMessage, response: ServerResponse, arrivedAt: number) => void

interface Iteration {
  readonly beganAt: number
  /** Waiting requests that it has started. */
  started: number
}

interface Spread {
  /** Starts a request at once while the iteration is young, and otherwise in a later one, in the order of arrival. */
  readonly receive: RequestListener
  /** To be called for each new connection: others may wait behind it, and iterations are short for a while. */
  readonly connected: () => void
}

/** Where nobody connects, long iterations are better: requests that start together share statements and transactions. */
export function spreadOverIterations(begin: Begin): Spread {
  const waiting: Parameters<Begin>[] = []
  let next = 0
  let iteration: Iteration | undefined
  let shortUntil = 0
  const isOver = ({ beganAt }: Iteration, now = performance.now()): boolean =>
    now - beganAt > (now < shortUntil ? SHORT_MS : LONG_MS)

  const beginIteration = (): Iteration => {
    setImmediate(endIteration)
    return { beganAt: performance.now(), started: 0 }
  }
  const endIteration = (): void => {
    iteration = undefined
    if (next === waiting.length) return
    // Each in a callback of its own: its promises are settled before the next one starts, so that their time counts.
    const count = Math.min(waiting.length - next, MAX_STARTED)
    for (let i = 0; i < count; i++) setImmediate(beginNext)
    iteration = beginIteration()
  }
  const beginNext = (): void => {
    // One is started even if responses of the store took all of the iteration.
    if (next === waiting.length || (iteration && iteration.started > 0 && isOver(iteration))) return
    const [request, response, arrivedAt] = waiting[next++]!
    if (next === waiting.length || next >= COMPACT_AT) {
      waiting.splice(0, next)
      next = 0
    }
    if (iteration) iteration.started++
    begin(request, response, arrivedAt)
  }
  return {
    receive(request, response) {
      iteration ??= beginIteration()
      const arrivedAt = performance.now()
      if (waiting.length > next || isOver(iteration, arrivedAt)) waiting.push([request, response, arrivedAt])
      else begin(request, response, arrivedAt)
    },
    connected() {
      shortUntil = performance.now() + CONNECTING_MS
    },
  }
}

const SHORT_MS = 2
const LONG_MS = 5
/** Longer than a long iteration, in which the next connection may have waited. */
const CONNECTING_MS = 100
/** Short requests fill an iteration long before its end. */
const MAX_STARTED = 64
const COMPACT_AT = 1_024
