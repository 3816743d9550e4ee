/** Verified identity → caller, with the permissions that the configuration gives to its roles. */
import { type Caller, type Permission, PERMISSIONS, admits } from '../access/caller.ts'
import type { JsonObject } from '../base/json/json.ts'

/** Permission → roles that have it. */
export type PermissionRoles = Readonly<Partial<Record<Permission, readonly string[]>>>

export interface VerifiedIdentity {
  readonly principal: string
  readonly roles: readonly string[]
  /** In addition to the permissions of the roles. */
  readonly permissions?: readonly Permission[]
  readonly claims?: JsonObject
}

export type MakeCaller = (identity: VerifiedIdentity) => Caller

export function callerFactory(permissionRoles: PermissionRoles): MakeCaller {
  return ({ principal, roles, permissions = [], claims = {} }) => {
    const caller: Caller = { principal, roles: new Set(roles), permissions: new Set(), claims }
    const derived = PERMISSIONS.filter((each) => admits(permissionRoles[each] ?? [], caller))
    return { ...caller, permissions: new Set([...derived, ...permissions]) }
  }
}

/** Whether two callers have the same rights; claims matter, because row rules may use them. */
export function haveSameRights(a: Caller, b: Caller): boolean {
  if (a === b) return true
  return (
    a.principal === b.principal &&
    a.roles.symmetricDifference(b.roles).size === 0 &&
    a.permissions.symmetricDifference(b.permissions).size === 0 &&
    JSON.stringify(a.claims) === JSON.stringify(b.claims)
  )
}
