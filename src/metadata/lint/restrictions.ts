/** By which rules the lists restrict a role; a rule that always holds is none. */
import { DEFAULT_LIMITS } from '../../base/limits.ts'
import { memoized } from '../../base/memo.ts'
import { parseQuery } from '../../lang/parse-query.ts'
import { type AccessEntry, type Field, type RoleList, type RowRule, roleOf } from '../../schema/field.ts'
import type { EntityOperation, Schema } from '../../schema/schema.ts'
import { isEverything } from './decided.ts'

/** Whether the entry admits its role to every document. */
export function isUnrestricted(entry: AccessEntry): boolean {
  return typeof entry === 'string' || ruleIn(entry).isEverything
}

/** One text for each list that restricts the role, sorted; none: it reaches every document, if it is admitted at all. */
export function restrictionsOf({ schema, operation, trail = [] }: Asked, role: string): readonly string[] {
  const texts = listsOf(schema, operation, trail.at(-1)).flatMap((list) => {
    const entries = list.filter((entry) => ['anyone', role].includes(roleOf(entry)))
    const rules = entries.filter((entry) => typeof entry !== 'string')
    // A list that does not admit the role at all is none of those that decide here.
    const isIdle = entries.length === 0 || list.some((entry) => roleOf(entry) === 'noone')
    return isIdle || entries.some(isUnrestricted) ? [] : [textOf(rules)]
  })
  return [...new Set(texts)].sort()
}

interface Asked {
  readonly schema: Schema
  readonly operation: EntityOperation
  readonly trail?: readonly Field[]
}

/** What is chosen by a query is chosen among what can be found. */
function listsOf(schema: Schema, operation: EntityOperation, field?: Field): readonly RoleList[] {
  const { access } = schema
  const selects = operation === 'update' || operation === 'delete'
  return [
    access[operation],
    ...(selects ? [access.find] : []),
    ...(field && operation !== 'delete' ? field.roles[operation] : []),
  ]
}

function textOf(rules: readonly RowRule[]): string {
  return [...new Set(rules.map((rule) => ruleIn(rule).text))].sort().join('\n')
}

const ruleIn = memoized(({ where }: RowRule) => {
  const query = parseQuery(where, '', DEFAULT_LIMITS)
  return { text: JSON.stringify(query), isEverything: isEverything(query) }
})
