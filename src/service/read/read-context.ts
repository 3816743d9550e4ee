/** What reading for a request needs, and what all of its parts share. */
import type { Json } from '../../base/json/json.ts'
import type { Bounds } from '../../store/bounds.ts'
import type { Deps } from '../deps.ts'
import { type TimeSlice, timeSliceFor } from './time-slice.ts'

export interface ReadContext {
  readonly deps: Deps
  readonly bounds: Bounds
  /** Of which moment all documents are; the present one when absent. */
  readonly asOf?: number | undefined
  /** Made where the first part begins. */
  readonly shared?: Shared
}

export type SharedReadContext = ReadContext & { readonly shared: Shared }

export interface Shared {
  readonly timeSlice: TimeSlice
  readonly held: Held
  /** Documents that queries lead to, by what was asked of them: what several clauses look at is read once. */
  readonly worlds: Map<string, Promise<readonly Json[]>>
}

/** Counts what is held in memory for the request. */
export interface Held {
  readonly maxBytes: number
  /** Throws what it is told to when that is too much. */
  readonly hold: (bytes: number, tooMuch: () => Error) => void
}

export function sharing(reading: ReadContext): SharedReadContext {
  const { deps, bounds, shared } = reading
  if (shared) return { ...reading, shared }
  const held = heldUpTo(deps.limits.resultBytes * READ_FOR_SHOWN)
  return { ...reading, shared: { timeSlice: timeSliceFor(bounds), held, worlds: new Map() } }
}

/** Of what is read a projection may leave little; so much more than may be shown is held for that. */
const READ_FOR_SHOWN = 4

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
