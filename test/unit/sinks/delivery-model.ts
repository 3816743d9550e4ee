/** A world around a delivery: events, a receiver, a store, people and crashes, with what must hold of all of them. */
import assert from 'node:assert/strict'
import {
  type Delivery,
  MAX_CONCURRENT_SENDS,
  type Send,
  createDelivery,
} from '../../../src/sinks/delivery/delivery-state.ts'
import { ATTEMPTS } from '../../../src/sinks/delivery/delivery-result.ts'
import type { Answer } from '../../../src/sinks/transport.ts'
import type { StoredEvent } from '../../../src/store/events.ts'
import type { SinkItem, SinkProgress } from '../../../src/store/sinks.ts'

export type Random = () => number

/** Mulberry32: small, and the same everywhere. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

export function keptEvent(seq: number, document: string, entity = 'e'): StoredEvent {
  const id = `event-${seq}`
  const rest = { hook: 'h', operation: 'insert', at: seq, details: '{}', before: null, after: '{}' } as const
  return { seq, id, entity, document, ...rest }
}

interface Stored {
  progress: SinkProgress
  items: Map<number, SinkItem>
}

const BEHAVIOURS: Readonly<Record<string, (roll: number, document: string) => Answer>> = {
  healthy: () => ({ kind: 'delivered' }),
  failing: () => ({ kind: 'failed', reason: 'status 500' }),
  /** Takes all but the events of some documents. */
  rejectsSome: (_roll, document) =>
    /[0-2]$/.test(document) ? { kind: 'failed', reason: 'status 400' } : { kind: 'delivered' },
  /** Takes all, but its events are often not rendered at once. */
  busy: (roll) => ({ kind: roll < 0.6 ? 'postponed' : 'delivered' }),
  flaky: (roll) =>
    roll < 0.5
      ? { kind: 'delivered' }
      : roll < 0.55
        ? { kind: roll < 0.52 ? 'postponed' : 'invisible' }
        : roll < 0.56
          ? { kind: 'gone', reason: 'status 410' }
          : { kind: 'failed', reason: roll < 0.8 ? 'status 500' : 'timed out' },
}

export const BEHAVIOUR_NAMES = Object.keys(BEHAVIOURS)

export class World {
  readonly random: Random
  readonly log: StoredEvent[] = []
  /** Numbers that were answered with success, or that nobody may see. */
  readonly settled = new Set<number>()
  readonly discarded = new Set<number>()
  /** How often each number was sent. */
  readonly sent = new Map<number, number>()
  behaviour = 'flaky'
  now = 1_000_000
  deaths = 0
  breaks = 0
  crashes = 0
  private lastSeq = 0
  private stored: Stored = {
    progress: { position: 0, isDisabled: false, failures: 0, retryAt: 0 },
    items: new Map(),
  }
  private delivery: Delivery
  private underWay = new Map<number, string>()
  /** Failed answers since the beginning or the redrive; what was not saved does not count after a crash. */
  private attempts = new Map<number, number>()
  private savedAttempts = new Map<number, number>()

  constructor(random: Random) {
    this.random = random
    this.delivery = createDelivery(this.stored.progress, [])
  }

  private pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.random() * values.length)]!
  }

  happen(documents: number): void {
    // numbers have gaps: events that were taken back, or that the filter leaves out
    this.lastSeq += this.random() < 0.2 ? 3 : 1
    this.log.push(keptEvent(this.lastSeq, `d${Math.floor(this.random() * documents)}`))
  }

  read(): void {
    const { since, limit } = this.delivery.wanted()
    const { isCircuitOpen, underWay } = this.delivery.overview()
    if (isCircuitOpen)
      assert.ok(limit <= 1 && (limit === 0 || underWay === 0), 'reading on stops while it is broken')
    if (limit === 0) return
    const most = 1 + Math.floor(this.random() * limit)
    const events = this.log.filter(({ seq }) => seq > since).slice(0, most)
    const isAll = events.at(-1) === this.log.at(-1) || events.length === 0
    this.delivery.take(events, isAll ? Math.max(this.lastSeq, since) : events.at(-1)!.seq)
  }

  /** What is sent was saved before, so that the store has the events of items. */
  saveAndSend(): void {
    this.save()
    const before = this.delivery.overview()
    const sends = this.delivery.start(this.now)
    if (before.isDisabled) assert.equal(sends.length, 0, 'a disabled sink gets nothing')
    if (before.isCircuitOpen) assert.ok(sends.length === 0 || (sends.length === 1 && before.underWay === 0))
    for (const send of sends) this.checkSend(send)
    assert.ok(this.underWay.size <= MAX_CONCURRENT_SENDS)
  }

  private checkSend({ seq, event }: Send): void {
    const sent = this.log.find((each) => each.seq === seq)!
    if (event) assert.equal(event, sent)
    else assert.ok(this.stored.items.has(seq), `the store has the event ${seq}`)
    assert.ok(![...this.underWay.values()].includes(sent.document), 'one of a document at a time')
    for (const { seq: earlier, document } of this.log) {
      if (earlier >= seq || document !== sent.document) continue
      const isDone = this.settled.has(earlier) || this.discarded.has(earlier)
      assert.ok(isDone, `event ${seq} is sent before ${earlier} of the same document was received`)
    }
    assert.ok((this.attempts.get(seq) ?? 0) < ATTEMPTS, `event ${seq} is tried too often`)
    this.sent.set(seq, (this.sent.get(seq) ?? 0) + 1)
    this.underWay.set(seq, sent.document)
  }

  answer(): void {
    if (this.underWay.size === 0) return
    const [seq, document] = this.pick([...this.underWay])
    this.underWay.delete(seq)
    const answer = BEHAVIOURS[this.behaviour]!(this.random(), document)
    const before = this.delivery.overview()
    this.delivery.recordAnswer(seq, answer, { now: this.now, random: this.random() })
    const after = this.delivery.overview()
    if (answer.kind === 'delivered' || answer.kind === 'invisible') this.settled.add(seq)
    else if (answer.kind !== 'postponed') this.attempts.set(seq, (this.attempts.get(seq) ?? 0) + 1)
    if (!before.isCircuitOpen && after.isCircuitOpen) this.breaks++
    const isDead = after.dead > before.dead
    assert.equal(isDead, answer.kind !== 'delivered' && this.attempts.get(seq) === ATTEMPTS)
    if (isDead) this.deaths++
    if (answer.kind === 'gone') assert.ok(after.isDisabled)
    if (answer.kind === 'delivered') assert.ok(!after.isCircuitOpen)
  }

  save(): void {
    const changes = this.delivery.changes()
    if (!changes) return
    const { progress, entered, changed, removed } = changes
    const { items } = this.stored
    assert.ok(progress.position >= this.stored.progress.position, 'a position never goes back')
    this.stored.progress = progress
    for (const item of entered) {
      assert.ok(!items.has(item.seq), `item ${item.seq} is entered once`)
      assert.deepEqual(
        JSON.parse(item.event),
        this.log.find(({ seq }) => seq === item.seq),
      )
      items.set(item.seq, item)
    }
    for (const item of changed) {
      assert.ok(items.has(item.seq))
      items.set(item.seq, item)
    }
    for (const seq of removed) assert.ok(items.delete(seq))
    this.savedAttempts = new Map(this.attempts)
    this.checkStored()
  }

  /** The one rule of what is stored: every event is past the position, has an item, or is done with. */
  private checkStored(): void {
    const { progress, items } = this.stored
    for (const { seq } of this.log) {
      const isKept = seq > progress.position || items.has(seq)
      assert.ok(isKept || this.settled.has(seq) || this.discarded.has(seq), `event ${seq} is lost`)
    }
    for (const item of items.values()) {
      if (item.state !== 'dead') continue
      assert.equal(this.savedAttempts.get(item.seq), ATTEMPTS)
      assert.ok(item.seq <= progress.position, 'what is dead is not come across again')
    }
  }

  crash(): void {
    this.crashes++
    this.underWay.clear()
    this.attempts = new Map(this.savedAttempts)
    this.delivery = createDelivery(this.stored.progress, [...this.stored.items.values()])
  }

  /** What people do with dead letters goes to the store first, and the one who delivers hears of it later. */
  redrive(all: boolean): void {
    this.tend((dead) => {
      for (const item of all ? dead : dead.slice(0, 1)) {
        this.stored.items.set(item.seq, { ...item, state: 'waiting', attempts: 0, nextAt: 0 })
        this.attempts.delete(item.seq)
        this.savedAttempts.delete(item.seq)
      }
    })
  }

  discard(): void {
    this.tend((dead) => {
      const [item] = dead
      if (!item) return
      this.stored.items.delete(item.seq)
      this.discarded.add(item.seq)
    })
  }

  private tend(act: (dead: readonly SinkItem[]) => void): void {
    act([...this.stored.items.values()].filter(({ state }) => state === 'dead'))
    this.save()
    this.delivery.amend([...this.stored.items.values()])
  }

  enable(): void {
    if (!this.stored.progress.isDisabled) return
    this.stored.progress = { ...this.stored.progress, isDisabled: false, failures: 0, retryAt: 0 }
    this.save()
    this.stored.progress = { ...this.stored.progress, isDisabled: false }
    this.crash()
  }

  /** Time passes until something is due. */
  wait(): void {
    const at = this.delivery.wakeAt()
    this.now = at === Infinity ? this.now + 1_000 : Math.max(this.now, at)
  }

  isDone(): boolean {
    const { position, undelivered, dead, underWay } = this.delivery.overview()
    return position === this.lastSeq && undelivered + dead + underWay === 0
  }

  get overview(): ReturnType<Delivery['overview']> {
    return this.delivery.overview()
  }

  get deadStored(): number {
    return [...this.stored.items.values()].filter(({ state }) => state === 'dead').length
  }
}
