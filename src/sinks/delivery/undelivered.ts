/** The undelivered events of a sink: fresh ones, which are only in memory, and items, which are stored. */
import type { StoredEvent } from '../../store/events.ts'
import type { NewItem, SinkChanges, SinkItem } from '../../store/sinks.ts'

export interface Undelivered {
  /** Events that are read, not delivered, and not items; ordered by sequence number. */
  readonly fresh: ReadonlyMap<number, StoredEvent>
  readonly items: ReadonlyMap<number, SinkItem>
  /** False for a known event: an item can be ahead of the read position, and reading then finds it again. */
  take(event: StoredEvent): boolean
  readUpTo(scannedTo: number): void
  readTo(): number
  /** All events up to this sequence number are delivered or are items. */
  position(): number
  /** Turns a fresh event into an item, or changes an item. */
  enter(item: SinkItem): void
  drop(seq: number): void
  /** Applies a change or removal of an item by others; it is stored already. */
  correct(seq: number, item: SinkItem | undefined): void
  hasChanged(): boolean
  /** Whether there are changes that another send would not restore. */
  isUrgent(): boolean
  /** The changes count as saved from here on. */
  takeChanges(): Omit<SinkChanges, 'progress'>
  tally(): { readonly undelivered: number; readonly dead: number; readonly oldestAt: number | undefined }
}

export function createUndelivered(position: number, stored: readonly SinkItem[]): Undelivered {
  const fresh = new Map<number, StoredEvent>()
  const items = new Map(stored.map((item) => [item.seq, item]))
  const entered = new Map<number, NewItem>()
  const changed = new Map<number, SinkItem>()
  const removed = new Set<number>()
  /** Items ahead of the read position that were completed; reading must skip them. */
  const ahead = new Set<number>()
  let readTo = position

  return {
    fresh,
    items,
    take(event) {
      if (items.has(event.seq) || ahead.has(event.seq)) return false
      fresh.set(event.seq, event)
      return true
    },
    readUpTo(scannedTo) {
      readTo = scannedTo
      for (const seq of ahead) if (seq <= readTo) ahead.delete(seq)
    },
    readTo: () => readTo,
    position: () => {
      const [first] = fresh.keys()
      return first === undefined ? readTo : first - 1
    },
    enter(item) {
      const { seq } = item
      const event = fresh.get(seq)
      const unsaved = entered.get(seq)
      if (event) entered.set(seq, { ...item, id: event.id, event: JSON.stringify(event) })
      else if (unsaved) entered.set(seq, { ...unsaved, ...item })
      else changed.set(seq, item)
      fresh.delete(seq)
      items.set(seq, item)
    },
    drop(seq) {
      if (fresh.delete(seq)) return
      items.delete(seq)
      changed.delete(seq)
      if (seq > readTo) ahead.add(seq)
      if (!entered.delete(seq)) removed.add(seq)
    },
    correct(seq, item) {
      if (item) items.set(seq, item)
      else items.delete(seq)
    },
    isUrgent: () => entered.size + changed.size > 0,
    hasChanged: () => entered.size + changed.size + removed.size > 0,
    takeChanges() {
      const taken = { entered: [...entered.values()], changed: [...changed.values()], removed: [...removed] }
      for (const each of [entered, changed, removed]) each.clear()
      return taken
    },
    tally: () => tally(fresh, items),
  }
}

function tally(
  fresh: ReadonlyMap<number, StoredEvent>,
  items: ReadonlyMap<number, SinkItem>,
): ReturnType<Undelivered['tally']> {
  let dead = 0
  let oldestAt = Infinity
  for (const { at } of fresh.values()) oldestAt = Math.min(oldestAt, at)
  for (const { state, at } of items.values()) {
    if (state === 'dead') dead++
    else oldestAt = Math.min(oldestAt, at)
  }
  return {
    undelivered: fresh.size + items.size - dead,
    dead,
    oldestAt: oldestAt === Infinity ? undefined : oldestAt,
  }
}
