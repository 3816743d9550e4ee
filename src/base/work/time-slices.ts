/** Lets long work of many callers share the main thread with everybody else; `yieldEvery` is for a single loop. */

/**
 * Await the result between two pieces of work. Once the slice is used up, the work waits in a queue, and each turn of the event
 * loop gives a new slice to the first in the queue. However long the queue is, other requests wait for one slice only.
 */
export function createTimeSlices(
  sliceMs: number,
  now: () => number = () => performance.now(),
): () => Promise<void> | undefined {
  const waiting: (() => void)[] = []
  let until = -Infinity
  const proceed = (): void => {
    until = now() + sliceMs
    waiting.shift()!()
    if (waiting.length > 0) setImmediate(proceed)
  }
  return () => {
    if (now() < until) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    if (waiting.push(resolve) === 1) setImmediate(proceed)
    return promise
  }
}
