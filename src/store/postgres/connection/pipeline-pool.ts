/** Keeps as many shared connections as are worth it, and none that keeps its statements waiting. */
import { type Pipeline, type LeasedPipeline, MAX_PIPELINES } from './pipeline.ts'
import { NEVER_QUICK_MS, type StatementLatencies } from './statement-latency.ts'

interface PipelinePool extends Disposable {
  /** The least busy one; undefined when there is none that could take more. */
  pipelineFor(aloneUnderWay: number): Pipeline | undefined
  /** To be done every now and then while there are any. */
  lookAfter(): void
}

interface Keeping {
  readonly lease: () => Promise<LeasedPipeline>
  readonly latencies: StatementLatencies
  readonly now?: () => number
  /** Share of the time since it was last asked for in which this process had nothing to do. */
  readonly idleShare?: () => number
}

interface Held extends LeasedPipeline {
  readonly since: number
  usedAt: number
  /** Nothing more is put on it. */
  isLeaving: boolean
  /** How many were answered when it was last late. */
  lateAfter: number
}

const MAX_UNDER_WAY = 512

/** With fewer finds at once there is nothing to share. */
const WORTH_SHARING = 2

/** With more of its time idle, this process waits for the server; with less, the server waits for this process. */
const WAITING_SHARE = 0.3
const BUSY_SHARE = 0.1

/** While this process waits for the server, what takes longer had better run on as many connections as there are. */
const MAX_WHILE_WAITING_MS = 2

/** For a statement, however soon each of those before it is answered. */
const MAX_WAIT_MS = 1_000

const IDLE_MS = 1_000
const LIFETIME_MS = 60_000
const AFTER_FAILURE_MS = 1_000

export function createPipelinePool({
  lease,
  latencies,
  now = clock,
  idleShare = measureIdle(),
}: Keeping): PipelinePool {
  let pipelines: readonly Held[] = []
  let isOpening = false
  let isClosed = false
  let failedAt = -Infinity
  let watch: NodeJS.Timeout | undefined

  async function open(): Promise<void> {
    if (isOpening || isClosed || now() - failedAt < AFTER_FAILURE_MS) return
    isOpening = true
    try {
      hold(await lease())
    } catch {
      // Whoever asks for a connection of their own is told why there is none.
      failedAt = now()
    } finally {
      isOpening = false
    }
  }

  function hold(leased: LeasedPipeline): void {
    if (isClosed) return leased.release()
    pipelines = [...pipelines, { ...leased, since: now(), usedAt: now(), isLeaving: false, lateAfter: -1 }]
    watch ??= setInterval(lookAfter, NEVER_QUICK_MS).unref()
  }

  function letGo(held: Held): void {
    pipelines = pipelines.filter((each) => each !== held)
    held.release()
    if (pipelines.length > 0) return
    clearInterval(watch)
    watch = undefined
  }

  function lookAfter(): void {
    adapt(idleShare())
    for (const held of pipelines) {
      const { pipeline, since, usedAt } = held
      held.isLeaving ||= now() - since > LIFETIME_MS || now() - usedAt > IDLE_MS
      const isDone = held.isLeaving && pipeline.underWay === 0
      if (pipeline.isBroken || isDone || isLate(held)) letGo(held)
    }
  }

  /** Seen twice without an answer in between: the first time, only this process may have been late to read it. */
  function isLate(held: Held): boolean {
    const { underWay, headSince, headAskedAt, answered } = held.pipeline
    if (underWay === 0) return false
    if (now() - headAskedAt > MAX_WAIT_MS) return true
    if (now() - headSince <= NEVER_QUICK_MS) return false
    const wasLate = held.lateAfter === answered
    held.lateAfter = answered
    return wasLate
  }

  /** As few as keep this process busy: the fewer there are, the more goes together. */
  function adapt(idle: number): void {
    if (idle < BUSY_SHARE && pipelines.length > 1) pipelines.at(-1)!.isLeaving = true
    if (idle < WAITING_SHARE || !pipelines.every(({ pipeline }) => pipeline.underWay >= WORTH_SHARING)) return
    if (pipelines.length < MAX_PIPELINES) void open()
    else latencies.excludeSlower(MAX_WHILE_WAITING_MS)
  }

  return {
    lookAfter,
    pipelineFor(aloneUnderWay) {
      if (pipelines.length === 0 && aloneUnderWay >= WORTH_SHARING) void open()
      let best: Held | undefined
      for (const held of pipelines) {
        const { pipeline, isLeaving } = held
        if (isLeaving || pipeline.isBroken || pipeline.underWay >= MAX_UNDER_WAY) continue
        if (!best || pipeline.underWay < best.pipeline.underWay) best = held
      }
      if (best) best.usedAt = now()
      return best?.pipeline
    },
    [Symbol.dispose]() {
      isClosed = true
      pipelines.forEach(letGo)
    },
  }
}

const clock = (): number => performance.now()

function measureIdle(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const before = last
    last = performance.eventLoopUtilization()
    return 1 - performance.eventLoopUtilization(last, before).utilization
  }
}
