/** Turns an access list into row rules for one caller, and narrows queries by them. */
import { type Json, type JsonObject, member } from '../base/json/json.ts'
import { DEFAULT_LIMITS } from '../base/limits.ts'
import { memoized } from '../base/memo.ts'
import { compileQuery } from '../lang/evaluate/match.ts'
import type { Query } from '../lang/query.ts'
import { spendOnNodes } from '../lang/query-size.ts'
import { type CallerValues, bindRule } from '../lang/resolve/row-rule.ts'
import { type FieldRef, rootScope } from '../lang/resolve/scope.ts'
import type { RoleList, RowRule } from '../schema/field.ts'
import type { Schema } from '../schema/schema.ts'
import { type Caller, applicableEntries } from './caller.ts'

export type Rule = Query<FieldRef>
/** A document must match all of these. An empty list admits every document. */
export type Rules = readonly Rule[]
export type Condition = Rules | 'never'

/** An entry without a row rule admits the caller to every document; other entries, to the documents they match. */
export function conditionOf(list: RoleList, schema: Schema, caller: Caller): Condition {
  const entries = applicableEntries(list, caller)
  if (entries.length === 0) return 'never'
  const rules = entries.filter((entry) => typeof entry !== 'string')
  if (rules.length < entries.length) return ALWAYS
  const terms = rules.flatMap((rule) => {
    const bound = boundTo(rule, schema, caller)
    // A caller with many roles has many rules, and all of them are made for its first request.
    if (bound) spendOnNodes(bound)
    return bound ?? []
  })
  if (terms.length === 0) return 'never'
  return [terms.length === 1 ? terms[0]! : { kind: 'or', terms }]
}

/** The row rule with the values of the caller; undefined if it matches no document. */
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

/** The conjunction of the rules and the query. */
export function narrowed<Q extends Query<FieldRef> | undefined>(query: Q, rules: Rules): Q | Query<FieldRef> {
  const distinct = [...new Set(rules)]
  if (distinct.length === 0) return query
  if (!query && distinct.length === 1) return distinct[0]!
  return { kind: 'and', terms: query ? [...distinct, query] : distinct }
}

/** Whether the stored document matches all rules. */
export function holds(rules: Rules, document: JsonObject): boolean {
  return rules.every((rule) => testOf(rule)({ value: document }))
}

export const ALWAYS: Rules = []
export const NO_DOCUMENT: Rules = [{ kind: 'or', terms: [] }]

export const testOf = memoized((rule: Rule) => compileQuery(rule))

/** An empty principal is not a value: a rule that compares with it matches nothing. */
function valuesOf(caller: Caller): CallerValues {
  const { principal } = caller
  return ([source, ...path]) => {
    if (source === 'principal') return principal === '' ? undefined : principal
    return claimOf(caller, path)
  }
}

export function claimOf({ claims }: Caller, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>(member, claims)
}
