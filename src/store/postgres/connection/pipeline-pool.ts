/**
 * A fixed number of pipelines, leased when several finds run at once. A pipeline that delays its statements
 * is released, and they are repeated on other connections.
 */
import { type LeasedPipeline, MAX_HEAD_MS, type Pipeline } from './pipeline.ts'

interface PipelinePool extends Disposable {
  /**
   * The pipeline with the fewest statements; undefined when all are full. Opens pipelines when enough finds
   * run on connections of their own.
   */
  pipelineFor(aloneInFlight: number): Pipeline | undefined
  /** Releases late, broken and old pipelines. A timer calls it as long as there are pipelines. */
  check(): void
}

interface PoolOptions {
  readonly lease: () => Promise<LeasedPipeline>
  readonly now?: () => number
  readonly checkEveryMs?: number
}

interface Member extends LeasedPipeline {
  readonly since: number
  /** The value of `answered` when the head was last seen to be late. */
  lateAfter: number
}

/**
 * Per process. One backend of PostgreSQL executes quick statements about as fast as one process can send
 * them. There are two, so that a statement of a few milliseconds does not delay all others.
 */
export const PIPELINES = 2

/** With fewer concurrent finds there is nothing to send together. */
const MIN_CONCURRENT = 2

/** Bounds the wait behind other statements. Further ones run in parallel on connections of their own. */
const MAX_IN_FLIGHT = 128

/**
 * Statements stay prepared as long as their connection lives, and the driver's pool replaces old connections
 * only between leases.
 */
const LEASE_MS = 10_000

const AFTER_FAILURE_MS = 1_000

/**
 * A late pipeline means that the server has no processor left for quick statements. Then a new connection takes long,
 * and its statements would be late again: finds run on the connections that are there.
 */
const AFTER_LATE_MS = 5_000

export function createPipelinePool({
  lease,
  now = () => performance.now(),
  checkEveryMs = MAX_HEAD_MS,
}: PoolOptions): PipelinePool {
  let members: readonly Member[] = []
  let opening = 0
  let isClosed = false
  let closedUntil = -Infinity
  let timer: NodeJS.Timeout | undefined

  async function open(): Promise<void> {
    opening++
    try {
      add(await lease())
    } catch {
      // A find on a connection of its own reports the reason.
      closedUntil = now() + AFTER_FAILURE_MS
    } finally {
      opening--
    }
  }

  function add(leased: LeasedPipeline): void {
    if (isClosed) return leased.release()
    members = [...members, { ...leased, since: now(), lateAfter: -1 }]
    timer ??= setInterval(check, checkEveryMs).unref()
  }

  function release(member: Member): void {
    members = members.filter((each) => each !== member)
    member.release()
    if (members.length > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function check(): void {
    for (const member of members) {
      const { isBroken, inFlight } = member.pipeline
      const isTooLate = isLate(member)
      if (isTooLate) closedUntil = now() + AFTER_LATE_MS
      if (isTooLate || isBroken || (inFlight === 0 && isOld(member))) release(member)
    }
  }

  /** An old pipeline accepts no more statements, and is released after its last result. */
  function isOld({ since }: Member): boolean {
    return now() - since > LEASE_MS
  }

  /**
   * Late at two checks without a result in between. At the first check the result may be unread because this
   * process was busy; it is read before the second check.
   */
  function isLate(member: Member): boolean {
    const { inFlight, headSince, answered } = member.pipeline
    if (inFlight === 0 || now() - headSince <= MAX_HEAD_MS) return false
    const wasLate = member.lateAfter === answered
    member.lateAfter = answered
    return wasLate
  }

  function openAll(): void {
    if (now() < closedUntil) return
    for (let i = members.length + opening; i < PIPELINES; i++) void open()
  }

  return {
    check,
    pipelineFor(aloneInFlight) {
      if (aloneInFlight >= MIN_CONCURRENT) openAll()
      let best: Pipeline | undefined
      for (const member of members) {
        const { pipeline } = member
        if (isOld(member) || pipeline.isBroken || pipeline.inFlight >= MAX_IN_FLIGHT) continue
        if (!best || pipeline.inFlight < best.inFlight) best = pipeline
      }
      return best
    },
    [Symbol.dispose]() {
      isClosed = true
      members.forEach(release)
    },
  }
}
