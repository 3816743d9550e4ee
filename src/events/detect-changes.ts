/** Whether something that is watched changed between two states of a document, and what. */
import type { JsonObject } from '../base/json/json.ts'
import type { Projection } from '../lang/projection.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import type { Field } from '../schema/field.ts'
import type { Schema } from '../schema/schema.ts'
import { type Difference, differencesBetween } from './differences.ts'
import { compileWatch } from './watch.ts'

export interface Watching {
  readonly schema: Schema
  /** Undefined: everything. */
  readonly projection: Projection<FieldRef> | undefined
  readonly arrayOrderingSignificant: boolean
  /** Documents come without these; their fields then tell no elements apart either. */
  readonly isHidden?: (field: Field) => boolean
}

/** A document that is inserted was nothing before, one that is deleted is nothing after. */
export interface States {
  readonly before?: JsonObject
  readonly after?: JsonObject
}

export interface Changes {
  /** What is new or different, by its path in `after`. */
  readonly changed: readonly string[]
  /** What is gone, by its path in `before`. */
  readonly removed: readonly string[]
  /** What is watched of the document. */
  readonly before?: JsonObject
  readonly after?: JsonObject
  /** The same, one by one. */
  readonly differences: readonly Difference[]
}

/** Undefined when nothing that is watched changed. */
type Detector = (states: States) => Changes | undefined

export function detectChanges(watching: Watching, states: States): Changes | undefined {
  return compileDetector(watching)(states)
}

export function compileDetector(watching: Watching): Detector {
  const { schema, projection, arrayOrderingSignificant: isOrdered, isHidden } = watching
  const { watchedOf, marks, mayDiffer } = compileWatch(schema, projection)
  const matching = { isOrdered, marks, ...(isHidden && { isHidden }) }
  return (states) => {
    if (states.before && states.after && !mayDiffer(states.before, states.after)) return undefined
    const before = states.before && watchedOf(states.before)
    const after = states.after && watchedOf(states.after)
    const differences = differencesBetween(before ?? {}, after ?? {}, { root: schema.root, matching })
    if (differences.length === 0) return undefined
    const removed = differences.filter(({ kind }) => kind === 'removed').map(({ path }) => path)
    const changed = differences.filter(({ kind }) => kind !== 'removed').map(({ path }) => path)
    return { changed, removed, ...(before && { before }), ...(after && { after }), differences }
  }
}
