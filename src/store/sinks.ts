/**
 * Sinks as a store sees them: their definitions, their delivery progress, and the events still to deliver.
 */

export interface SinkStore {
  /** Returns false when the name is taken. */
  create(sink: NewSink): Promise<boolean>
  /**
   * Replaces the definition; the position stays, and a disabled sink is enabled. Returns false when the sink is not as it
   * was read: others changed or removed it.
   */
  replace(read: ReadSink, definition: string): Promise<boolean>
  /** Removes the sink with all its items. */
  remove(name: string): Promise<boolean>
  read(name: string): Promise<SinkRecord | undefined>
  /** Ordered by name. */
  list(): Promise<readonly SinkRecord[]>
  /**
   * Acquires or extends the delivery lease for at most `ttlMs`. Returns undefined when another owner has the
   * lease, or the sink is disabled or was removed.
   */
  hold(hold: SinkHold): Promise<HeldSink | undefined>
  /**
   * Extends the lease only. Returns undefined when it was lost, even if it is free now: another owner may have
   * delivered meanwhile, or the sink may be a new one of the same name.
   */
  renew(hold: SinkHold): Promise<HeldSink | undefined>
  release(holder: Holder): Promise<void>
  /**
   * Writes all changes. Writes nothing and returns false when the lease is no longer the holder's, or when the
   * changes would disable a sink that others changed after `version`.
   */
  recordResults(holder: Holder, results: SinkResults): Promise<boolean>
  /** Ordered by `seq`. */
  readItems(name: string): Promise<readonly SinkItem[]>
  /** The stored events of the items with these numbers, as text. */
  readItemEvents(name: string, seqs: readonly number[]): Promise<ReadonlyMap<number, string>>
  /** Bytes of the events of these dead letters together, without reading them. */
  measureDead(name: string, letters: DeadPage | { readonly id: string }): Promise<number>
  /** Dead letters ordered by `seq`. */
  listDead(name: string, page: DeadPage): Promise<readonly DeadHead[]>
  readDead(name: string, eventId: string): Promise<DeadLetter | undefined>
  /** Makes one dead letter, or all when no event is given, waiting again with no attempts. Returns their number. */
  redrive(name: string, eventId?: string): Promise<number>
  /** Removes a dead letter without delivery. */
  discard(name: string, eventId: string): Promise<boolean>
}

export interface NewSink {
  readonly name: string
  /** JSON text; the store does not parse it. */
  readonly definition: string
  /** The sink receives events after this number. */
  readonly position: number
}

export interface SinkRecord {
  readonly name: string
  readonly definition: string
  /** Increases when anyone but the delivering process changes the sink or its items. */
  readonly version: number
  readonly progress: SinkProgress
}

/** What a replacement depends on. */
export type ReadSink = Pick<SinkRecord, 'name' | 'definition' | 'version'>

export interface HeldSink extends SinkRecord {
  /** The remaining time of the lease, counted from the call of `hold`. */
  readonly heldMs: number
}

export interface SinkProgress {
  /** Every event up to this number was delivered or has an item. */
  readonly position: number
  readonly isDisabled: boolean
  /** Consecutive failures since the last delivery. */
  readonly failures: number
  /** When to try again while every delivery fails; milliseconds since 1970, like all times here. */
  readonly retryAt: number
}

/**
 * An event that is not delivered although later ones were. Only the first item of a document is tried, so
 * that events of a document stay in order.
 */
export interface SinkItem {
  readonly seq: number
  readonly doc: string
  /** A dead item is not tried again until it is redriven. */
  readonly state: 'waiting' | 'dead'
  readonly attempts: number
  readonly nextAt: number
  /** The error of the last attempt; empty when there was none. */
  readonly error: string
  /** When the event happened. */
  readonly at: number
}

export interface NewItem extends SinkItem {
  readonly id: string
  /** The event as text. The item has its own copy, because retention may remove the event before it is delivered. */
  readonly event: string
}

export interface DeadPage {
  readonly since: number
  readonly limit: number
}

/** A dead letter without its event, which may be large. */
export interface DeadHead extends SinkItem {
  readonly id: string
  /** How many later events of the same document wait for this one. */
  readonly held: number
  /** The beginning of the event as text. */
  readonly begin: string
}

export interface DeadLetter extends NewItem, Pick<DeadHead, 'held'> {}

/**
 * The owner of a lease. `owner` is new for each acquisition, so that stale state of an earlier lease is never
 * written.
 */
export interface Holder {
  readonly name: string
  readonly owner: string
}

export interface SinkHold extends Holder {
  readonly ttlMs: number
}

export interface SinkResults extends SinkChanges {
  /** The version of the sink that the results are about. */
  readonly version: number
}

export interface SinkChanges {
  readonly progress: SinkProgress
  readonly entered: readonly NewItem[]
  readonly changed: readonly SinkItem[]
  readonly removed: readonly number[]
}
