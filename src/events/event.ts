/** Types of document changes, and of the events that hooks make of them. */
import type { Json, JsonObject } from '../base/json/json.ts'
import type { AuditEntry } from './audit.ts'
import type { States } from './detect-changes.ts'

export type Action = 'insert' | 'update' | 'delete'

/** The part of a hook that events depend on. */
export interface EventHook {
  readonly name: string
  readonly kind: 'notification' | 'audit'
  readonly actions: readonly Action[]
  /** Watched when there is no `watchProjection`. */
  readonly projection: Json | undefined
  readonly watchProjection: Json | undefined
  readonly includeProjection: Json | undefined
  readonly arrayOrderingSignificant: boolean
}

/** One change of one document with all its fields; events are made from it for each reader. */
export interface DocumentChange extends States {
  /** Stable, and independent of anything that a reader may not see. */
  readonly id: string
  readonly operation: Action
  readonly principal: string
  readonly date: string
}

export type Event = NotificationEvent | AuditEvent

interface EventHead {
  readonly id: string
  readonly hook: string
  readonly entity: string
  readonly entityVersion: string
  readonly operation: Action
  /** Absent when `_id` is hidden. */
  readonly documentId?: Json
  readonly principal: string
  readonly date: string
  /** Paths in the watched part of the state after. */
  readonly changed: readonly string[]
  /** Paths in the watched part of the state before. */
  readonly removed: readonly string[]
}

interface NotificationEvent extends EventHead {
  /** Absent for an insert. */
  readonly before?: JsonObject
  /** Absent for a delete. */
  readonly after?: JsonObject
  readonly include: JsonObject
}

interface AuditEvent extends EventHead {
  readonly changes: readonly AuditEntry[]
}
