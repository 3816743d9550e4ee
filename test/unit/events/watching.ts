/** Makes hooks and events for tests, as metadata would declare them, without a service. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { Action, Event, EventHook } from '../../../src/events/event.ts'
import { makeEvent } from '../../../src/events/make-event.ts'
import type { States } from '../../../src/events/detect-changes.ts'
import { parseHooks, watchingHooks } from '../../../src/metadata/documents/hooks.ts'
import type { Schema } from '../../../src/schema/schema.ts'

export const DATE = '20260102T03:04:05.678+0000'

export function hookOf(configuration?: JsonObject, more: JsonObject = {}): EventHook {
  const actions = ['insert', 'update', 'delete']
  const [hook] = watchingHooks(
    parseHooks([{ name: 'watcher', actions, ...(configuration && { configuration }), ...more }], ''),
  )
  return hook!
}

/** The event of an update, an insert or a delete. */
export function eventOf(schema: Schema, hook: EventHook, states: States): Event | undefined {
  const change = { id: 'e1', operation: operationOf(states), principal: 'alice', date: DATE, ...states }
  return makeEvent(change, { hook, schema })
}

export function operationOf({ before, after }: States): Action {
  if (!before) return 'insert'
  return after ? 'update' : 'delete'
}

export function valueAt(document: Json | undefined, path: string): Json | undefined {
  return path.split('.').reduce<Json | undefined>((value, step) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    return (value as JsonObject)[step]
  }, document)
}
