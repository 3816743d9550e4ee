/** What a hook makes of a change. */
import { type JsonObject, member } from '../base/json/json.ts'
import { memoized } from '../base/memo.ts'
import { compileStrip } from '../lang/evaluate/strip.ts'
import type { Field } from '../schema/field.ts'
import type { Schema } from '../schema/schema.ts'
import { auditEntries } from './audit.ts'
import { compileDetector } from './detect-changes.ts'
import type { Event, EventHook, Happening } from './event.ts'
import { projectionOf } from './visible-projection.ts'
import { compileInclusion } from './watch.ts'

interface Making {
  readonly hook: EventHook
  readonly schema: Schema
  /** What is hidden is gone before anything looks at the documents. The same function for those who see alike. */
  readonly isHidden?: (field: Field) => boolean
}

/** Undefined when the hook does not act on this, or nothing it watches changed. */
export function makeEvent(happening: Happening, { hook, schema, isHidden }: Making): Event | undefined {
  if (!hook.actions.includes(happening.operation)) return undefined
  return makerFor(schema)(hook)(isHidden ?? nothing)(happening)
}

function nothing(): boolean {
  return false
}

type Maker = (happening: Happening) => Event | undefined

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
