/** References of an authorized find → what comes along with its documents, and what is to be read apart from them. */
import type { AllowedJoin } from '../access/requests.ts'
import type { Collection } from '../schema/schema.ts'
import type { JoinPlan } from './plan.ts'
import { idTypeOf } from './id-type.ts'
import { mayPassThrough } from './pass-through.ts'

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
    const isAlong = goesAlong(allowed, holder)
    const plan = {
      steps,
      collection,
      idType: idTypeOf(schema),
      query,
      sort,
      joins: plansAlong(inside),
      isShownWhole: isAlong && inside.length === 0 && isShownWhole(allowed),
    }
    return { allowed, isAlong, plan, joins: inside }
  })
}

/** Where nothing of the documents has to be hidden, cut or filled in. */
function isShownWhole({ schema, steps, visibility, shownAs, projection }: AllowedJoin): boolean {
  return steps.length === 1 && !visibility.hidesSome && !shownAs && !projection && mayPassThrough(schema)
}

export function plansAlong(joins: readonly PlannedJoin[]): readonly JoinPlan[] {
  return joins.filter(({ isAlong }) => isAlong).map(({ plan }) => plan)
}
