/** The roles in the access lists of schemas. */
import { compareText } from '../base/text.ts'
import { type RoleList, roleOf } from './field.ts'
import { type Schema, allFields } from './schema.ts'

/** Represents callers who have none of the roles that the schema names. */
export const ANYONE_ELSE = 'anyone else'

/** Sorted, with `ANYONE_ELSE` at the end; `anyone` and `noone` are not roles. */
export function namedRoles(schemas: readonly Schema[]): readonly string[] {
  const roles = new Set<string>()
  for (const list of listsIn(schemas)) for (const entry of list) roles.add(roleOf(entry))
  return [...[...roles.difference(NOT_ROLES)].sort(compareText), ANYONE_ELSE]
}

/** Each list once, although it also applies to every field below the one that declares it. */
export function listsIn(schemas: readonly Schema[]): ReadonlySet<RoleList> {
  const lists = new Set<RoleList>()
  for (const { access, root } of schemas) {
    for (const list of Object.values(access)) lists.add(list)
    for (const { roles } of allFields(root.fields)) {
      for (const own of [roles.find, roles.insert, roles.update]) for (const list of own) lists.add(list)
    }
  }
  return lists
}

const NOT_ROLES = new Set(['anyone', 'noone', ANYONE_ELSE])
