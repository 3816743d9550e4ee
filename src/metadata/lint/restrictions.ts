/** The row rules that restrict a role; a rule that always matches does not count. */
import { DEFAULT_LIMITS } from '../../base/limits.ts'
import { memoized } from '../../base/memo.ts'
import { parseQuery } from '../../lang/parse/parse-query.ts'
import { type AccessEntry, type Field, type RoleList, type RowRule, roleOf } from '../../schema/field.ts'
import type { EntityOperation, Schema } from '../../schema/schema.ts'
import { isEverything } from './constant-queries.ts'

/** Whether the entry grants its role access to every document. */
export function isUnrestricted(entry: AccessEntry): boolean {
  return typeof entry === 'string' || ruleIn(entry).isEverything
}

/**
 * One text per list that restricts the role, sorted. Empty: the role reaches every document, if it is
 * admitted at all.
 */
export function restrictionsOf({ schema, operation, field }: AccessTarget, role: string): readonly string[] {
  const texts = listsOf(schema, operation, field).flatMap((list) => {
    const byRole = entriesIn(list)
    const entries = [...(byRole.get('anyone') ?? []), ...(byRole.get(role) ?? [])]
    const rules = entries.filter((entry) => typeof entry !== 'string')
    // A list that does not admit the role at all denies access; it does not restrict by a rule.
    const isIdle = entries.length === 0 || byRole.has('noone')
    return isIdle || entries.some(isUnrestricted) ? [] : [textOf(rules)]
  })
  return [...new Set(texts)].sort()
}

const entriesIn = memoized((list: RoleList) => Map.groupBy(list, roleOf))

interface AccessTarget {
  readonly schema: Schema
  readonly operation: EntityOperation
  readonly field?: Field | undefined
}

/** Update and delete select documents by a query, so the list of find applies to them too. */
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
