/**
 * Reads the events of a store, once for all readers of the same part. Events are read in regions of fixed
 * numbers and without documents; documents are read only for events that may be visible to a caller.
 */
import { ServiceError } from '../../base/errors.ts'
import { FairGate } from '../../base/work/fair-gate.ts'
import { memoized } from '../../base/memo.ts'
import { SizedCache } from '../../base/sized-cache.ts'
import type { EventHead, EventStates, EventStore } from '../../store/events.ts'

/** All events after one number, up to `to`. */
export interface EventRange {
  readonly heads: readonly EventHead[]
  readonly to: number
}

type Read = Pick<EventStore, 'readHeads' | 'readStates' | 'eventBounds'>

interface Region extends EventRange {
  /** Events up to this number are incomplete, because some were trimmed. */
  readonly from: number
  /** The number of the newest event at the time of the read. */
  readonly last: number
}

/** Numbers per region. Fixed, so that the end of a region reveals nothing about hidden events. */
const REGION = 100
const MAX_READS = 4
const HEAD_CHARACTERS = 4 * 1024 * 1024
const STATE_CHARACTERS = 8 * 1024 * 1024

export class EventLog {
  readonly #store: Read
  readonly #timeLimitMs: number
  readonly #gate = new FairGate(MAX_READS)
  readonly #regions = new SizedCache<number, Region>(HEAD_CHARACTERS)
  readonly #loading = new Map<number, Promise<Region>>()
  readonly #states = new SizedCache<number, EventStates>(STATE_CHARACTERS)
  readonly #loadingStates = new Map<number, Promise<ReadonlyMap<number, EventStates>>>()

  constructor(store: Read, timeLimitMs: number) {
    this.#store = store
    this.#timeLimitMs = timeLimitMs
  }

  /** The next events, up to the end of their region or of the log; fails if some of them have been trimmed. */
  async after(position: number, caller: string): Promise<EventRange> {
    const index = Math.floor(position / REGION)
    const { heads, from, to, last } = this.#regions.get(index) ?? (await this.#regionAt(index, caller))
    if (position < from) throw eventsGone(from + 1)
    if (position > last) throw sinceTooHigh(last)
    if (position >= to) return { heads: [], to: position }
    // All readers that come from the previous region share this list, so it can be memoized by identity.
    if (position === index * REGION) return { heads, to }
    return { heads: heads.filter(({ seq }) => seq > position), to }
  }

  /** The documents of these events, by holder: the event that stores them. */
  async statesOf(heads: readonly EventHead[], caller: string): Promise<ReadonlyMap<number, EventStates>> {
    const states = new Map<number, EventStates>()
    const missing: number[] = []
    const underWay = new Set<Promise<ReadonlyMap<number, EventStates>>>()
    for (const holder of new Set(heads.map((head) => head.holder))) {
      const known = this.#states.get(holder)
      const loading = this.#loadingStates.get(holder)
      if (known) states.set(holder, known)
      else if (loading) underWay.add(loading)
      else missing.push(holder)
    }
    if (missing.length > 0) underWay.add(this.#loadStates(missing, caller))
    for (const read of await Promise.all(underWay)) for (const [seq, each] of read) states.set(seq, each)
    if (heads.every(({ holder }) => states.has(holder))) return states
    throw eventsGone((await this.#store.eventBounds()).first)
  }

  /** Concurrent requests for a region share one read. */
  #regionAt(index: number, caller: string): Promise<Region> {
    const underWay = this.#loading.get(index)
    if (underWay) return underWay
    const loading = this.#gate.run(caller, async () => {
      try {
        return await this.#readRegion(index)
      } finally {
        this.#loading.delete(index)
      }
    })
    this.#loading.set(index, loading)
    return loading
  }

  /** The lower bound is read after the events: events trimmed during the read would otherwise be missing unnoticed. */
  async #readRegion(index: number): Promise<Region> {
    const [after, end] = [index * REGION, (index + 1) * REGION]
    const { last } = await this.#store.eventBounds()
    const to = Math.max(after, Math.min(end, last))
    const heads = await this.#store.readHeads({ after, upTo: to }, { timeLimitMs: this.#timeLimitMs })
    const { first } = await this.#store.eventBounds()
    const region = { heads, from: Math.max(after, first - 1), to, last }
    // Only complete regions are cached; the last one of the log still grows.
    if (to === end) this.#regions.set(index, region, sizeOf(heads))
    return region
  }

  #loadStates(holders: readonly number[], caller: string): Promise<ReadonlyMap<number, EventStates>> {
    const loading = this.#gate.run(caller, async () => {
      try {
        const states = await this.#store.readStates(holders, { timeLimitMs: this.#timeLimitMs })
        for (const [seq, each] of states) this.#states.set(seq, each, lengthOf(each))
        return states
      } finally {
        for (const holder of holders) this.#loadingStates.delete(holder)
      }
    })
    for (const holder of holders) this.#loadingStates.set(holder, loading)
    return loading
  }
}

/** One event of each kind. Events of a kind are visible to the same readers, as far as documents do not decide. */
export const kindsOf = memoized((heads: readonly EventHead[]): readonly EventHead[] => {
  const kinds = new Map<string, EventHead>()
  for (const head of heads) {
    const { entity, hook, operation, details } = head
    // Details begin with the version.
    kinds.set([entity, hook, operation, details.slice(0, details.indexOf(','))].join('\n'), head)
  }
  return [...kinds.values()]
})

function sizeOf(heads: readonly EventHead[]): number {
  return heads.reduce((sum, { details }) => sum + details.length, 0) + 300 * heads.length
}

function lengthOf({ before, after }: EventStates): number {
  return (before?.length ?? 0) + (after?.length ?? 0)
}

export function isGone(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'crud:EventsGone'
}

function eventsGone(first: number): ServiceError {
  return new ServiceError(
    'crud:EventsGone',
    `events after "since" are not kept any more; the oldest that is kept has the number ${first}, so go on with since=${first - 1} and take the documents as they are now`,
  )
}

function sinceTooHigh(last: number): ServiceError {
  const message = `"since" is after the newest event, whose number is ${last}`
  return new ServiceError('crud:InvalidRequest', message)
}
