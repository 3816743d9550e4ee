/** Wakes a waiting loop. A ring while nothing waits is remembered and wakes the next wait. */

interface WakeSignal {
  ring(): void
  /**
   * Resolves on a ring or after the limit. It always yields to the event loop, even when it resolves at once.
   */
  wait(limitMs: number): Promise<void>
}

export function createWakeSignal(): WakeSignal {
  let isRung = false
  let wake: (() => void) | undefined
  return {
    ring() {
      isRung = true
      wake?.()
    },
    async wait(limitMs) {
      await new Promise<void>((resolve) => {
        if (isRung || limitMs <= 0) return void setImmediate(resolve)
        const timer = setTimeout(resolve, limitMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      wake = undefined
      isRung = false
    },
  }
}
