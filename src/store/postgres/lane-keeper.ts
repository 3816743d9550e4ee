/** Keeps as many shared connections as are worth it, and none that keeps its statements waiting. */
import type { Lane } from './lane.ts'
import { NEVER_QUICK_MS, type Paces } from './paces.ts'

export interface LeasedLane {
  readonly lane: Lane
  /** With what is still under way on it, which fails. */
  readonly release: () => void
}

interface LaneKeeper extends Disposable {
  /** The least busy one; undefined when there is none that could take more. */
  laneFor(aloneUnderWay: number): Lane | undefined
}

interface Held extends LeasedLane {
  readonly since: number
  usedAt: number
  /** Nothing more is put on it. */
  isLeaving: boolean
}

/** Of each process. */
export const MOST_LANES = 4
const MOST_UNDER_WAY = 64

/** With fewer finds at once there is nothing to share. */
const SEVERAL = 2

/** Share of its time in which this process has nothing to do: above, the server is what all wait for, below this is. */
const WAITING = 0.3
const BUSY = 0.1

/** What takes longer where all wait for the server had better run on as many connections as there are. */
const MOST_WHILE_WAITING_MS = 1

const IDLE_MS = 1_000
const LIFETIME_MS = 60_000
const AFTER_FAILURE_MS = 1_000

export function keepLanes(lease: () => Promise<LeasedLane>, paces: Paces): LaneKeeper {
  let lanes: readonly Held[] = []
  let isOpening = false
  let isClosed = false
  let failedAt = -Infinity
  let utilization = performance.eventLoopUtilization()
  let watch: NodeJS.Timeout | undefined

  async function open(): Promise<void> {
    if (isOpening || isClosed || lanes.length === MOST_LANES) return
    if (performance.now() - failedAt < AFTER_FAILURE_MS) return
    isOpening = true
    try {
      hold(await lease())
    } catch {
      // Whoever asks for a connection of their own is told why there is none.
      failedAt = performance.now()
    } finally {
      isOpening = false
    }
  }

  function hold(leased: LeasedLane): void {
    if (isClosed) return leased.release()
    const now = performance.now()
    lanes = [...lanes, { ...leased, since: now, usedAt: now, isLeaving: false }]
    watch ??= setInterval(lookAfter, NEVER_QUICK_MS).unref()
  }

  function letGo(held: Held): void {
    lanes = lanes.filter((each) => each !== held)
    held.release()
    if (lanes.length > 0) return
    clearInterval(watch)
    watch = undefined
  }

  function lookAfter(): void {
    adapt(idleShare())
    const now = performance.now()
    for (const held of lanes) {
      const { lane, since, usedAt, isLeaving } = held
      const isDone = isLeaving || now - usedAt > IDLE_MS || now - since > LIFETIME_MS
      if (lane.isBroken || (lane.underWay === 0 && isDone)) letGo(held)
      else if (lane.underWay > 0 && now - lane.headSince > NEVER_QUICK_MS) letGoUnlessAnswered(held)
      else if (now - since > LIFETIME_MS) held.isLeaving = true
    }
  }

  /** The answer may be here already, and only this process late to read it. */
  function letGoUnlessAnswered(held: Held): void {
    const { answered } = held.lane
    setImmediate(() => {
      if (held.lane.answered === answered && lanes.includes(held)) letGo(held)
    })
  }

  /** As few as keep this process busy: the fewer there are, the more goes together. */
  function adapt(idle: number): void {
    if (idle < BUSY && lanes.length > 1) lanes.at(-1)!.isLeaving = true
    if (idle < WAITING || !lanes.every(({ lane }) => lane.underWay >= SEVERAL)) return
    if (lanes.length < MOST_LANES) void open()
    else paces.excludeSlower(MOST_WHILE_WAITING_MS)
  }

  /** Of the time since it was last asked for. */
  function idleShare(): number {
    const before = utilization
    utilization = performance.eventLoopUtilization()
    return 1 - performance.eventLoopUtilization(utilization, before).utilization
  }

  return {
    laneFor(aloneUnderWay) {
      if (lanes.length === 0 && aloneUnderWay >= SEVERAL) void open()
      let best: Held | undefined
      for (const held of lanes) {
        const { lane, isLeaving } = held
        if (isLeaving || lane.isBroken || lane.underWay >= MOST_UNDER_WAY) continue
        if (!best || lane.underWay < best.lane.underWay) best = held
      }
      if (best) best.usedAt = performance.now()
      return best?.lane
    },
    [Symbol.dispose]() {
      isClosed = true
      lanes.forEach(letGo)
    },
  }
}
