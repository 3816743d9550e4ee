/** Makes the event of a hook from a document change. */
import { type JsonObject, member } from '../base/json/json.ts'
import { memoized } from '../base/memo.ts'
import { compileStrip } from '../lang/evaluate/strip.ts'
import type { Field } from '../schema/field.ts'
import type { Schema } from '../schema/schema.ts'
import { auditEntries } from './audit.ts'
import { compileDetector } from './detect-changes.ts'
import type { DocumentChange, Event, EventHook } from './event.ts'
import { projectionOf } from './visible-projection.ts'
import { compileInclusion } from './watch.ts'

interface MakeEventOptions {
  readonly hook: EventHook
  readonly schema: Schema
  /**
   * Hidden fields are removed before the documents are compared. Pass the same function for readers with the same
   * visibility: compiled event makers are cached by it.
   */
  readonly isHidden?: (field: Field) => boolean
}

/** Undefined when the hook does not listen to the operation, or its watched part did not change. */
export function makeEvent(
  change: DocumentChange,
  { hook, schema, isHidden }: MakeEventOptions,
): Event | undefined {
  if (!hook.actions.includes(change.operation)) return undefined
  return makerFor(schema)(hook)(isHidden ?? hidesNothing)(change)
}

function hidesNothing(): boolean {
  return false
}

type Maker = (change: DocumentChange) => Event | undefined

const makerFor = memoized((schema: Schema) =>
  memoized((hook: EventHook) =>
    memoized((isHidden: (field: Field) => boolean) => createMaker(schema, hook, isHidden)),
  ),
)

function createMaker(schema: Schema, hook: EventHook, isHidden: (field: Field) => boolean): Maker {
  const strip = compileStrip(schema.root.fields, isHidden) ?? ((document: JsonObject) => document)
  const { arrayOrderingSignificant } = hook
  const projection = projectionOf(hook.watchProjection ?? hook.projection, schema, isHidden)
  const detect = compileDetector({ schema, projection, arrayOrderingSignificant, isHidden })
  const included = compileInclusion(schema, projectionOf(hook.includeProjection, schema, isHidden) ?? [])
  return ({ id, operation, principal, date, ...states }) => {
    const before = states.before && strip(states.before)
    const after = states.after && strip(states.after)
    const changes = detect({ ...(before && { before }), ...(after && { after }) })
    if (!changes) return undefined
    const last = after ?? before ?? {}
    const documentId = member(last, '_id')
    const head = {
      id,
      hook: hook.name,
      entity: schema.entity,
      entityVersion: schema.version,
      operation,
      ...(documentId !== undefined && { documentId }),
      principal,
      date,
    }
    const { differences, ...watched } = changes
    if (hook.kind === 'notification') return { ...head, ...watched, include: included(last) }
    const { changed, removed } = watched
    return { ...head, changed, removed, changes: auditEntries(differences) }
  }
}
