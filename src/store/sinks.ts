/** What a store remembers of those to whom events are pushed: who they are, how far they got, and what they have yet to get. */

export interface SinkStore {
  /** False when there is one of that name. */
  create(sink: NewSink): Promise<boolean>
  /** A new definition for the same place in the order of events; a disabled sink is enabled. False when there is none. */
  replace(name: string, definition: string): Promise<boolean>
  /** With everything it had yet to get. */
  remove(name: string): Promise<boolean>
  read(name: string): Promise<SinkRecord | undefined>
  /** In the order of their names. */
  list(): Promise<readonly SinkRecord[]>
  /**
   * Takes or keeps the right to deliver, for as long as `ttlMs` at most. Undefined when somebody else has it, or the
   * sink is disabled or gone.
   */
  hold(hold: SinkHold): Promise<HeldSink | undefined>
  release(holder: Holder): Promise<void>
  /** All of it, or nothing and false when the right to deliver is no longer the holder's. */
  recordResults(holder: Holder, changes: SinkChanges): Promise<boolean>
  /** In the order of events. */
  readItems(name: string): Promise<readonly SinkItem[]>
  /** Events that were entered with items of these numbers, as text. */
  readItemEvents(name: string, seqs: readonly number[]): Promise<ReadonlyMap<number, string>>
  /** In the order of events. */
  listDead(
    name: string,
    page: { readonly since: number; readonly limit: number },
  ): Promise<readonly DeadLetter[]>
  readDead(name: string, eventId: string): Promise<DeadLetter | undefined>
  /** One, or all when no event is named: tried again from the beginning. Tells how many. */
  redrive(name: string, eventId?: string): Promise<number>
  /** Gives up for good. */
  discard(name: string, eventId: string): Promise<boolean>
}

export interface NewSink {
  readonly name: string
  /** JSON text that the store does not look into. */
  readonly definition: string
  /** Events after this number are for the sink. */
  readonly position: number
}

export interface SinkRecord {
  readonly name: string
  readonly definition: string
  /** Rises when somebody who does not deliver changes something. */
  readonly version: number
  readonly progress: SinkProgress
}

export interface HeldSink extends SinkRecord {
  /** For how long, counted from when it was asked for. */
  readonly heldMs: number
}

export interface SinkProgress {
  /** Every event up to this number was delivered or has an item. */
  readonly position: number
  readonly isDisabled: boolean
  /** Since the last delivery. */
  readonly failures: number
  /** While it fails all the time, when to try next; milliseconds since 1970, like all times here. */
  readonly retryAt: number
}

/** An event that is still to be delivered though later ones were. Of one document only the first item is tried. */
export interface SinkItem {
  readonly seq: number
  readonly doc: string
  /** A dead one is not tried again until somebody says so. */
  readonly state: 'waiting' | 'dead'
  readonly attempts: number
  readonly nextAt: number
  /** Why it was not delivered the last time; empty when it was not tried yet. */
  readonly error: string
  /** When it happened. */
  readonly at: number
}

export interface NewItem extends SinkItem {
  readonly id: string
  /** The event as text, kept until it is delivered, however long events are kept otherwise. */
  readonly event: string
}

export interface DeadLetter extends NewItem {
  /** How many later events of the same document wait for this one. */
  readonly held: number
}

/** `owner` is made anew each time a sink is taken, so that nobody goes on with what they knew before. */
export interface Holder {
  readonly name: string
  readonly owner: string
}

export interface SinkHold extends Holder {
  readonly ttlMs: number
}

export interface SinkChanges {
  readonly progress: SinkProgress
  readonly entered: readonly NewItem[]
  readonly changed: readonly SinkItem[]
  readonly removed: readonly number[]
}
