/** Wakes whoever waits; rung while nobody waits, it wakes the next one. */

export interface WakeSignal {
  ring(): void
  /** Until it rings, or until so much time is over; in any case others have their turn. */
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
