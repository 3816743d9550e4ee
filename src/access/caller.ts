/** Who asks, and the rules by which a list of roles admits them. */
import { ServiceError } from '../base/errors.ts'
import type { RoleList } from '../schema/field.ts'

export interface Caller {
  /** The name kept in histories; empty when nobody said. */
  readonly principal: string
  readonly roles: ReadonlySet<string>
  readonly permissions: ReadonlySet<Permission>
}

export const PERMISSIONS = ['metadata.find', 'metadata.insert', 'metadata.update', 'metadata.delete'] as const
export type Permission = (typeof PERMISSIONS)[number]

/** `noone` beats `anyone` beats a role in common; an empty list admits nobody. */
export function admits(list: RoleList, caller: Caller): boolean {
  if (list.includes('noone')) return false
  return list.includes('anyone') || list.some((role) => caller.roles.has(role))
}

export function requirePermission(caller: Caller, permission: Permission): void {
  if (caller.permissions.has(permission)) return
  throw new ServiceError('crud:NoAccess', `this needs the permission ${permission}`)
}
