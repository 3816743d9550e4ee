/** How far single roles reach, whoever has them: what access comes to on paper, before anybody asks. */
import type { JsonObject } from '../base/json.ts'
import { compareText } from '../base/text.ts'
import { type Field, type RoleList, roleOf } from '../schema/field.ts'
import { type EntityOperation, type Schema, allFields } from '../schema/schema.ts'
import { type Caller, countingEntries } from './caller.ts'
import { type Question, decidingLists, trailTo } from './deciding-lists.ts'

/** To all documents, to none, or to those that a rule matches. */
export type Reach = 'yes' | 'no' | 'where'

/** Stands for callers who have no role that the schema names. */
export const ANYONE_ELSE = 'anyone else'

/** How far somebody with these roles, and no others, reaches. */
export function reachOf(question: Question, roles: readonly string[]): Reach {
  const caller = callerWith(roles)
  const reaches = decidingLists(question, caller).map(({ list }) => reachBy(list, caller))
  if (reaches.includes('no')) return 'no'
  return reaches.includes('where') ? 'where' : 'yes'
}

/** Roles that the schema names, sorted; `anyone` and `noone` are none. */
export function rolesIn(schema: Schema): readonly string[] {
  const fields = [...allFields(schema.root.fields)]
  const lists = [
    ...Object.values(schema.access),
    ...fields.flatMap(({ roles }) => [...roles.find, ...roles.insert, ...roles.update]),
  ]
  const roles = new Set(lists.flat().map(roleOf))
  return [...roles].filter((role) => role !== 'anyone' && role !== 'noone').sort(compareText)
}

/** Who may do what to which field. */
export function accessTable(schema: Schema): JsonObject {
  const roles = [...rolesIn(schema).filter((role) => role !== ANYONE_ELSE), ANYONE_ELSE]
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
