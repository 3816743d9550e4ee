/**
 * Records the result of a send: updates the event's item, its document queue and the failure count of the
 * sink.
 */
import { unreachable } from '../../base/errors.ts'
import type { SinkItem } from '../../store/sinks.ts'
import { backOffMs } from './back-off.ts'
import { BREAKS_AT, type DeliveryParts, type UnderWay, isBroken, waitingItem } from './delivery-parts.ts'
import type { Answer } from '../transport.ts'
import type { Undelivered } from './undelivered.ts'

export const ATTEMPTS = 12

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

export function recordResults(state: DeliveryParts, { seq, answer, time }: DeliveryResult): void {
  const way = state.underWay.get(seq)
  if (!way) throw new Error(`event ${seq} is not under way`)
  state.underWay.delete(seq)
  switch (answer.kind) {
    case 'delivered':
      state.progress = { ...state.progress, failures: 0, retryAt: 0 }
      return leave(state, seq, way.doc)
    case 'unseen':
      return leave(state, seq, way.doc)
    case 'failed':
      return fail(state, way, { seq, reason: answer.reason, time })
    case 'gone':
      fail(state, way, { seq, reason: answer.reason, time })
      state.progress = { ...state.progress, isDisabled: true }
      return undefined
    default:
      return unreachable(answer)
  }
}

function leave({ left, lines }: DeliveryParts, seq: number, doc: string): void {
  left.drop(seq)
  lines.leave(doc, left.items)
}

interface Failure {
  readonly seq: number
  readonly reason: string
  readonly time: DeliveryTime
}

function fail(state: DeliveryParts, way: UnderWay, { seq, reason, time }: Failure): void {
  const { left, lines } = state
  const before = left.items.get(seq) ?? waitingItem(left.fresh.get(seq)!)
  const attempts = before.attempts + 1
  const isDead = attempts >= ATTEMPTS
  const nextAt = isDead ? 0 : time.now + backOffMs(attempts, time.random)
  left.enter({ ...before, state: isDead ? 'dead' : 'waiting', attempts, nextAt, error: reason })
  // Events queued behind the failed one become items too: the position can then move past them, and reading
  // continues.
  for (const later of lines.behind(way.doc)) {
    const event = left.fresh.get(later)
    if (event) left.enter(waitingItem(event))
  }
  if (isDead) enterEarlier(left, seq)
  lines.offer(way.doc, left.items)
  countFailure(state, way, time)
}

/**
 * The position must be at or after every dead letter. A discarded dead letter leaves no record, so an event
 * after the position would be read and sent again. Therefore all earlier fresh events become items, which
 * moves the position forward.
 */
function enterEarlier(left: Undelivered, seq: number): void {
  for (const event of left.fresh.values()) {
    if (event.seq < seq) left.enter(waitingItem(event))
  }
}

/** While the circuit is open only probes count: other sends began before it opened and add no information. */
function countFailure(state: DeliveryParts, { isProbe }: UnderWay, { now, random }: DeliveryTime): void {
  if (isBroken(state) && !isProbe) return
  const failures = state.progress.failures + 1
  const retryAt = failures >= BREAKS_AT ? now + backOffMs(failures - BREAKS_AT + 1, random) : 0
  state.progress = { ...state.progress, failures, retryAt }
}

/**
 * Applies items that an operator redrove or discarded. The operator has acted, so the circuit is closed and
 * delivery is retried at once.
 */
export function amend(state: DeliveryParts, stored: readonly SinkItem[]): void {
  const { left, lines } = state
  if (left.isUrgent()) throw new Error('what changed must be saved before it is amended')
  state.progress = { ...state.progress, failures: 0, retryAt: 0 }
  const bySeq = new Map(stored.map((item) => [item.seq, item]))
  for (const item of left.items.values()) {
    if (item.state !== 'dead') continue
    const found = bySeq.get(item.seq)
    if (found?.state === 'dead') continue
    left.correct(item.seq, found)
    if (found) lines.offer(item.doc, left.items)
    else lines.leave(item.doc, left.items)
  }
}
