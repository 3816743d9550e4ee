/**
 * Decides which events to send next to one sink, and tracks their results: at-least-once delivery, in order
 * per document, and no document blocks another. Pure state without store, network or clock: the caller passes
 * in events, answers and the time, and saves the changes that `changes` returns.
 */
import type { StoredEvent } from '../../store/events.ts'
import type { SinkChanges, SinkItem, SinkProgress } from '../../store/sinks.ts'
import { type DeliveryParts, docOf, isCircuitOpen, waitingItem } from './delivery-parts.ts'
import { createDocumentQueues } from './document-queues.ts'
import { type DeliveryTime, amend, recordResult } from './delivery-result.ts'
import type { Answer } from '../transport.ts'
import { createUndelivered } from './undelivered.ts'

/** Maximum number of concurrent sends. */
export const MAX_CONCURRENT_SENDS = 8
/**
 * Maximum number of retries among them, so that a few documents whose events keep failing do not block all
 * others.
 */
const MAX_CONCURRENT_RETRIES = 4
/** Maximum number of fresh events in memory. A crash may repeat up to this many sends. */
const WINDOW = 256
/** Reading pauses while a sink has this many undelivered items. */
const MAX_ITEMS = 100_000

export interface Delivery {
  /** The next events to read; a limit of 0 means none for now. */
  wanted(): { readonly since: number; readonly limit: number }
  take(events: readonly StoredEvent[], scannedTo: number): void
  /** The events to send now, at most one per document; each is under way until it is answered. */
  start(now: number): readonly Send[]
  recordAnswer(seq: number, answer: Answer, time: DeliveryTime): void
  /** Applies the stored items after others redrove or discarded some; urgent changes must be saved first. */
  amend(items: readonly SinkItem[]): void
  /**
   * Whether there are changes besides completed deliveries. Losing a completed delivery only causes a
   * duplicate send; losing an attempt or a failure count would lose state.
   */
  isUrgent(): boolean
  /** The changes since the last call; the caller must save them, because they count as saved from then on. */
  changes(): SinkChanges | undefined
  /** When the next send is due if no event or answer arrives before. */
  wakeAt(): number
  status(): Status
  /** Counts all items; too expensive for every iteration of the loop. */
  overview(): Overview
}

export interface Send {
  readonly seq: number
  /** Absent when the event is an item: its text is then in the store. */
  readonly event?: StoredEvent
}

export interface Status {
  readonly isDisabled: boolean
  /** Whether the circuit breaker is open. */
  readonly isCircuitOpen: boolean
  readonly underWay: number
}

export interface Overview extends Status {
  readonly position: number
  /** Counts only events read so far. */
  readonly undelivered: number
  readonly dead: number
  /** Timestamp of the oldest undelivered event. */
  readonly oldestAt: number | undefined
}

export function createDelivery(progress: SinkProgress, items: readonly SinkItem[]): Delivery {
  const undelivered = createUndelivered(progress.position, items)
  const queues = createDocumentQueues(items.toSorted((a, b) => a.seq - b.seq))
  const state: DeliveryParts = {
    progress,
    savedProgress: progress,
    undelivered,
    queues,
    underWay: new Map(),
    setAside: 0,
  }
  return {
    wanted: () => ({ since: undelivered.readTo(), limit: limitOf(state) }),
    take: (events, scannedTo) => take(state, events, scannedTo),
    start: (now) => start(state, now),
    recordAnswer: (seq, answer, time) => recordResult(state, { seq, answer, time }),
    amend: (stored) => amend(state, stored),
    isUrgent: () => isUrgent(state),
    changes: () => changes(state),
    wakeAt: () => wakeAt(state),
    status: () => status(state),
    overview: () => ({ ...status(state), position: undelivered.position(), ...undelivered.tally() }),
  }
}

function status(state: DeliveryParts): Status {
  const { progress, underWay } = state
  return { isDisabled: progress.isDisabled, isCircuitOpen: isCircuitOpen(state), underWay: underWay.size }
}

function limitOf(state: DeliveryParts): number {
  const { undelivered, queues, underWay, progress, setAside } = state
  if (progress.isDisabled || undelivered.items.size >= MAX_ITEMS) return 0
  if (isCircuitOpen(state)) {
    // A broken sink needs one event as a probe; reading more would only fill memory. What is read is no probe if its
    // document waits for a retry, so that only few items may be made of it while there is something to retry.
    const mayRead = queues.nextDueAt() === undefined || setAside < WINDOW
    return underWay.size === 0 && !queues.hasFresh() && mayRead ? 1 : 0
  }
  // in batches of half a window, not one event at a time
  return undelivered.fresh.size <= WINDOW / 2 ? WINDOW / 2 : 0
}

function take(state: DeliveryParts, events: readonly StoredEvent[], scannedTo: number): void {
  const { undelivered, queues } = state
  for (const event of events) {
    const doc = docOf(event)
    const before = queues.firstOf(doc)
    if (!undelivered.take(event)) continue
    // The queue of the document begins with an item, so its retry may take long. As an item, this event does
    // not hold back the position.
    if (before !== undefined && undelivered.items.has(before)) {
      undelivered.enter(waitingItem(event))
      if (isCircuitOpen(state)) state.setAside++
    }
    queues.joinFresh(event.seq, doc)
  }
  undelivered.readUpTo(scannedTo)
}

function start(state: DeliveryParts, now: number): readonly Send[] {
  const { queues, underWay, progress } = state
  if (progress.isDisabled) return []
  // An open circuit admits one probe at a time, after the back-off.
  if (isCircuitOpen(state)) {
    if (underWay.size > 0 || now < progress.retryAt) return []
    // Perhaps only some documents are refused: every other probe is a fresh event, which does not wait for them.
    const due = progress.failures % 2 === 1 ? queues.nextDue(now) : undefined
    const seq = due ?? queues.nextFresh() ?? queues.nextDue(now)
    return seq === undefined ? [] : [begin(state, seq)]
  }
  const sends: Send[] = []
  while (underWay.size < MAX_CONCURRENT_SENDS) {
    const seq = (mayRetry(state) ? queues.nextDue(now) : undefined) ?? queues.nextFresh()
    if (seq === undefined) break
    sends.push(begin(state, seq))
  }
  return sends
}

function mayRetry({ underWay }: DeliveryParts): boolean {
  return (
    underWay.values().reduce((count, { isRetry }) => count + (isRetry ? 1 : 0), 0) < MAX_CONCURRENT_RETRIES
  )
}

function begin(state: DeliveryParts, seq: number): Send {
  const event = state.undelivered.fresh.get(seq)
  const item = state.undelivered.items.get(seq)
  const doc = event ? docOf(event) : item!.doc
  state.underWay.set(seq, { doc, isRetry: (item?.attempts ?? 0) > 0, isProbe: isCircuitOpen(state) })
  return event ? { seq, event } : { seq }
}

function isUrgent({ undelivered, progress, savedProgress }: DeliveryParts): boolean {
  return undelivered.isUrgent() || URGENT_MEMBERS.some((part) => progress[part] !== savedProgress[part])
}

function changes(state: DeliveryParts): SinkChanges | undefined {
  const { undelivered, savedProgress } = state
  const position = undelivered.position()
  if (!isUrgent(state) && !undelivered.hasChanged() && position === savedProgress.position) return undefined
  state.progress = { ...state.progress, position }
  state.savedProgress = state.progress
  return { progress: state.progress, ...undelivered.takeChanges() }
}

const URGENT_MEMBERS = ['failures', 'retryAt', 'isDisabled'] as const

function wakeAt(state: DeliveryParts): number {
  const { queues, underWay, progress } = state
  const dueAt = queues.nextDueAt() ?? Infinity
  if (progress.isDisabled) return Infinity
  if (!isCircuitOpen(state)) {
    return underWay.size < MAX_CONCURRENT_SENDS && mayRetry(state) ? dueAt : Infinity
  }
  // A fresh event can be the probe at any time after the back-off; an item only when it is due.
  if (underWay.size > 0) return Infinity
  return queues.hasFresh() ? progress.retryAt : Math.max(progress.retryAt, dueAt)
}
