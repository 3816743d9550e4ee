/**
 * Records the result of a send: updates the event's item, its document queue and the failure count of the
 * sink.
 */
import { unreachable } from '../../base/errors.ts'
import type { SinkItem } from '../../store/sinks.ts'
import { backOffMs } from './back-off.ts'
import {
  CIRCUIT_OPENS_AFTER,
  type DeliveryParts,
  type UnderWay,
  isCircuitOpen,
  waitingItem,
} from './delivery-parts.ts'
import type { Answer } from '../transport.ts'
import type { Undelivered } from './undelivered.ts'

export const ATTEMPTS = 12
const POSTPONED_MS = 1_000

export interface DeliveryTime {
  readonly now: number
  /** From 0 to 1. */
  readonly random: number
}

interface DeliveryResult {
  readonly seq: number
  readonly answer: Answer
  readonly time: DeliveryTime
}

export function recordResult(state: DeliveryParts, { seq, answer, time }: DeliveryResult): void {
  const send = state.underWay.get(seq)
  if (!send) throw new Error(`event ${seq} is not under way`)
  state.underWay.delete(seq)
  switch (answer.kind) {
    case 'delivered':
      closeCircuit(state)
      return complete(state, seq, send.doc)
    case 'invisible':
      return complete(state, seq, send.doc)
    case 'postponed':
      return postpone(state, send.doc, { seq, nextAt: time.now + POSTPONED_MS })
    case 'failed':
      return fail(state, send, { seq, reason: answer.reason, time })
    case 'gone':
      fail(state, send, { seq, reason: answer.reason, time })
      state.progress = { ...state.progress, isDisabled: true }
      return undefined
    default:
      return unreachable(answer)
  }
}

function closeCircuit(state: DeliveryParts): void {
  state.progress = { ...state.progress, failures: 0, retryAt: 0 }
  state.setAside = 0
}

function complete({ undelivered, queues }: DeliveryParts, seq: number, doc: string): void {
  undelivered.drop(seq)
  queues.removeHead(doc, undelivered.items)
}

/** It is no attempt, and the receiver is not at fault. As an item, the event does not hold back the position. */
function postpone(
  { undelivered, queues }: DeliveryParts,
  doc: string,
  { seq, nextAt }: Pick<SinkItem, 'seq' | 'nextAt'>,
): void {
  const before = undelivered.items.get(seq) ?? waitingItem(undelivered.fresh.get(seq)!)
  undelivered.enter({ ...before, nextAt })
  enterLater(undelivered, queues.behind(doc))
  queues.offer(doc, undelivered.items)
}

interface Failure {
  readonly seq: number
  readonly reason: string
  readonly time: DeliveryTime
}

function fail(state: DeliveryParts, send: UnderWay, { seq, reason, time }: Failure): void {
  const { undelivered, queues } = state
  const before = undelivered.items.get(seq) ?? waitingItem(undelivered.fresh.get(seq)!)
  const attempts = before.attempts + 1
  const isDead = attempts >= ATTEMPTS
  const nextAt = isDead ? 0 : time.now + backOffMs(attempts, time.random)
  undelivered.enter({ ...before, state: isDead ? 'dead' : 'waiting', attempts, nextAt, error: reason })
  enterLater(undelivered, queues.behind(send.doc))
  if (isDead) recordEarlierEvents(undelivered, seq)
  queues.offer(send.doc, undelivered.items)
  countFailure(state, send, time)
}

/** Events queued behind one that waits become items too: the position can then move past them, and reading continues. */
function enterLater(undelivered: Undelivered, behind: Iterable<number>): void {
  for (const later of behind) {
    const event = undelivered.fresh.get(later)
    if (event) undelivered.enter(waitingItem(event))
  }
}

/**
 * The position must be at or after every dead letter. A discarded dead letter leaves no record, so an event
 * after the position would be read and sent again. Therefore all earlier fresh events become items, which
 * moves the position forward.
 */
function recordEarlierEvents(undelivered: Undelivered, seq: number): void {
  for (const event of undelivered.fresh.values()) {
    if (event.seq < seq) undelivered.enter(waitingItem(event))
  }
}

/** While the circuit is open only probes count: other sends began before it opened and add no information. */
function countFailure(state: DeliveryParts, { isProbe }: UnderWay, { now, random }: DeliveryTime): void {
  if (isCircuitOpen(state) && !isProbe) return
  const failures = state.progress.failures + 1
  const retryAt =
    failures >= CIRCUIT_OPENS_AFTER ? now + backOffMs(failures - CIRCUIT_OPENS_AFTER + 1, random) : 0
  state.progress = { ...state.progress, failures, retryAt }
}

/**
 * Applies items that an operator redrove or discarded. The operator has acted, so the circuit is closed and
 * delivery is retried at once.
 */
export function amend(state: DeliveryParts, stored: readonly SinkItem[]): void {
  const { undelivered, queues } = state
  if (undelivered.isUrgent()) throw new Error('what changed must be saved before it is amended')
  closeCircuit(state)
  const bySeq = new Map(stored.map((item) => [item.seq, item]))
  for (const item of undelivered.items.values()) {
    if (item.state !== 'dead') continue
    const found = bySeq.get(item.seq)
    if (found?.state === 'dead') continue
    undelivered.correct(item.seq, found)
    if (found) queues.offer(item.doc, undelivered.items)
    else queues.removeHead(item.doc, undelivered.items)
  }
}
