/** References of an authorized find → what comes along with its documents, and what is to be read apart from them. */
import type { AllowedJoin } from '../access/requests.ts'
import type { Collection } from '../schema/schema.ts'
import type { JoinPlan } from './plan.ts'
import { idTypeOf } from './id-type.ts'
import { mayPassThrough } from './pass-through.ts'

export interface PlannedJoin {
  readonly allowed: AllowedJoin
  /** Whether one statement reads these documents with the ones that hold the reference. */
  readonly inStatement: boolean
  readonly plan: JoinPlan
  /** All joins of these documents, along or apart. */
  readonly joins: readonly PlannedJoin[]
}

/** Whether documents can be read together with those of a collection. */
export type IsInStatement = (join: AllowedJoin, holder: Collection) => boolean

export function planJoins(
  joins: readonly AllowedJoin[],
  holder: Collection,
  isInStatement: IsInStatement,
): readonly PlannedJoin[] {
  return joins.map((allowed) => {
    const { schema, steps, query, sort } = allowed
    const { collection } = schema
    const inside = planJoins(allowed.joins, collection, isInStatement)
    const inStatement = isInStatement(allowed, holder)
    const plan = {
      steps,
      collection,
      idType: idTypeOf(schema),
      query,
      sort,
      joins: planInStatement(inside),
      isShownWhole: inStatement && inside.length === 0 && isShownWhole(allowed),
    }
    return { allowed, inStatement, plan, joins: inside }
  })
}

/** Where nothing of the documents has to be hidden, cut or filled in. */
function isShownWhole({ schema, steps, visibility, shownAs, projection }: AllowedJoin): boolean {
  return steps.length === 1 && !visibility.hidesSome && !shownAs && !projection && mayPassThrough(schema)
}

export function planInStatement(joins: readonly PlannedJoin[]): readonly JoinPlan[] {
  return joins.filter(({ inStatement }) => inStatement).map(({ plan }) => plan)
}
