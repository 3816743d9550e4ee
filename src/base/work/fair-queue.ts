/**
 * Shares a fixed number of slots between callers. A caller never has all of them, so that one stays free for somebody
 * else; a slot goes to the caller with the fewest, and among those to the one that has not been served for the longest
 * time. Every operation takes constant time.
 */
import { ServiceError } from '../errors.ts'

export interface FairQueue {
  /** Resolves once a slot is free for the caller; rejects when it waits too long, or with the reason of the signal. */
  acquire(caller?: string, signal?: AbortSignal): Promise<Release>
  readonly inUse: number
  readonly waiting: number
}

/** Gives the slot back; calling it again does nothing. */
export type Release = () => void

export interface FairQueueOptions {
  readonly slots: number
  /** What one caller has at most, even when nobody else waits. */
  readonly slotsPerCaller?: number
  readonly maxWaitMs: number
  readonly maxWaiting: number
  readonly maxWaitingPerCaller: number
}

/** Requests without a known caller share one place in the queue. */
const ANONYMOUS = ''

interface Waiter {
  readonly serve: (release: Release) => void
}

interface Caller {
  readonly name: string
  inUse: number
  /** In the order of their arrival; a set, so that one that gives up is removed without a search. */
  readonly waiters: Set<Waiter>
}

export function createFairQueue(options: FairQueueOptions): FairQueue {
  const {
    slots,
    slotsPerCaller = Math.max(1, slots - 1),
    maxWaitMs,
    maxWaiting,
    maxWaitingPerCaller,
  } = options
  const callers = new Map<string, Caller>()
  /** Callers that wait, by the number of slots they have; each set is in the order in which they are served. */
  const lines = Array.from({ length: slotsPerCaller }, () => new Set<Caller>())
  let inUse = 0
  let waiting = 0

  function callerOf(name: string): Caller {
    const known = callers.get(name)
    if (known) return known
    const caller: Caller = { name, inUse: 0, waiters: new Set() }
    callers.set(name, caller)
    return caller
  }

  function forgetIfIdle(caller: Caller): void {
    if (caller.inUse === 0 && caller.waiters.size === 0) callers.delete(caller.name)
  }

  function take(caller: Caller): Release {
    caller.inUse++
    inUse++
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      lines[caller.inUse]?.delete(caller)
      caller.inUse--
      inUse--
      if (caller.waiters.size > 0) lines[caller.inUse]!.add(caller)
      forgetIfIdle(caller)
      serveNext()
    }
  }

  function serveNext(): void {
    while (inUse < slots) {
      const line = lines.find((each) => each.size > 0)
      if (!line) return
      const caller = line.values().next().value!
      const waiter = caller.waiters.values().next().value!
      line.delete(caller)
      remove(caller, waiter)
      const release = take(caller)
      if (caller.waiters.size > 0) lines[caller.inUse]?.add(caller)
      waiter.serve(release)
    }
  }

  function remove(caller: Caller, waiter: Waiter): void {
    if (!caller.waiters.delete(waiter)) return
    waiting--
    if (caller.waiters.size === 0) lines[caller.inUse]?.delete(caller)
  }

  function wait(caller: Caller, signal: AbortSignal | undefined): Promise<Release> {
    const { promise, resolve, reject } = Promise.withResolvers<Release>()
    const settle = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    const giveUp = (reason: unknown): void => {
      settle()
      remove(caller, waiter)
      forgetIfIdle(caller)
      reject(reason)
    }
    const onAbort = (): void => giveUp(signal!.reason)
    const timer = setTimeout(() => giveUp(tooBusy()), maxWaitMs)
    const waiter: Waiter = {
      serve(release) {
        settle()
        resolve(release)
      },
    }
    signal?.addEventListener('abort', onAbort)
    caller.waiters.add(waiter)
    waiting++
    lines[caller.inUse]?.add(caller)
    return promise
  }

  return {
    async acquire(name = ANONYMOUS, signal) {
      signal?.throwIfAborted()
      const caller = callerOf(name)
      if (inUse < slots && caller.inUse < slotsPerCaller) return take(caller)
      if (waiting >= maxWaiting || caller.waiters.size >= maxWaitingPerCaller) {
        forgetIfIdle(caller)
        throw tooBusy()
      }
      return await wait(caller, signal)
    },
    get inUse() {
      return inUse
    },
    get waiting() {
      return waiting
    },
  }
}

function tooBusy(): ServiceError {
  return new ServiceError(
    'crud:Unavailable',
    'too many slow requests at once; try again in a second, or ask for something that an index serves',
  )
}
