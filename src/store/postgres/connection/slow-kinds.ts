/**
 * Which kinds of work were slow the last time. Few of them run at a time, because several take the processors of the
 * database from everybody else.
 */

export interface SlowKinds {
  isSlow(kind: string): boolean
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
const MAX_KINDS = 500

export function createSlowKinds(): SlowKinds {
  const slow = new Set<string>()
  return {
    isSlow: (kind) => slow.has(kind),
    note(kind, { elapsedMs, idleMs, wasCancelled }) {
      // While this process is busy, a result lies unread: that does not make the work slow. It does not make it quick
      // either, so a kind that is slow remains so until it was quick by the clock.
      if (wasCancelled || idleMs > SLOW_MS) slow.add(kind)
      else if (elapsedMs <= SLOW_MS) slow.delete(kind)
      if (slow.size > MAX_KINDS) slow.delete(slow.values().next().value!)
    },
  }
}
