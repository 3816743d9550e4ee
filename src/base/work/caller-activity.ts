/** Which callers were recently active. Slow work of one caller takes less of the database while others use it. */

interface CallerActivity {
  note(caller: string): void
  /** Whether anybody else recently sent a request. */
  isAnotherActive(caller: string): boolean
}

/** Longer than the pauses of a client that is waiting for answers. */
const ACTIVE_MS = 1_000

export function createCallerActivity(now: () => number = () => performance.now()): CallerActivity {
  // Two callers are enough: one of them is somebody else.
  let latest = { caller: '', atMs: -Infinity }
  let before = latest
  return {
    note(caller) {
      if (caller !== latest.caller) before = latest
      latest = { caller, atMs: now() }
    },
    isAnotherActive(caller) {
      const other = latest.caller === caller ? before : latest
      return now() - other.atMs < ACTIVE_MS
    },
  }
}
