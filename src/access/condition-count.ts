/** Limits the conditions of an authorized request, after references and row rules have become part of them. */
import { type CountConditions, createConditionCount } from '../lang/query-size.ts'
import { linksIn } from '../lang/resolve/scope.ts'
import type { AllowedAggregate, AllowedFind, AllowedJoin } from './requests.ts'

export function requireFewInFind({ query, sort, joined }: AllowedFind): void {
  const count = createConditionCount()
  if (query) count(query)
  for (const link of linksIn(sort)) count(link.query)
  countInJoins(joined?.joins ?? [], count)
}

export function requireFewInAggregate({ query, aggregation }: AllowedAggregate): void {
  const count = createConditionCount()
  if (query) count(query)
  for (const link of aggregation.chain) if (link.kind === 'documents') count(link.query)
}

/** References that one statement reads are columns of it, so they count together. */
function countInJoins(joins: readonly AllowedJoin[], count: CountConditions): void {
  for (const { query, sort, joins: nested } of joins) {
    count(query)
    for (const link of linksIn(sort)) count(link.query)
    countInJoins(nested, count)
  }
}
