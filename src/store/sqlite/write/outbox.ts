/**
 * Writes outbox entries in the transaction of the change. There is one writer, so their numbers are in commit
 * order.
 */
import type { CaptureChange, WatchedChange } from '../../../plan/plan.ts'
import { type EventStates, holderOf } from '../../events.ts'
import { param, raw, sql } from '../../sql/fragment.ts'
import type { OutboxTable } from '../../tables/outbox-heads.ts'
import type { Statements } from '../read/reads.ts'

export interface OutboxWriter {
  readonly entering: (captureChange: CaptureChange) => Enter
  readonly onEvents: (listener: () => void) => void
  /** Wakes listeners; called after each commit. */
  readonly announce: () => void
  /** The same for entries of another thread. */
  readonly announceOthers: () => void
  /** Whether entries were written since the last call; resets the flag. */
  readonly takeHasEntered: () => boolean
}

export type Enter = (change: WatchedChange, states: EntryStates) => void

/** The part of an entry that does not come from the hook. */
interface EntryStates {
  readonly document: string
  readonly before: string | null
  readonly after: string | null
}

export function createOutboxWriter(statements: Statements): OutboxWriter {
  const listeners: (() => void)[] = []
  let hasEntered = false
  return {
    entering: (captureChange) => (change, states) => {
      const entered: number[] = []
      for (const [i, { id, entity, hook, operation, at, details }] of captureChange(change).entries()) {
        const holder = entered[holderOf(i)] ?? null
        const { before, after } = holder === null ? states : NO_STATES
        const row = [id, entity, hook, operation, states.document, at, details, before, after, holder]
        entered.push(Number(statements.prepare(ENTER).run(...row).lastInsertRowid))
        hasEntered = true
      }
    },
    onEvents: (listener) => void listeners.push(listener),
    announce() {
      if (takeHasEntered()) callListeners()
    },
    announceOthers: callListeners,
    takeHasEntered,
  }

  function takeHasEntered(): boolean {
    const was = hasEntered
    hasEntered = false
    return was
  }

  function callListeners(): void {
    // Deferred, so that writers get their responses first.
    setImmediate(() => {
      for (const listener of listeners) listener()
    })
  }
}

const NO_STATES: EventStates = { before: null, after: null }

const ENTER = `insert into smalt_event(id, entity, hook, operation, document, at, details, before, after, holder)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

export const OUTBOX_TABLE: OutboxTable = {
  name: raw('smalt_event'),
  holderKey: 'seq',
  documentColumns: ['document'],
  // `sqlite_sequence` includes deleted events: a number is never reused.
  bounds: sql`select (select min(seq) from smalt_event),
    (select seq from sqlite_sequence where name = 'smalt_event')`,
  setBounds: ({ last }) =>
    last === undefined
      ? []
      : [
          sql`delete from sqlite_sequence where name = 'smalt_event'`,
          sql`insert into sqlite_sequence(name, seq) values ('smalt_event', ${param(last)})`,
        ],
  untilNumbered: async () => undefined,
}
