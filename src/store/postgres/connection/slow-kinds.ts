/**
 * Which kinds of work were slow the last time. Few of them run at a time, because several take the processors of the
 * database from everybody else.
 *
 * Nobody knows how long work of a new kind takes. The first work of a kind is its trial: the rest waits until it has ended or
 * turned out to be slow. Otherwise, a caller that sends many slow requests of a new kind at once would have as many
 * processors as it has connections, until the first of them has ended.
 */

export interface SlowKinds {
  isSlow(kind: string): boolean
  /** Undefined for a kind that is known; `first` for the trial of another one. Further work waits for the promise. */
  trialOf(kind: string): 'first' | Promise<void> | undefined
  /** The trial runs from now on. `onSlow` is called when it turns out to be slow, before the rest of its kind goes on. */
  startTrial(kind: string, onSlow: () => void): void
  /** The trial is over, whether it ran or not. */
  endTrial(kind: string): void
  note(kind: string, duration: Duration): void
}

export interface Duration {
  /** From begin to end. */
  readonly elapsedMs: number
  /** The part of it in which this process had nothing to do but wait. */
  readonly idleMs: number
  /** Whether it was cancelled, at its time limit for example: nobody knows how long it would have taken. */
  readonly wasCancelled: boolean
}

const SLOW_MS = 250
/** A trial that takes longer makes its kind slow until it has ended. */
const TRIAL_MS = 100
const MAX_SLOW_KINDS = 500
/** A kind that was forgotten has another trial. */
const MAX_QUICK_KINDS = 5_000

interface Trial {
  readonly ended: Promise<void>
  readonly end: () => void
  timer?: NodeJS.Timeout
}

export function createSlowKinds(): SlowKinds {
  const slow = new Set<string>()
  const quick = new Set<string>()
  const trials = new Map<string, Trial>()
  const endTrial = (kind: string): void => {
    const trial = trials.get(kind)
    clearTimeout(trial?.timer)
    trial?.end()
    trials.delete(kind)
  }
  return {
    isSlow: (kind) => slow.has(kind),
    trialOf(kind) {
      if (slow.has(kind)) return undefined
      if (quick.has(kind)) {
        addBounded(quick, kind, MAX_QUICK_KINDS)
        return undefined
      }
      const trial = trials.get(kind)
      if (trial) return trial.ended
      const { promise, resolve } = Promise.withResolvers<void>()
      trials.set(kind, { ended: promise, end: resolve })
      return 'first'
    },
    startTrial(kind, onSlow) {
      const trial = trials.get(kind)
      if (!trial) return
      const before = performance.eventLoopUtilization()
      const check = (): void => {
        // While this process is busy, a result lies unread.
        const waitedMs = performance.eventLoopUtilization(before).idle
        if (waitedMs < TRIAL_MS) return wait(TRIAL_MS - waitedMs)
        addBounded(slow, kind, MAX_SLOW_KINDS)
        onSlow()
        endTrial(kind)
      }
      const wait = (ms: number): void => {
        trial.timer = setTimeout(check, Math.max(1, ms)).unref()
      }
      wait(TRIAL_MS)
    },
    endTrial,
    note(kind, { elapsedMs, idleMs, wasCancelled }) {
      // A result that lies unread does not make the work slow. It does not make it quick either, so a kind that is slow
      // remains so until it was quick by the clock.
      if (wasCancelled || idleMs > SLOW_MS) {
        quick.delete(kind)
        addBounded(slow, kind, MAX_SLOW_KINDS)
      } else if (elapsedMs <= SLOW_MS || !slow.has(kind)) {
        slow.delete(kind)
        addBounded(quick, kind, MAX_QUICK_KINDS)
      }
      endTrial(kind)
    },
  }
}

/** The latest ones are kept. */
function addBounded(kinds: Set<string>, kind: string, max: number): void {
  kinds.delete(kind)
  kinds.add(kind)
  if (kinds.size > max) kinds.delete(kinds.values().next().value!)
}
