/** Lists of roles, as the documents write them. */
import { type Json, pointer } from '../base/json.ts'
import type { RoleList } from '../schema/field.ts'
import type { EntityOperation } from '../schema/schema.ts'
import { fault, objectAt, textsAt } from './decode.ts'
import type { FieldAccess } from './field-document.ts'

export type EntityAccess = Readonly<Record<EntityOperation, RoleList>>

/** An operation without a list is nobody's. */
export function parseEntityAccess(value: Json | undefined, at: string): EntityAccess {
  const lists = parseLists(value, at, ['insert', 'update', 'find', 'delete'])
  return {
    insert: lists.get('insert') ?? [],
    update: lists.get('update') ?? [],
    find: lists.get('find') ?? [],
    delete: lists.get('delete') ?? [],
  }
}

/** An operation without a list is ruled by the lists further up. */
export function parseFieldAccess(value: Json | undefined, at: string): FieldAccess {
  const lists = parseLists(value, at, ['find', 'update', 'insert'])
  return {
    find: lists.get('find') ?? [],
    update: lists.get('update') ?? [],
    insert: lists.get('insert') ?? [],
  }
}

function parseLists(
  value: Json | undefined,
  at: string,
  operations: readonly string[],
): ReadonlyMap<string, RoleList> {
  const lists = new Map<string, RoleList>()
  if (value === undefined) return lists
  for (const [operation, list] of Object.entries(objectAt(value, at))) {
    const place = pointer(at, operation)
    if (!operations.includes(operation)) {
      const known = operations.join(', ')
      throw fault(
        'metadata:InvalidAccess',
        `"${operation}" has no access list here; there are ${known}`,
        place,
      )
    }
    const roles = textsAt(list, place)
    if (roles.some((role) => role.trim() === '')) {
      throw fault('metadata:InvalidAccess', 'a role has a name that is not blank', place)
    }
    lists.set(operation, roles)
  }
  return lists
}
