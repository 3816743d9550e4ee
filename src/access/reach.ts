/** How far single roles reach, whoever has them: what access comes to on paper, before anybody asks. */
import type { JsonObject } from '../base/json.ts'
import type { Field, RoleList } from '../schema/field.ts'
import { namedRoles } from '../schema/named-roles.ts'
import { type EntityOperation, type Schema, allFields } from '../schema/schema.ts'
import { trailTo } from '../schema/trail.ts'
import { type Caller, countingEntries } from './caller.ts'
import { type Question, decidingLists } from './deciding-lists.ts'

/** To all documents, to none, or to those that a rule matches. */
type Reach = 'yes' | 'no' | 'where'

/** How far somebody with these roles, and no others, reaches. */
export function reachOf(question: Question, roles: readonly string[]): Reach {
  const caller = callerWith(roles)
  const reaches = decidingLists(question, caller).map(({ list }) => reachBy(list, caller))
  if (reaches.includes('no')) return 'no'
  return reaches.includes('where') ? 'where' : 'yes'
}

/** Who may do what to which field. */
export function accessTable(schema: Schema): JsonObject {
  const roles = namedRoles([schema])
  const row = (operation: EntityOperation, trail?: readonly Field[]): JsonObject => {
    const question = trail ? { schema, operation, trail } : { schema, operation }
    return Object.fromEntries(roles.map((role) => [role, reachOf(question, [role])]))
  }
  return {
    entity: schema.entity,
    version: schema.version,
    status: schema.status,
    roles,
    access: { find: row('find'), insert: row('insert'), update: row('update'), delete: row('delete') },
    fields: [...allFields(schema.root.fields)].map(({ path }) => {
      const trail = trailTo(schema, path)!
      return { path, find: row('find', trail), insert: row('insert', trail), update: row('update', trail) }
    }),
  }
}

function reachBy(list: RoleList, caller: Caller): Reach {
  const entries = countingEntries(list, caller)
  if (entries.length === 0) return 'no'
  return entries.some((entry) => typeof entry === 'string') ? 'yes' : 'where'
}

function callerWith(roles: readonly string[]): Caller {
  return { principal: '', roles: new Set(roles), permissions: new Set(), claims: {} }
}
