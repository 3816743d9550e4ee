/** Turns an authorized aggregate into the plan of a store. */
import type { Authorized } from '../access/authorize.ts'
import type { AllowedAggregate } from '../access/requests.ts'
import type { Query } from '../lang/query.ts'
import { MAX_GROUPS } from '../lang/aggregate.ts'
import type { ResolvedAggregation } from '../lang/resolve/resolve-aggregate.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import type { Collection } from '../schema/schema.ts'
import type { TypeName } from '../schema/types.ts'
import { idTypeOf } from './id-type.ts'

export interface AggregatePlan {
  readonly collection: Collection
  readonly idType: TypeName
  /** Absent: every document. */
  readonly query?: Query<FieldRef>
  readonly aggregation: ResolvedAggregation
  /** Inclusive and zero-based. Without `to`, one group more than may be returned is read. */
  readonly from: number
  readonly to?: number
}

export function planAggregate(aggregate: Authorized<AllowedAggregate>): AggregatePlan {
  const { schema, query, aggregation, from, to } = aggregate
  return {
    collection: schema.collection,
    idType: idTypeOf(schema),
    ...(query && { query }),
    aggregation,
    from,
    ...(to !== undefined && { to }),
  }
}

/** The end of the page that a store reads. */
export function lastGroupOf({ from, to }: Pick<AggregatePlan, 'from' | 'to'>): number {
  return to ?? from + MAX_GROUPS
}
