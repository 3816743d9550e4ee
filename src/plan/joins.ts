/**
 * Plans the references of an authorized find: which of them one statement reads together with the documents, and which
 * need a separate read.
 */
import type { AllowedJoin } from '../access/requests.ts'
import type { Collection } from '../schema/schema.ts'
import type { JoinPlan } from './plan.ts'
import { idTypeOf } from './id-type.ts'
import { mayPassThrough } from './pass-through.ts'

export interface PlannedJoin {
  readonly allowed: AllowedJoin
  /** Whether one statement reads these documents together with the documents that contain the reference. */
  readonly inStatement: boolean
  readonly plan: JoinPlan
  /** All joins of these documents, in the statement or separate. */
  readonly joins: readonly PlannedJoin[]
}

/** Whether one statement can read the joined documents together with the documents of `holder`. */
export type IsInStatement = (join: AllowedJoin, holder: Collection) => boolean

export function planJoins(
  joins: readonly AllowedJoin[],
  holder: Collection,
  isInStatement: IsInStatement,
): readonly PlannedJoin[] {
  return joins.map((allowed) => {
    const { isCount, schema, steps, query, sort } = allowed
    const { collection } = schema
    const inside = planJoins(allowed.joins, collection, isInStatement)
    const inStatement = isInStatement(allowed, holder)
    const plan = {
      ...(isCount && { isCount }),
      steps,
      collection,
      idType: idTypeOf(schema),
      query,
      sort,
      joins: planInStatement(inside),
      isShownWhole: inStatement && !isCount && inside.length === 0 && isShownWhole(allowed),
    }
    return { allowed, inStatement, plan, joins: inside }
  })
}

/** Whether the stored text can be embedded unchanged: no field is hidden, projected away or computed on read. */
function isShownWhole({ schema, steps, visibility, shownAs, projection }: AllowedJoin): boolean {
  return steps.length === 1 && !visibility.hidesSome && !shownAs && !projection && mayPassThrough(schema)
}

export function planInStatement(joins: readonly PlannedJoin[]): readonly JoinPlan[] {
  return joins.filter(({ inStatement }) => inStatement).map(({ plan }) => plan)
}
