/** The roles that a schema speaks of. */
import { compareText } from '../base/text.ts'
import { roleOf } from './field.ts'
import { type Schema, allFields } from './schema.ts'

/** Stands for callers who have no role that the schema names. */
export const ANYONE_ELSE = 'anyone else'

/** Sorted, with those who have none of them at the end; `anyone` and `noone` are no roles. */
export function namedRoles(schemas: readonly Schema[]): readonly string[] {
  const lists = schemas.flatMap(({ access, root }) => [
    ...Object.values(access),
    ...[...allFields(root.fields)].flatMap(({ roles }) => [...roles.find, ...roles.insert, ...roles.update]),
  ])
  const roles = new Set(lists.flat().map(roleOf)).difference(NOT_ROLES)
  return [...[...roles].sort(compareText), ANYONE_ELSE]
}

const NOT_ROLES = new Set(['anyone', 'noone', ANYONE_ELSE])
