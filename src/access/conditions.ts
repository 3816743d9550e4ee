/** To which documents a list admits a caller, as queries that all have to hold; and how requests are narrowed by them. */
import { type Json, type JsonObject, member } from '../base/json/json.ts'
import { DEFAULT_LIMITS } from '../base/limits.ts'
import { memoized } from '../base/memo.ts'
import { compileQuery } from '../lang/evaluate/match.ts'
import type { Query } from '../lang/query.ts'
import { type CallerValues, bindRule } from '../lang/resolve/row-rule.ts'
import { type FieldRef, rootScope } from '../lang/resolve/scope.ts'
import type { RoleList, RowRule } from '../schema/field.ts'
import type { Schema } from '../schema/schema.ts'
import { type Caller, countingEntries } from './caller.ts'

export type Rule = Query<FieldRef>
/** All of these must hold of a document; none means every document. */
export type Rules = readonly Rule[]
export type Condition = Rules | 'never'

/** One entry without a rule admits to everything; else each admits to what it matches. */
export function conditionOf(list: RoleList, schema: Schema, caller: Caller): Condition {
  const entries = countingEntries(list, caller)
  if (entries.length === 0) return 'never'
  const rules = entries.filter((entry) => typeof entry !== 'string')
  if (rules.length < entries.length) return ALWAYS
  const terms = rules.flatMap((rule) => boundTo(rule, schema, caller) ?? [])
  if (terms.length === 0) return 'never'
  return [terms.length === 1 ? terms[0]! : { kind: 'or', terms }]
}

/** The rule for one caller; undefined where it matches nothing. */
export function boundTo({ where }: RowRule, schema: Schema, caller: Caller): Rule | undefined {
  return bindRule(where, valuesOf(caller), { scope: rootScope(schema), limits: DEFAULT_LIMITS })
}

export function allOf(conditions: readonly Condition[]): Condition {
  const rules = new Set<Rule>()
  for (const condition of conditions) {
    if (condition === 'never') return 'never'
    for (const rule of condition) rules.add(rule)
  }
  return rules.size === 0 ? ALWAYS : [...rules]
}

/** The rules stand in front: whatever is asked is asked of these documents only. */
export function narrowed<Q extends Query<FieldRef> | undefined>(query: Q, rules: Rules): Q | Query<FieldRef> {
  const distinct = [...new Set(rules)]
  if (distinct.length === 0) return query
  if (!query && distinct.length === 1) return distinct[0]!
  return { kind: 'and', terms: query ? [...distinct, query] : distinct }
}

/** Whether a document, as it is stored, is one that all the rules match. */
export function holds(rules: Rules, document: JsonObject): boolean {
  return rules.every((rule) => testOf(rule)({ value: document }))
}

export const ALWAYS: Rules = []
export const NO_DOCUMENT: Rules = [{ kind: 'or', terms: [] }]

export const testOf = memoized((rule: Rule) => compileQuery(rule))

/** Nobody has an empty name: a caller without one has no value there. */
function valuesOf({ principal, claims }: Caller): CallerValues {
  return ([source, ...path]) => {
    if (source === 'principal') return principal === '' ? undefined : principal
    return path.reduce<Json | undefined>(member, claims)
  }
}
