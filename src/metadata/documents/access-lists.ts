/** Parses the access lists of metadata documents. */
import { type Json, type JsonObject, isArray, isObject, pointer } from '../../base/json/json.ts'
import type { AccessEntry, RoleList } from '../../schema/field.ts'
import type { EntityOperation } from '../../schema/schema.ts'
import { fault, objectAt, textAt } from './decode.ts'
import type { FieldAccess } from './field-document.ts'

export type EntityAccess = Readonly<Record<EntityOperation, RoleList>>

/** An operation without a list is granted to nobody. */
export function parseEntityAccess(value: Json | undefined, at: string): EntityAccess {
  const lists = parseLists(value, at, ['insert', 'update', 'find', 'delete'])
  return {
    insert: lists.get('insert') ?? [],
    update: lists.get('update') ?? [],
    find: lists.get('find') ?? [],
    delete: lists.get('delete') ?? [],
  }
}

/** An operation without a list inherits the lists of the containers. */
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
    lists.set(
      operation,
      entriesAt(list, place).map((entry, i) => parseEntry(entry, pointer(place, i))),
    )
  }
  return lists
}

function entriesAt(list: Json, at: string): readonly Json[] {
  if (isArray(list)) return list
  throw fault('metadata:IllFormedMetadata', 'an array is expected here, such as ["anyone"]', at)
}

/** A role, or a role with a row rule; `check-rules.ts` checks the rule itself. */
function parseEntry(entry: Json, at: string): AccessEntry {
  if (!isObject(entry)) return parseRole(entry, at)
  const unknown = Object.keys(entry).find((key) => key !== 'role' && key !== 'where')
  if (unknown !== undefined) {
    throw fault('metadata:InvalidAccess', `an entry has "role" and "where", not "${unknown}"`, at)
  }
  const role = parseRole(needed(entry, 'role', at), pointer(at, 'role'))
  const where = needed(entry, 'where', at)
  if (role === 'noone') throw fault('metadata:InvalidAccess', '"noone" has no "where"', pointer(at, 'where'))
  return { role, where }
}

function parseRole(value: Json, at: string): string {
  const role = textAt(value, at)
  if (role.trim() === '') throw fault('metadata:InvalidAccess', 'a role has a name that is not blank', at)
  return role
}

function needed(entry: JsonObject, key: string, at: string): Json {
  const value = entry[key]
  if (value !== undefined) return value
  throw fault('metadata:InvalidAccess', `an entry that is an object needs "${key}"`, at)
}
