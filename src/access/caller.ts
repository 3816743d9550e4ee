/** Who asks, and the rules by which a list of roles admits them. */
import { ServiceError } from '../base/errors.ts'
import type { JsonObject } from '../base/json/json.ts'
import { type RoleList, roleOf } from '../schema/field.ts'

export interface Caller {
  /** The name kept in histories; empty when nobody said. */
  readonly principal: string
  readonly roles: ReadonlySet<string>
  readonly permissions: ReadonlySet<Permission>
  /** What else is vouched for, such as the claims of a token; row rules may name it. */
  readonly claims: JsonObject
}

export const PERMISSIONS = [
  'metadata.find',
  'metadata.insert',
  'metadata.update',
  'metadata.delete',
  'events.manage',
] as const
export type Permission = (typeof PERMISSIONS)[number]

/** `noone` beats `anyone` beats a role in common; an empty list admits nobody. To which documents is another question. */
export function admits(list: RoleList, caller: Caller): boolean {
  return countingEntries(list, caller).length > 0
}

/** The entries that speak of this caller. */
export function countingEntries(list: RoleList, { roles }: Caller): RoleList {
  if (list.some((entry) => roleOf(entry) === 'noone')) return []
  return list.filter((entry) => {
    const role = roleOf(entry)
    return role === 'anyone' || roles.has(role)
  })
}

export function requirePermission(caller: Caller, permission: Permission): void {
  if (caller.permissions.has(permission)) return
  throw new ServiceError('crud:NoAccess', `this needs the permission ${permission}`)
}
