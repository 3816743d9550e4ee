/** Detects changes in the watched part of a document between two states. */
import type { JsonObject } from '../base/json/json.ts'
import type { Projection } from '../lang/projection.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import type { Field } from '../schema/field.ts'
import type { Schema } from '../schema/schema.ts'
import { type Difference, differencesBetween } from './differences.ts'
import { compileWatch } from './watch.ts'

interface WatchOptions {
  readonly schema: Schema
  /** The watched part; everything when undefined. */
  readonly projection: Projection<FieldRef> | undefined
  readonly arrayOrderingSignificant: boolean
  /** Hidden fields, which the documents do not contain; they do not identify elements either. */
  readonly isHidden?: (field: Field) => boolean
}

/** An insert has no state before, a delete none after. */
export interface States {
  readonly before?: JsonObject
  readonly after?: JsonObject
}

export interface Changes {
  /** Added and changed values, by path in `after`. */
  readonly changed: readonly string[]
  /** Removed values, by path in `before`. */
  readonly removed: readonly string[]
  /** The watched part of the document. */
  readonly before?: JsonObject
  readonly after?: JsonObject
  /** The same changes with their values. */
  readonly differences: readonly Difference[]
}

/** Undefined when the watched part did not change. */
type Detector = (states: States) => Changes | undefined

export function detectChanges(options: WatchOptions, states: States): Changes | undefined {
  return compileDetector(options)(states)
}

export function compileDetector(options: WatchOptions): Detector {
  const { schema, projection, arrayOrderingSignificant: isOrdered, isHidden } = options
  const { projectWatched, identifiers, mayDiffer } = compileWatch(schema, projection)
  const matching = { isOrdered, identifiers, ...(isHidden && { isHidden }) }
  return (states) => {
    if (states.before && states.after && !mayDiffer(states.before, states.after)) return undefined
    const before = states.before && projectWatched(states.before)
    const after = states.after && projectWatched(states.after)
    const differences = differencesBetween(before ?? {}, after ?? {}, { root: schema.root, matching })
    if (differences.length === 0) return undefined
    const removed = differences.filter(({ kind }) => kind === 'removed').map(({ path }) => path)
    const changed = differences.filter(({ kind }) => kind !== 'removed').map(({ path }) => path)
    return { changed, removed, ...(before && { before }), ...(after && { after }), differences }
  }
}
