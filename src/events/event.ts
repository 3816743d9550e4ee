/** What happens to a document, and the event that a hook makes of it. */
import type { Json, JsonObject } from '../base/json/json.ts'
import type { AuditEntry } from './audit.ts'
import type { States } from './detect-changes.ts'

export type Action = 'insert' | 'update' | 'delete'

/** What events need to know of a hook. */
export interface EventHook {
  readonly name: string
  readonly kind: 'notification' | 'audit'
  readonly actions: readonly Action[]
  /** Watched where no `watchProjection` says something else. */
  readonly projection: Json | undefined
  readonly watchProjection: Json | undefined
  readonly includeProjection: Json | undefined
  readonly arrayOrderingSignificant: boolean
}

/** One change of one document, as a whole: what anybody may see of it is worked out when they ask. */
export interface Happening extends States {
  /** Stable, and made of nothing that somebody may not see. */
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
  /** Missing where `_id` is hidden. */
  readonly documentId?: Json
  readonly principal: string
  readonly date: string
  /** Paths in the state after, as far as it is watched. */
  readonly changed: readonly string[]
  /** Paths in the state before, as far as it is watched. */
  readonly removed: readonly string[]
}

interface NotificationEvent extends EventHead {
  /** Missing for an insert. */
  readonly before?: JsonObject
  /** Missing for a delete. */
  readonly after?: JsonObject
  readonly include: JsonObject
}

interface AuditEvent extends EventHead {
  readonly changes: readonly AuditEntry[]
}
