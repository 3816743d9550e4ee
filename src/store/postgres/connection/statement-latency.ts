/** Which finds are quick enough to share a connection: those that were, the last times they ran. */

/** Of one kind of find. */
export interface Latency {
  /** What a statement of it took on a shared connection. */
  readonly note: (ms: number) => void
  /** Not to be shared for a while. */
  readonly exclude: () => void
}

export interface StatementLatencies {
  /** Undefined for what is not known to be quick. */
  quick(kind: string): Latency | undefined
  /** Whether it took so long the last time that many of them would keep the database from everything else. */
  isSlow(kind: string): boolean
  /** How long it was waited for on a connection of its own. */
  noteAlone(kind: string, ms: number): void
  /** Excludes whatever takes longer than that on the average. */
  excludeSlower(ms: number): void
}

/** Nothing is shared that takes longer, however much of that may be the way to the server. */
export const NEVER_QUICK_MS = 50

/** Less, because only a part of what it takes may be waited for. */
const MAX_ALONE_MS = 25

/** Several of these at a time take a database's processors from everybody else. */
const SLOW_MS = 250

/** Others wait behind it. */
const MAX_ON_AVERAGE_MS = 5
const SMOOTHING = 16

/** One long wait says little: this process may have been busy meanwhile. */
const MAX_COUNTED_MS = 20

/** At first, for it may not have been its fault; twice as long each time that it comes again soon. */
const EXCLUDED_MS = 1_000
const LONGEST_EXCLUDED_MS = 60_000
const SOON = 10
const MAX_KINDS = 500

interface Known extends Latency {
  readonly average: () => number
  readonly isExcluded: () => boolean
  /** Shares again, if its time has come. */
  readonly readmit: () => void
}

export function createStatementLatencies(now: () => number = () => performance.now()): StatementLatencies {
  const known = new Map<string, Known>()
  const slow = new Set<string>()
  return {
    isSlow: (kind) => slow.has(kind),
    quick(kind) {
      const found = known.get(kind)
      return found?.isExcluded() === false ? found : undefined
    },
    noteAlone(kind, ms) {
      if (ms > SLOW_MS) slow.add(kind)
      else slow.delete(kind)
      if (slow.size > MAX_KINDS) slow.delete(slow.values().next().value!)
      const found = known.get(kind)
      if (ms > MAX_ALONE_MS) found?.exclude()
      else if (found) found.readmit()
      else {
        known.set(kind, createKnown(now))
        if (known.size > MAX_KINDS) known.delete(known.keys().next().value!)
      }
    },
    excludeSlower(ms) {
      for (const each of known.values()) if (each.average() > ms) each.exclude()
    },
  }
}

function createKnown(now: () => number): Known {
  let average = 0
  let isExcluded = false
  let excludedMs = 0
  let until = -Infinity
  const exclude = (): void => {
    if (isExcluded) return
    isExcluded = true
    const isSoon = now() < until + SOON * excludedMs
    excludedMs = isSoon ? Math.min(2 * excludedMs, LONGEST_EXCLUDED_MS) : EXCLUDED_MS
    until = now() + excludedMs
  }
  return {
    exclude,
    note(ms) {
      average += (Math.min(ms, MAX_COUNTED_MS) - average) / SMOOTHING
      if (average > MAX_ON_AVERAGE_MS) exclude()
    },
    readmit() {
      if (!isExcluded || now() < until) return
      isExcluded = false
      average = 0
    },
    average: () => average,
    isExcluded: () => isExcluded,
  }
}
