/** Updates as plain data: a list of steps, applied in order, each seeing the effects of those before it. */
import type { Json } from '../base/json/json.ts'
import type { Query } from './query.ts'

export type Update<F> = readonly UpdateStep<F>[]

/** `within`: the objects on the way whose being there decides whether the step leaves what they need. */
export type UpdateStep<F> =
  | { readonly kind: 'set'; readonly field: F; readonly value: RValue<F>; readonly within?: readonly F[] }
  | { readonly kind: 'unset'; readonly field: F; readonly within?: readonly F[] }
  | { readonly kind: 'add'; readonly field: F; readonly value: RValue<F> }
  | { readonly kind: 'append'; readonly array: F; readonly values: readonly RValue<F>[] }
  | {
      readonly kind: 'insert'
      readonly array: F
      readonly index: number
      readonly values: readonly RValue<F>[]
    }
  | {
      readonly kind: 'foreach'
      readonly array: F
      /** Absent: every element. */
      readonly selector?: Query<F>
      readonly action: 'remove' | Update<F>
    }

/** What is written: a literal, or a copy of what stands elsewhere in the document. */
export type RValue<F> =
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'valueOf'; readonly field: F }

export interface UpdateFields<F> {
  /** Fields that are written. */
  readonly targets: readonly F[]
  /** Fields whose content is written elsewhere. */
  readonly copied: readonly F[]
  /** Fields whose content decides what happens: what selectors name, what is added to, arrays that are walked. */
  readonly seen: readonly F[]
}
