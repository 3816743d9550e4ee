/**
 * Which kinds of work were slow the last time. Few of them run at a time, because several take the processors of the
 * database from everybody else.
 *
 * Nobody knows how long work of a new kind takes. The first one of it runs alone for a moment: the others wait until it has
 * ended or turned out to be slow. Otherwise, a caller that sends many slow requests of a new kind at once would have as many
 * processors as it has connections, until the first of them has ended.
 */

export interface SlowKinds {
  isSlow(kind: string): boolean
  /**
   * Undefined for a kind that is known. The first work of another kind is its trial: `onSlow` is called if it has not ended
   * within `TRIAL_MS`. Further work waits for the promise, until either happens.
   */
  trialOf(kind: string, onSlow: () => void): 'first' | Promise<void> | undefined
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
/** The first work of a kind that takes longer counts as slow until it has ended. */
const TRIAL_MS = 100
/** Of slow ones and of quick ones, each. A kind that was forgotten has another trial. */
const MAX_KINDS = 500

interface Trial {
  readonly ended: Promise<void>
  readonly end: () => void
}

export function createSlowKinds(): SlowKinds {
  const slow = new Set<string>()
  const quick = new Set<string>()
  const trials = new Map<string, Trial>()
  const endTrial = (kind: string): void => {
    trials.get(kind)?.end()
    trials.delete(kind)
  }
  return {
    isSlow: (kind) => slow.has(kind),
    trialOf(kind, onSlow) {
      if (slow.has(kind) || quick.has(kind)) return undefined
      const trial = trials.get(kind)
      if (trial) return trial.ended
      const onTimeout = (): void => {
        addBounded(slow, kind)
        onSlow()
        endTrial(kind)
      }
      trials.set(kind, startTrial(onTimeout))
      return 'first'
    },
    note(kind, { elapsedMs, idleMs, wasCancelled }) {
      // While this process is busy, a result lies unread: that does not make the work slow. It does not make it quick
      // either, so a kind that is slow remains so until it was quick by the clock.
      if (wasCancelled || idleMs > SLOW_MS) {
        quick.delete(kind)
        addBounded(slow, kind)
      } else if (elapsedMs <= SLOW_MS || !slow.has(kind)) {
        slow.delete(kind)
        addBounded(quick, kind)
      }
      endTrial(kind)
    },
  }
}

function addBounded(kinds: Set<string>, kind: string): void {
  kinds.add(kind)
  if (kinds.size > MAX_KINDS) kinds.delete(kinds.values().next().value!)
}

function startTrial(onTimeout: () => void): Trial {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(onTimeout, TRIAL_MS)
  timer.unref()
  return {
    ended: promise,
    end() {
      clearTimeout(timer)
      resolve()
    },
  }
}
