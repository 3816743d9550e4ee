/**
 * Shares a fixed number of slots between callers. One caller never has all slots, so that one stays free for others. A
 * free slot goes to the waiting caller with the fewest slots, and among those to the one that was served longest ago.
 * Slots that are taken by force count as those of their caller, but a caller never keeps others waiting with more than it may
 * have. The number of callers with slots bounds the cost of every operation.
 */
import { ServiceError } from '../errors.ts'

export interface FairQueue {
  /** Resolves once the caller has a slot; rejects after `maxWaitMs`, or with the reason of the signal. */
  acquire(caller?: string, signal?: AbortSignal): Promise<Release>
  /** Takes a slot at once, even if none is free: for work that is running already. */
  occupy(caller?: string): Release
  readonly inUse: number
  readonly waiting: number
}

/** Releases the slot; further calls do nothing. */
export type Release = () => void

export interface FairQueueOptions {
  readonly slots: number
  /** Slots that one caller may have, even when no other caller waits. */
  readonly slotsPerCaller?: number
  /** Whether a caller that has a slot may have another one now; asked again whenever a slot is released. */
  readonly mayHaveMore?: (caller: string) => boolean
  readonly maxWaitMs: number
  readonly maxWaiting: number
  readonly maxWaitingPerCaller: number
}

/** Requests without a caller share one entry. */
const ANONYMOUS = ''

interface Waiter {
  readonly serve: (release: Release) => void
}

interface Caller {
  readonly name: string
  inUse: number
  /** In the order of arrival; a set, so that a waiter that times out is removed without a search. */
  readonly waiters: Set<Waiter>
}

export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { slots, maxWaitMs, maxWaiting, maxWaitingPerCaller } = options
  const { slotsPerCaller = Math.max(1, slots - 1), mayHaveMore = () => true } = options
  const callers = createCallers(slotsPerCaller)

  function canHaveSlot({ name, inUse: own }: Caller): boolean {
    return own === 0 || (own < slotsPerCaller && mayHaveMore(name))
  }

  function occupySlot(caller: Caller): Release {
    callers.addSlot(caller)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      callers.removeSlot(caller)
      serveNext()
    }
  }

  function serveNext(): void {
    while (callers.inUse < slots) {
      const caller = callers.nextToServe(canHaveSlot)
      if (!caller) return
      const waiter = caller.waiters.values().next().value!
      callers.removeWaiter(caller, waiter)
      waiter.serve(occupySlot(caller))
    }
  }

  return {
    async acquire(name = ANONYMOUS, signal) {
      signal?.throwIfAborted()
      const caller = callers.get(name)
      // What a caller may have changes with time, so older requests of it may be waiting although it may have more now.
      if (caller.waiters.size === 0 && callers.inUse < slots && canHaveSlot(caller)) return occupySlot(caller)
      if (callers.waiting >= maxWaiting || caller.waiters.size >= maxWaitingPerCaller) {
        callers.forgetIfIdle(caller)
        throw tooBusy()
      }
      const served = waitFor(caller, { callers, maxWaitMs, signal })
      serveNext()
      return await served
    },
    occupy: (name = ANONYMOUS) => occupySlot(callers.get(name)),
    get inUse() {
      return callers.inUse
    },
    get waiting() {
      return callers.waiting
    },
  }
}

/** Callers with slots or waiters. Those that wait are ordered by the number of their slots. */
interface Callers {
  readonly inUse: number
  readonly waiting: number
  get(name: string): Caller
  addSlot(caller: Caller): void
  removeSlot(caller: Caller): void
  addWaiter(caller: Caller, waiter: Waiter): void
  removeWaiter(caller: Caller, waiter: Waiter): void
  /** A caller is skipped only if it has a slot. */
  nextToServe(canHaveSlot: (caller: Caller) => boolean): Caller | undefined
  forgetIfIdle(caller: Caller): void
}

function createCallers(slotsPerCaller: number): Callers {
  const callers = new Map<string, Caller>()
  /** Waiting callers by the number of slots they have; each set is in the order in which they are served. */
  const waitingBySlots = Array.from({ length: slotsPerCaller }, () => new Set<Caller>())
  let inUse = 0
  let waiting = 0

  function forgetIfIdle(caller: Caller): void {
    if (caller.inUse === 0 && caller.waiters.size === 0) callers.delete(caller.name)
  }

  return {
    get inUse() {
      return inUse
    },
    get waiting() {
      return waiting
    },
    get(name) {
      const existing = callers.get(name)
      if (existing) return existing
      const caller: Caller = { name, inUse: 0, waiters: new Set() }
      callers.set(name, caller)
      return caller
    },
    addSlot(caller) {
      waitingBySlots[caller.inUse]?.delete(caller)
      caller.inUse++
      if (caller.inUse <= slotsPerCaller) inUse++
      if (caller.waiters.size > 0) waitingBySlots[caller.inUse]?.add(caller)
    },
    removeSlot(caller) {
      waitingBySlots[caller.inUse]?.delete(caller)
      if (caller.inUse <= slotsPerCaller) inUse--
      caller.inUse--
      if (caller.waiters.size > 0) waitingBySlots[caller.inUse]?.add(caller)
      forgetIfIdle(caller)
    },
    addWaiter(caller, waiter) {
      caller.waiters.add(waiter)
      waiting++
      waitingBySlots[caller.inUse]?.add(caller)
    },
    removeWaiter(caller, waiter) {
      if (!caller.waiters.delete(waiter)) return
      waiting--
      if (caller.waiters.size === 0) waitingBySlots[caller.inUse]?.delete(caller)
    },
    nextToServe(canHaveSlot) {
      for (const waitingCallers of waitingBySlots) {
        for (const caller of waitingCallers) if (canHaveSlot(caller)) return caller
      }
      return undefined
    },
    forgetIfIdle,
  }
}

interface Waiting {
  readonly callers: Callers
  readonly maxWaitMs: number
  readonly signal: AbortSignal | undefined
}

/** Resolves when the caller is served; rejects after the time limit, or with the reason of the signal. */
function waitFor(caller: Caller, { callers, maxWaitMs, signal }: Waiting): Promise<Release> {
  const { promise, resolve, reject } = Promise.withResolvers<Release>()
  const stopWaiting = (): void => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
  const giveUp = (reason: unknown): void => {
    stopWaiting()
    callers.removeWaiter(caller, waiter)
    callers.forgetIfIdle(caller)
    reject(reason)
  }
  const onAbort = (): void => giveUp(signal!.reason)
  const timer = setTimeout(() => giveUp(tooBusy()), maxWaitMs)
  const waiter: Waiter = {
    serve(release) {
      stopWaiting()
      resolve(release)
    },
  }
  signal?.addEventListener('abort', onAbort)
  callers.addWaiter(caller, waiter)
  return promise
}

function tooBusy(): ServiceError {
  return new ServiceError(
    'crud:Unavailable',
    'too many slow requests at once; try again in a second, or send a request that an index serves',
  )
}
