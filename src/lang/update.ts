/** Updates as plain data: a list of steps, applied in order. Each step sees the effects of earlier steps. */
import type { Json } from '../base/json/json.ts'
import type { Query } from './query.ts'

export type Update<F> = readonly UpdateStep<F>[]

/**
 * `within`: the objects on the path whose existence decides whether the step leaves a mandatory member missing. The
 * outcome reveals whether they exist, so access control treats them as fields that are read.
 */
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

/** The value to write: a literal, or a copy of another field of the document. */
export type RValue<F> =
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'valueOf'; readonly field: F }

export interface UpdateFields<F> {
  /** Fields that are written. */
  readonly targets: readonly F[]
  /** Fields whose content is written elsewhere. */
  readonly copied: readonly F[]
  /** Fields whose content influences the result: fields in selectors, targets of `$add`, arrays of `$foreach`. */
  readonly seen: readonly F[]
}
