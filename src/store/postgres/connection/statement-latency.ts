/** Which kinds of statements may be pipelined: by what earlier ones of the same kind took. */
import { evictFirst } from '../../../base/memo.ts'

/** Of one kind of statement that may be pipelined. */
export interface Latency {
  /** How long this process waited for an answer, with the statement at the head of its pipeline. */
  readonly note: (waitedMs: number) => void
  /** Keeps the kind off the pipelines for a while. */
  readonly exclude: () => void
}

interface StatementLatencies {
  /** Undefined for kinds that are to run on connections of their own. */
  pipelinable(kind: string): Latency | undefined
  /** How long this process waited for an answer on a connection that had nothing else to do. */
  noteAlone(kind: string, waitedMs: number): void
}

/**
 * Statements behind this one wait for it. Above this mean, parallel connections are worth more than the round trips
 * that a pipeline saves.
 */
const MAX_MEAN_MS = 2
const SMOOTHING = 16

/**
 * A longer wait counts as this one. On a busy machine the process or the server is interrupted for many milliseconds, and
 * a batch is answered after one long wait and several short ones: only a kind of which half are slow is excluded.
 */
const MAX_COUNTED_MS = 2 * MAX_MEAN_MS

/** More than the mean, because statements on many connections at once wait for each other on the server. */
const MAX_ALONE_MS = 25

/** After a mean that was too high: it may have been the machine, and to try again costs a few slow statements. */
const RETRY_MS = 1_000

/** After a statement that failed, or that stopped a pipeline: to try again may cost all others in it their time. */
const EXCLUDED_MS = 5_000

const MAX_KINDS = 500

interface Known extends Latency {
  readonly isQuick: () => boolean
  readonly noteAlone: (waitedMs: number) => void
}

export function createStatementLatencies(now: () => number = () => performance.now()): StatementLatencies {
  const known = new Map<string, Known>()
  return {
    pipelinable(kind) {
      const found = known.get(kind)
      return found?.isQuick() ? found : undefined
    },
    noteAlone(kind, waitedMs) {
      const found = known.get(kind)
      if (found) found.noteAlone(waitedMs)
      else if (waitedMs <= MAX_ALONE_MS) known.set(kind, createKnown(now))
      evictFirst(known, MAX_KINDS)
    },
  }
}

function createKnown(now: () => number): Known {
  let meanMs = 0
  let wasQuickAlone = true
  let excludedUntil = -Infinity
  const isExcluded = (): boolean => now() < excludedUntil
  const excludeFor = (ms: number): void => {
    excludedUntil = Math.max(excludedUntil, now() + ms)
    meanMs = 0
  }
  return {
    exclude: () => excludeFor(EXCLUDED_MS),
    note(waitedMs) {
      // Statements that were in flight when the kind was excluded.
      if (isExcluded()) return
      meanMs += (Math.min(waitedMs, MAX_COUNTED_MS) - meanMs) / SMOOTHING
      if (meanMs > MAX_MEAN_MS) excludeFor(RETRY_MS)
    },
    noteAlone(waitedMs) {
      wasQuickAlone = waitedMs <= MAX_ALONE_MS
    },
    isQuick: () => wasQuickAlone && !isExcluded(),
  }
}
