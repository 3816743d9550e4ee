/** The context of the reads for one request, and the state that all of them share. */
import type { Json } from '../../base/json/json.ts'
import type { Bounds } from '../../store/bounds.ts'
import type { Deps } from '../deps.ts'
import { type TimeSlice, timeSliceFor } from './time-slice.ts'

export interface ReadContext {
  readonly deps: Deps
  readonly bounds: Bounds
  /** The timestamp whose documents are read; absent: the current ones. */
  readonly asOf?: number | undefined
  /** Created by the first read. */
  readonly shared?: Shared
}

export type SharedReadContext = ReadContext & { readonly shared: Shared }

export interface Shared {
  readonly timeSlice: TimeSlice
  readonly held: Held
  /** Documents that queries lead to, by the terms that select them, so that several clauses share one read. */
  readonly joinedDocuments: Map<string, Promise<readonly Json[]>>
}

/** Counts the memory that the request uses. */
export interface Held {
  readonly maxBytes: number
  /** Throws the given error if the limit is exceeded. */
  readonly hold: (bytes: number, tooMuch: () => Error) => void
}

export function sharing(reading: ReadContext): SharedReadContext {
  const { deps, bounds, shared } = reading
  if (shared) return { ...reading, shared }
  const held = heldUpTo(deps.limits.resultBytes * MAX_READ_PER_RESULT)
  return { ...reading, shared: { timeSlice: timeSliceFor(bounds), held, joinedDocuments: new Map() } }
}

/** A projection may show little of the documents read, so reads may use this many times the size of a result. */
const MAX_READ_PER_RESULT = 4

function heldUpTo(maxBytes: number): Held {
  let held = 0
  return {
    maxBytes,
    hold(bytes, tooMuch) {
      held += bytes
      if (held > maxBytes) throw tooMuch()
    },
  }
}
