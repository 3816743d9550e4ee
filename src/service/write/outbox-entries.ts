/** Captures the outbox entries of a change while it is written. */
import { randomUUID } from 'node:crypto'
import type { Caller } from '../../access/caller.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { memoized } from '../../base/memo.ts'
import { type Work, during } from '../../base/work/work.ts'
import { makeEvent } from '../../events/make-event.ts'
import { type WatchingHook, printHook } from '../../metadata/documents/hooks.ts'
import type { OutboxEntry, CaptureChange, WatchedChange, WritePlan } from '../../plan/plan.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Deps } from '../deps.ts'

/** The plan of a write with its principal and, if the entity has hooks, with the function that captures changes. */
export function watched<P extends WritePlan>(
  plan: P,
  schema: Schema,
  { deps, caller, work }: WatchContext,
): P {
  const hooks = deps.hooksOf(schema.entity)
  const { principal } = caller
  if (hooks.length === 0) return { ...plan, principal }
  const captureChange = captureFor(hooks, schema, { deps, caller })
  const { onCaptured } = deps
  return {
    ...plan,
    principal,
    captureChange: (change) =>
      during(work, () => {
        const entries = captureChange(change)
        onCaptured?.(change, entries)
        return entries
      }),
  }
}

interface WatchContext {
  readonly deps: Pick<Deps, 'hooksOf' | 'now' | 'onCaptured'>
  readonly caller: Caller
  readonly work: Work
}

function captureFor(
  hooks: readonly WatchingHook[],
  schema: Schema,
  { deps, caller }: Pick<WatchContext, 'deps' | 'caller'>,
): CaptureChange {
  return (change) => {
    const watching = hooks.filter(({ actions }) => actions.includes(change.operation))
    if (watching.length === 0) return []
    const now = deps.now()
    const { principal } = caller
    const date = now.toISOString()
    const documentChange = { id: '', operation: change.operation, principal, date, ...statesOf(change) }
    const concerned = watching.filter((hook) => makeEvent(documentChange, { hook, schema }) !== undefined)
    const ids = ascendingIds(concerned.length)
    return concerned.map((hook, i): OutboxEntry => {
      const head = { entityVersion: schema.version, principal, date }
      const details = `${JSON.stringify(head).slice(0, -1)},"hook":${textOf(hook)}}`
      const { entity } = schema
      return {
        id: ids[i]!,
        entity,
        hook: hook.name,
        operation: change.operation,
        at: now.getTime(),
        details,
      }
    })
  }
}

/** A store that numbers events after the commit finds the order of the hooks in the order of the ids. */
function ascendingIds(count: number): readonly string[] {
  return Array.from({ length: count }, () => randomUUID()).sort()
}

/** The hook at the time of the change: readers see the event by this definition, even if the hook has changed since. */
const textOf = memoized((hook: WatchingHook) => JSON.stringify(printHook(hook)))

function statesOf(change: WatchedChange): { readonly before?: JsonObject; readonly after?: JsonObject } {
  return {
    ...('before' in change && { before: parseTrusted(change.before.text) as JsonObject }),
    ...('after' in change && { after: change.after }),
  }
}
