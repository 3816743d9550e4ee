/** References of an authorized find → what comes along with its documents, and what is to be read apart from them. */
import type { AllowedJoin } from '../access/requests.ts'
import type { Collection } from '../schema/schema.ts'
import type { JoinPlan } from './plan.ts'
import { idTypeOf } from './id-type.ts'

export interface PlannedJoin {
  readonly allowed: AllowedJoin
  /** Whether one statement reads these documents with the ones that hold the reference. */
  readonly isAlong: boolean
  readonly plan: JoinPlan
  /** All joins of these documents, along or apart. */
  readonly joins: readonly PlannedJoin[]
}

/** Whether documents can be read together with those of a collection. */
export type GoesAlong = (join: AllowedJoin, holder: Collection) => boolean

export function planJoins(
  joins: readonly AllowedJoin[],
  holder: Collection,
  goesAlong: GoesAlong,
): readonly PlannedJoin[] {
  return joins.map((allowed) => {
    const { schema, steps, query, sort } = allowed
    const { collection } = schema
    const inside = planJoins(allowed.joins, collection, goesAlong)
    const plan = { steps, collection, idType: idTypeOf(schema), query, sort, joins: plansAlong(inside) }
    return { allowed, isAlong: goesAlong(allowed, holder), plan, joins: inside }
  })
}

export function plansAlong(joins: readonly PlannedJoin[]): readonly JoinPlan[] {
  return joins.filter(({ isAlong }) => isAlong).map(({ plan }) => plan)
}
