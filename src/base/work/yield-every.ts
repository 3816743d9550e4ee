/** Lets long loops on the main thread yield to other requests. */

/** Await the result in a loop: it yields to the event loop once this much time has passed since it last did. */
export function yieldEvery(milliseconds: number): () => Promise<void> | undefined {
  let until = performance.now() + milliseconds
  return () => {
    if (performance.now() < until) return undefined
    return new Promise((resolve) => {
      setImmediate(() => {
        until = performance.now() + milliseconds
        resolve()
      })
    })
  }
}
