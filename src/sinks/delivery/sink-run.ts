/** Delivers to one sink while this process has the lease: reads events, sends them, saves results. */
import { type Caller, callerWith } from '../../access/caller.ts'
import { isWanted } from '../../store/event-window.ts'
import type { EventsRequest, StoredEvent, StoredEvents } from '../../store/events.ts'
import type { SinkRecord, SinkStore } from '../../store/sinks.ts'
import { createWakeSignal } from './wake-signal.ts'
import { parseDefinition } from '../definition.ts'
import type { SinkDefinition } from '../kinds.ts'
import { type Delivery, type Send, createDelivery } from './delivery-state.ts'
import type { Lease } from './lease.ts'
import type { Observer } from '../observer.ts'
import type { Answer, Transport } from '../transport.ts'

export interface RunOptions {
  readonly store: SinkStore
  readonly readEvents: (request: EventsRequest) => Promise<StoredEvents>
  readonly renderEvent: RenderEvent
  readonly openTransport: OpenTransport
  readonly observer: Observer
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** From 0 to 1. */
  readonly random: () => number
}

export type OpenTransport = (definition: SinkDefinition) => Transport

/** Renders an event with the caller's current visibility. The signal is aborted when the result is not needed any more. */
export type RenderEvent = (
  event: StoredEvent,
  caller: Caller,
  signal: AbortSignal,
) => RenderedEvent | Promise<RenderedEvent>

/** A CloudEvent in JSON, or why there is none: nothing of it is visible, or it cannot be rendered at the moment. */
export type RenderedEvent = { readonly body: string } | 'invisible' | 'postponed'

/** Maximum delay before a changed position alone is saved. */
const SAVE_MS = 500
/** Interval for polling for new events and reporting the state to the observer. */
const POLL_MS = 1_000
/** How long a stop waits for sends that are under way. */
const STOP_MS = 2_000

/** The receiver, as the sink's definition describes it. */
interface Target {
  readonly record: SinkRecord
  readonly definition: SinkDefinition
  readonly caller: Caller
  readonly transport: Transport
  /** Those under way. */
  readonly sends: Set<Promise<void>>
}

/**
 * One loop makes all state changes in sequence; answers of concurrent sends wait in `answers` for the next
 * iteration.
 */
export class SinkRun {
  /** Resolves when the run has ended for any reason; rejects when the store fails. */
  readonly done: Promise<void>
  private readonly lease: Lease
  private readonly options: RunOptions
  private readonly wakeSignal = createWakeSignal()
  private readonly aborting = new AbortController()
  private readonly answers: { readonly seq: number; readonly answer: Answer }[] = []
  private readonly transports = new Set<Transport>()
  private hasNews = true
  private polledAt = -Infinity
  private savedAt = -Infinity
  private stopAt = Infinity

  constructor(lease: Lease, options: RunOptions) {
    this.lease = lease
    this.options = options
    this.done = this.run()
  }

  /** New events may exist, or the sink may have changed. */
  wake(): void {
    this.hasNews = true
    this.wakeSignal.ring()
  }

  /** Starts no more sends, waits up to `STOP_MS` for those under way, and saves their results. */
  stop(): void {
    this.stopAt = Math.min(this.stopAt, performance.now() + STOP_MS)
    this.wakeSignal.ring()
  }

  private async run(): Promise<void> {
    try {
      await this.loop()
    } finally {
      await this.end()
    }
  }

  private async loop(): Promise<void> {
    const record = this.lease.record()
    const items = await this.options.store.readItems(record.name)
    const delivery = createDelivery(record.progress, items)
    let target = this.openTarget(record)
    while (this.lease.isHeld()) {
      this.recordResults(delivery)
      const isOver = this.isOver(delivery)
      if (!(await this.save(delivery, target, isOver)) || isOver) return
      // Once the receiver is gone, only results are awaited: they must not disable the definition that replaces this one.
      if (!delivery.status().isDisabled) target = await this.follow(delivery, target)
      this.poll(delivery)
      if (this.stopAt === Infinity) {
        await this.read(delivery, target)
        await this.send(delivery, target)
      }
      await this.wakeSignal.wait(this.pauseMs(delivery))
    }
  }

  private openTarget(record: SinkRecord): Target {
    const definition = parseDefinition(record.definition)
    const transport = this.options.openTransport(definition)
    this.transports.add(transport)
    return { record, definition, transport, caller: callerWith(definition.roles), sends: new Set() }
  }

  private recordResults(delivery: Delivery): void {
    const { now, random } = this.options
    for (const { seq, answer } of this.answers.splice(0)) {
      delivery.recordAnswer(seq, answer, { now: now(), random: random() })
    }
  }

  private isOver(delivery: Delivery): boolean {
    const { isDisabled, underWay } = delivery.status()
    const mayEnd = isDisabled || this.stopAt !== Infinity
    return mayEnd && (underWay === 0 || performance.now() >= this.stopAt)
  }

  /** False when the stored state is newer: another process has the lease, or a disabled sink was replaced. */
  private async save(delivery: Delivery, { record }: Target, isLast: boolean): Promise<boolean> {
    const isTime = isLast || delivery.isUrgent() || performance.now() - this.savedAt >= SAVE_MS
    const changes = isTime ? delivery.changes() : undefined
    if (!changes) return true
    this.savedAt = performance.now()
    const { version } = record
    return await this.options.store.recordResults(this.lease.holder, { version, ...changes })
  }

  /**
   * Applies a changed definition, and dead letters redriven or discarded by others. `save` has run before, as
   * `amend` requires.
   */
  private async follow(delivery: Delivery, target: Target): Promise<Target> {
    const record = this.lease.record()
    if (record.version === target.record.version) return target
    delivery.amend(await this.options.store.readItems(record.name))
    if (record.definition === target.record.definition) return { ...target, record }
    void this.closeWhenIdle(target)
    return this.openTarget(record)
  }

  private async closeWhenIdle({ transport, sends, record }: Target): Promise<void> {
    await Promise.allSettled(sends)
    // the end of the run may have closed it
    if (!this.transports.delete(transport)) return
    try {
      await transport[Symbol.asyncDispose]()
    } catch (error) {
      this.options.observer.error?.(error, record.name)
    }
  }

  private poll(delivery: Delivery): void {
    if (performance.now() - this.polledAt < POLL_MS) return
    this.polledAt = performance.now()
    this.hasNews = true
    this.options.observer.state?.(this.lease.holder.name, delivery.overview())
  }

  private async read(delivery: Delivery, { definition }: Target): Promise<void> {
    const { since, limit } = delivery.wanted()
    if (!this.hasNews || limit === 0) return
    this.hasNews = false
    const { events, scannedTo } = await this.options.readEvents({ since, limit, filter: definition.filter })
    delivery.take(events, scannedTo)
    this.hasNews ||= scannedTo > since
  }

  private async send(delivery: Delivery, target: Target): Promise<void> {
    const { store, now } = this.options
    // The lease may have expired during a long read.
    if (!this.lease.isHeld()) return
    const sends = delivery.start(now())
    const stored = sends.filter(({ event }) => !event).map(({ seq }) => seq)
    const texts = stored.length > 0 ? await store.readItemEvents(target.record.name, stored) : NO_TEXTS
    for (const send of sends) {
      const sending = this.deliver(send, target, texts).finally(() => target.sends.delete(sending))
      target.sends.add(sending)
    }
  }

  private async deliver(send: Send, target: Target, texts: ReadonlyMap<number, string>): Promise<void> {
    const began = performance.now()
    const event = send.event ?? (JSON.parse(texts.get(send.seq) ?? 'null') as StoredEvent | null)
    const given = event ? await this.answerOf(event, target) : LOST
    if (!given) return
    const answer =
      given.kind === 'gone' && this.isReplaced(target) ? { ...given, kind: 'failed' as const } : given
    const { observer } = this.options
    const { name } = target.record
    if (answer.kind === 'delivered') observer.delivered?.(name, (performance.now() - began) / 1000)
    else if ('reason' in answer) observer.failed?.(name, answer.reason)
    this.answers.push({ seq: send.seq, answer })
    this.wakeSignal.ring()
  }

  /** Only the receiver that the current definition names can disable the sink. */
  private isReplaced({ record }: Target): boolean {
    return record.definition !== this.lease.record().definition
  }

  /** Undefined when the send was aborted. */
  private async answerOf(event: StoredEvent, target: Target): Promise<Answer | undefined> {
    const { signal } = this.aborting
    // The filter may have changed since the event was read.
    if (!isWanted(target.definition.filter, event)) return { kind: 'invisible' }
    try {
      const rendered = await this.options.renderEvent(event, target.caller, signal)
      if (typeof rendered === 'string') return { kind: rendered }
      const { id, entity, operation } = event
      return await target.transport.send({ id, entity, operation, body: rendered.body }, signal)
    } catch (error) {
      if (signal.aborted) return undefined
      this.options.observer.error?.(error, target.record.name)
      return { kind: 'failed', reason: 'the event could not be made' }
    }
  }

  private pauseMs(delivery: Delivery): number {
    if (this.answers.length > 0) return 0
    if (this.stopAt !== Infinity) return this.stopAt - performance.now()
    if (this.hasNews && delivery.wanted().limit > 0) return 0
    return Math.min(POLL_MS, delivery.wakeAt() - this.options.now())
  }

  private async end(): Promise<void> {
    this.aborting.abort()
    const closing = [...this.transports].map((each) => each[Symbol.asyncDispose]())
    this.transports.clear()
    await Promise.allSettled([...closing, this.lease.release()])
    this.options.observer.left?.(this.lease.holder.name)
  }
}

const NO_TEXTS: ReadonlyMap<number, string> = new Map()
const LOST: Answer = { kind: 'failed', reason: 'the event is not there any more' }
