/** Converts differences to audit entries: one for each field, with its old and new value. */
import { type Json, type JsonObject, isArray, isObject } from '../base/json/json.ts'
import type { Difference } from './differences.ts'

/** An added field has no `from`, a removed one no `to`, and an element that only moved has neither. */
export interface AuditEntry extends JsonObject {
  readonly path: string
}

export function auditEntries(differences: readonly Difference[]): readonly AuditEntry[] {
  return differences.flatMap((difference): readonly AuditEntry[] => {
    const { kind, path } = difference
    switch (kind) {
      case 'added':
        return leavesOf(difference.to, path).map(([at, to]) => ({ path: at, to }))
      case 'removed':
        return leavesOf(difference.from, path).map(([at, from]) => ({ path: at, from }))
      case 'changed':
        return [{ path, from: difference.from, to: difference.to }]
      case 'moved':
        return [{ path, movedFrom: difference.movedFrom }]
    }
  })
}

/** Empty objects and arrays have no leaves, so they make no entries. */
function leavesOf(value: Json, path: string): readonly (readonly [path: string, value: Json])[] {
  if (isArray(value)) return value.flatMap((each, i) => leavesOf(each, `${path}.${i}`))
  if (!isObject(value)) return [[path, value]]
  return Object.keys(value).flatMap((name) => leavesOf(value[name]!, `${path}.${name}`))
}
