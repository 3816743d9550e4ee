/** Long loops on the main thread that let other requests have their turn. */

/** To be awaited in a loop: lets the event loop go round whenever that much time has passed since it last did. */
export function restEvery(milliseconds: number): () => Promise<void> | undefined {
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
