/**
 * What to send next to one sink, and what becomes of it: each event at least once, those of one document in their order,
 * no document held up by another. It knows neither store nor network nor clock: events, answers and the time are given
 * to it, and what it learns is asked of it, to be saved.
 */
import type { StoredEvent } from '../../store/events.ts'
import type { SinkChanges, SinkItem, SinkProgress } from '../../store/sinks.ts'
import { type DeliveryParts, docOf, isBroken, waitingItem } from './delivery-parts.ts'
import { createDocumentQueues } from './document-queues.ts'
import { type DeliveryTime, amend, recordResults } from './delivery-result.ts'
import type { Answer } from '../transport.ts'
import { createUndelivered } from './undelivered.ts'

/** How many are sent at the same time. */
export const SENDS = 8
/** Of those, how many may have failed before, so that a few documents that hang do not keep back all others. */
const RETRIES = 4
/** How many events are looked ahead. A crash may repeat so many. */
const WINDOW = 256
/** Of a sink that has so many left over, no more is read until they become fewer. */
const MAX_ITEMS = 100_000

export interface Delivery {
  /** What to read next; a limit of 0 asks for nothing now. */
  wanted(): { readonly since: number; readonly limit: number }
  take(events: readonly StoredEvent[], scannedTo: number): void
  /** What to send now, each of a document of its own; under way until it is answered. */
  start(now: number): readonly Send[]
  answered(seq: number, answer: Answer, time: DeliveryTime): void
  /** The items as stored, after others redrove or discarded some; what is urgent must be saved before. */
  amend(items: readonly SinkItem[]): void
  /** Whether more happened than that events were delivered: when that is lost they are sent once more, and that is all. */
  isUrgent(): boolean
  /** What became of it since this was asked last; it counts as saved. */
  changes(): SinkChanges | undefined
  /** When there will be something to send though nothing happens until then. */
  wakeAt(): number
  status(): Status
  /** Counts everything that is left, so that it is not for every turn. */
  overview(): Overview
}

export interface Send {
  readonly seq: number
  /** Missing when the event is an item: then the store has it. */
  readonly event?: StoredEvent
}

export interface Status {
  readonly isDisabled: boolean
  /** Whether it fails all the time. */
  readonly isBroken: boolean
  readonly underWay: number
}

export interface Overview extends Status {
  readonly position: number
  /** As far as was read. */
  readonly undelivered: number
  readonly dead: number
  /** When the oldest of the undelivered happened. */
  readonly oldestAt: number | undefined
}

export function createDelivery(progress: SinkProgress, items: readonly SinkItem[]): Delivery {
  const left = createUndelivered(progress.position, items)
  const lines = createDocumentQueues(items.toSorted((a, b) => a.seq - b.seq))
  const state: DeliveryParts = { progress, savedProgress: progress, left, lines, underWay: new Map() }
  return {
    wanted: () => ({ since: left.readTo(), limit: limitOf(state) }),
    take: (events, scannedTo) => take(state, events, scannedTo),
    start: (now) => start(state, now),
    answered: (seq, answer, time) => recordResults(state, { seq, answer, time }),
    amend: (stored) => amend(state, stored),
    isUrgent: () => isUrgent(state),
    changes: () => changes(state),
    wakeAt: () => wakeAt(state),
    status: () => status(state),
    overview: () => ({ ...status(state), position: left.position(), ...left.tally() }),
  }
}

function status(state: DeliveryParts): Status {
  const { progress, underWay } = state
  return { isDisabled: progress.isDisabled, isBroken: isBroken(state), underWay: underWay.size }
}

function limitOf(state: DeliveryParts): number {
  const { left, lines, underWay, progress } = state
  if (progress.isDisabled || left.items.size >= MAX_ITEMS) return 0
  const hasNothing = underWay.size === 0 && !lines.hasFresh() && lines.nextDueAt() === undefined
  if (isBroken(state)) return hasNothing ? 1 : 0
  // not one by one
  return left.fresh.size <= WINDOW / 2 ? WINDOW / 2 : 0
}

function take({ left, lines }: DeliveryParts, events: readonly StoredEvent[], scannedTo: number): void {
  for (const event of events) {
    const doc = docOf(event)
    const before = lines.firstOf(doc)
    if (!left.take(event)) continue
    if (before !== undefined && left.items.has(before)) left.enter(waitingItem(event))
    lines.joinFresh(event.seq, doc)
  }
  left.readUpTo(scannedTo)
}

function start(state: DeliveryParts, now: number): readonly Send[] {
  const { lines, underWay, progress } = state
  if (progress.isDisabled) return []
  if (isBroken(state)) {
    if (underWay.size > 0 || now < progress.retryAt) return []
    const seq = lines.nextDue(now) ?? lines.nextFresh()
    return seq === undefined ? [] : [begin(state, seq)]
  }
  const sends: Send[] = []
  while (underWay.size < SENDS) {
    const seq = (mayRetry(state) ? lines.nextDue(now) : undefined) ?? lines.nextFresh()
    if (seq === undefined) break
    sends.push(begin(state, seq))
  }
  return sends
}

function mayRetry({ underWay }: DeliveryParts): boolean {
  return underWay.values().reduce((count, { isRetry }) => count + (isRetry ? 1 : 0), 0) < RETRIES
}

function begin(state: DeliveryParts, seq: number): Send {
  const event = state.left.fresh.get(seq)
  const item = state.left.items.get(seq)
  const doc = event ? docOf(event) : item!.doc
  state.underWay.set(seq, { doc, isRetry: (item?.attempts ?? 0) > 0, isProbe: isBroken(state) })
  return event ? { seq, event } : { seq }
}

function isUrgent({ left, progress, savedProgress }: DeliveryParts): boolean {
  return left.isUrgent() || PARTS.some((part) => progress[part] !== savedProgress[part])
}

function changes(state: DeliveryParts): SinkChanges | undefined {
  const { left, savedProgress } = state
  const position = left.position()
  if (!isUrgent(state) && !left.hasChanged() && position === savedProgress.position) return undefined
  state.progress = { ...state.progress, position }
  state.savedProgress = state.progress
  return { progress: state.progress, ...left.takeChanges() }
}

const PARTS = ['failures', 'retryAt', 'isDisabled'] as const

function wakeAt(state: DeliveryParts): number {
  const { lines, underWay, progress } = state
  const dueAt = lines.nextDueAt() ?? Infinity
  if (progress.isDisabled) return Infinity
  if (!isBroken(state)) {
    return underWay.size < SENDS && mayRetry(state) ? dueAt : Infinity
  }
  if (underWay.size > 0) return Infinity
  return lines.hasFresh() ? progress.retryAt : Math.max(progress.retryAt, dueAt)
}
