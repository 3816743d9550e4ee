/** A fixed number of pipelines, leased when several finds run at once, and dropped when one keeps its statements waiting. */
import { type LeasedPipeline, MAX_HEAD_MS, type Pipeline } from './pipeline.ts'

interface PipelinePool extends Disposable {
  /** The pipeline with the fewest statements; undefined when none can take more. */
  pipelineFor(aloneInFlight: number): Pipeline | undefined
  /** Releases what is late, broken or old; runs by itself as long as there are pipelines. */
  check(): void
}

interface PoolOptions {
  readonly lease: () => Promise<LeasedPipeline>
  readonly now?: () => number
  readonly checkEveryMs?: number
}

interface Member extends LeasedPipeline {
  readonly since: number
  /** How many were answered when its head was first seen to be late. */
  lateAfter: number
}

/**
 * Of each process. One backend of PostgreSQL answers quick statements about as fast as one process of ours can ask for
 * them; more than one, so that a statement of a few milliseconds does not stop all others.
 */
export const PIPELINES = 2

/** With fewer finds at once there is nothing to send together. */
const MIN_CONCURRENT = 2

/** Bounds the wait behind others; further statements run on connections of their own, in parallel. */
const MAX_IN_FLIGHT = 128

/** Statements stay prepared as long as their connection is leased, and only the driver's pool replaces old ones. */
const LEASE_MS = 10_000

const AFTER_FAILURE_MS = 1_000

export function createPipelinePool({
  lease,
  now = () => performance.now(),
  checkEveryMs = MAX_HEAD_MS,
}: PoolOptions): PipelinePool {
  let members: readonly Member[] = []
  let opening = 0
  let isClosed = false
  let failedAt = -Infinity
  let timer: NodeJS.Timeout | undefined

  async function open(): Promise<void> {
    opening++
    try {
      add(await lease())
    } catch {
      // A find that needs a connection of its own reports why there is none.
      failedAt = now()
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
      if (isBroken || (inFlight === 0 && isOld(member)) || isLate(member)) release(member)
    }
  }

  /** It takes no more statements, and is released when it has answered the last one. */
  function isOld({ since }: Member): boolean {
    return now() - since > LEASE_MS
  }

  /**
   * Seen twice without an answer in between. The first time, the answer may lie unread because this process was busy;
   * it is read before the second time.
   */
  function isLate(member: Member): boolean {
    const { inFlight, headSince, answered } = member.pipeline
    if (inFlight === 0 || now() - headSince <= MAX_HEAD_MS) return false
    const wasLate = member.lateAfter === answered
    member.lateAfter = answered
    return wasLate
  }

  function openAll(): void {
    if (now() - failedAt < AFTER_FAILURE_MS) return
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
