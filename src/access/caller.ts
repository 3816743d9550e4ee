/** The caller of a request, and the rules by which an access list admits a caller. */
import { ServiceError } from '../base/errors.ts'
import type { JsonObject } from '../base/json/json.ts'
import { type RoleList, roleOf } from '../schema/field.ts'

export interface Caller {
  /** The name recorded in history; empty if unknown. */
  readonly principal: string
  readonly roles: ReadonlySet<string>
  readonly permissions: ReadonlySet<Permission>
  /** Other authenticated properties, such as the claims of a token. Row rules may refer to them. */
  readonly claims: JsonObject
}

/** A caller with these roles and nothing else: no name, no permissions, no claims. */
export function callerWith(roles: readonly string[]): Caller {
  return { principal: '', roles: new Set(roles), permissions: new Set(), claims: {} }
}

export const PERMISSIONS = [
  'metadata.find',
  'metadata.insert',
  'metadata.update',
  'metadata.delete',
  'events.manage',
  'backup.make',
  'requests.inspect',
] as const
export type Permission = (typeof PERMISSIONS)[number]

/**
 * `noone` beats `anyone`, which beats a role of the caller. An empty list admits nobody. Row rules are not evaluated
 * here; `conditions.ts` decides which documents the caller is admitted to.
 */
export function admits(list: RoleList, caller: Caller): boolean {
  return applicableEntries(list, caller).length > 0
}

/** The entries that apply to the caller. */
export function applicableEntries(list: RoleList, { roles }: Caller): RoleList {
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
