/** The row rules of a schema, parsed, with their positions. */
import { DEFAULT_LIMITS } from '../../base/limits.ts'
import type { Json } from '../../base/json/json.ts'
import { memoized } from '../../base/memo.ts'
import { parseQuery } from '../../lang/parse/parse-query.ts'
import type { Named, Query } from '../../lang/query.ts'
import type { RoleList } from '../../schema/field.ts'
import { ANYONE_ELSE } from '../../schema/named-roles.ts'
import { type EntityOperation, type Schema, allFields } from '../../schema/schema.ts'
import { fieldPointer, fieldsOnPath } from '../../schema/fields-on-path.ts'

export interface PlacedRule {
  /** As in `roles` of the subject: `anyone` is represented by callers without a role. */
  readonly role: string
  readonly query: Query<Named>
  /** The same as written. */
  readonly where: Json
  readonly list: RoleList
  readonly operation: EntityOperation
  /** The path of the guarded field; absent when the rule guards whole documents. */
  readonly path?: string
  /** JSON pointer into the metadata document. */
  readonly at: string
}

export const placedRules = memoized((schema: Schema): readonly PlacedRule[] => [...rulesIn(schema)])

function* rulesIn(schema: Schema): Generator<PlacedRule> {
  for (const operation of ['find', 'insert', 'update', 'delete'] as const) {
    const list = schema.access[operation]
    yield* rulesOf(list, { list, operation, at: `/schema/access/${operation}` })
  }
  for (const { path, name, roles } of allFields(schema.root.fields)) {
    // the size of an array has the lists of the array, whose rules are listed there
    if (name.endsWith('#') || !OPERATIONS.some((operation) => roles[operation].some(hasRule))) continue
    const above = fieldsOnPath(schema, path)!.at(-2) ?? schema.root
    for (const operation of OPERATIONS) {
      const own = roles[operation].slice(above.roles[operation].length)
      for (const list of own.filter(hasRule)) {
        const at = `/schema${fieldPointer(path)}/access/${operation}`
        yield* rulesOf(list, { list, operation, path, at })
      }
    }
  }
}

const OPERATIONS = ['find', 'insert', 'update'] as const

const hasRule = memoized((list: RoleList) => list.some((entry) => typeof entry !== 'string'))

function* rulesOf(
  list: RoleList,
  { at, ...placed }: Omit<PlacedRule, 'role' | 'query' | 'where'>,
): Generator<PlacedRule> {
  for (const [i, entry] of list.entries()) {
    if (typeof entry === 'string') continue
    const role = entry.role === 'anyone' ? ANYONE_ELSE : entry.role
    const { where } = entry
    yield { ...placed, role, where, query: parseQuery(where, '', DEFAULT_LIMITS), at: `${at}/${i}` }
  }
}
