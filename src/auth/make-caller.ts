/** From what credentials prove to a caller: the configuration says which roles have which permissions. */
import { type Caller, type Permission, PERMISSIONS, admits } from '../access/caller.ts'
import type { JsonObject } from '../base/json/json.ts'

/** Permission → roles that have it. */
export type PermissionRoles = Readonly<Partial<Record<Permission, readonly string[]>>>

export interface Proven {
  readonly principal: string
  readonly roles: readonly string[]
  /** Had whatever the roles are. */
  readonly permissions?: readonly Permission[]
  readonly claims?: JsonObject
}

export type MakeCaller = (proven: Proven) => Caller

export function callersBy(permissionRoles: PermissionRoles): MakeCaller {
  return ({ principal, roles, permissions = [], claims = {} }) => {
    const caller: Caller = { principal, roles: new Set(roles), permissions: new Set(), claims }
    const derived = PERMISSIONS.filter((each) => admits(permissionRoles[each] ?? [], caller))
    return { ...caller, permissions: new Set([...derived, ...permissions]) }
  }
}

/** Whether two callers may do the same; claims count too, since row rules may name them. */
export function haveSameRights(a: Caller, b: Caller): boolean {
  if (a === b) return true
  return (
    a.principal === b.principal &&
    a.roles.symmetricDifference(b.roles).size === 0 &&
    a.permissions.symmetricDifference(b.permissions).size === 0 &&
    JSON.stringify(a.claims) === JSON.stringify(b.claims)
  )
}
