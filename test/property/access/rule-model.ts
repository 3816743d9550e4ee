/** What a caller may see and do under row rules, said once more and independently, for the random test. */
import type { Caller } from '../../../src/access/caller.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'

export type List = readonly (string | { readonly role: string; readonly where: Where })[]

export type Where =
  | { readonly field: string; readonly op: '=' | '!='; readonly rvalue: Json }
  | { readonly field: string; readonly op: '$in' | '$nin'; readonly values: readonly Json[] }
  | { readonly $and: readonly Where[] }
  | { readonly $or: readonly Where[] }
  | { readonly $not: Where }

/** Path of a field → its lists; every field has type string. */
export type FieldLists = Readonly<Record<string, Readonly<Record<'find' | 'update', List>>>>

export interface Rules {
  readonly entity: Readonly<Record<'find' | 'update' | 'delete' | 'insert', List>>
  readonly fields: FieldLists
}

/** The rules that count, with the caller's values in them; `all` where an entry has none, none at all where nobody is admitted. */
function counting(list: List, caller: Caller): 'all' | readonly Where[] | undefined {
  const mine = list.filter((entry) => {
    const role = typeof entry === 'string' ? entry : entry.role
    return role === 'anyone' || caller.roles.has(role)
  })
  if (mine.length === 0) return undefined
  const wheres: Where[] = []
  for (const entry of mine) {
    if (typeof entry === 'string') return 'all'
    const filled = fill(entry.where, caller)
    if (filled) wheres.push(filled)
  }
  return wheres
}

function fill(where: Where, caller: Caller): Where | undefined {
  if ('$and' in where || '$or' in where) {
    const terms = ('$and' in where ? where.$and : where.$or).map((each) => fill(each, caller))
    if (terms.includes(undefined)) return undefined
    return '$and' in where ? { $and: terms as Where[] } : { $or: terms as Where[] }
  }
  if ('$not' in where) {
    const term = fill(where.$not, caller)
    return term && { $not: term }
  }
  if ('rvalue' in where) {
    const value = valueFor(where.rvalue, caller)
    return value === null || typeof value === 'string' ? { ...where, rvalue: value } : undefined
  }
  const values = where.values.flatMap((each) => {
    const value = valueFor(each, caller)
    return Array.isArray(value) ? (value as Json[]) : [value as Json]
  })
  const isSound = values.length > 0 && values.every((each) => typeof each === 'string')
  return isSound ? { ...where, values } : undefined
}

function valueFor(value: Json, { principal, claims }: Caller): Json | undefined {
  if (value === '$caller.principal') return principal === '' ? undefined : principal
  return value === '$caller.claims.v' ? (claims['v'] ?? undefined) : value
}

export function matches(where: Where, document: JsonObject): boolean {
  if ('$and' in where) return where.$and.every((each) => matches(each, document))
  if ('$or' in where) return where.$or.some((each) => matches(each, document))
  if ('$not' in where) return !matches(where.$not, document)
  const value = at(document, where.field) ?? null
  if ('rvalue' in where) return (value === where.rvalue) === (where.op === '=')
  return where.values.includes(value) === (where.op === '$in')
}

export function at(document: JsonObject, path: string): Json | undefined {
  return path
    .split('.')
    .reduce<Json | undefined>((value, step) => (value as JsonObject | undefined)?.[step], document)
}

export function fieldsIn(where: Where): readonly string[] {
  if ('$and' in where) return where.$and.flatMap(fieldsIn)
  if ('$or' in where) return where.$or.flatMap(fieldsIn)
  return '$not' in where ? fieldsIn(where.$not) : [where.field]
}

export function modelOf({ entity, fields }: Rules, caller: Caller) {
  const admitted = (list: List): boolean => counting(list, caller) !== undefined
  const within = (list: List, document: JsonObject): boolean => {
    const rules = counting(list, caller)
    return rules === 'all' || (rules ?? []).some((rule) => matches(rule, document))
  }
  const listsOf = (path: string, operation: 'find' | 'update'): readonly List[] =>
    path
      .split('.')
      .map((_, i, steps) => fields[steps.slice(0, i + 1).join('.')]?.[operation] ?? [])
      .filter((list) => list.length > 0)
  const mayRead = (path: string, document: JsonObject): boolean =>
    admitted(entity.find) && listsOf(path, 'find').every((list) => within(list, document))
  return {
    admits: (operation: keyof Rules['entity']): boolean => admitted(entity[operation]),
    has: (operation: keyof Rules['entity'], document: JsonObject): boolean =>
      within(entity[operation], document),
    /** Whether there may be a document in which the field can be read. */
    mayAsk: (path: string): boolean =>
      admitted(entity.find) &&
      listsOf(path, 'find').every((list) => {
        const rules = counting(list, caller)
        return rules === 'all' || (rules ?? []).length > 0
      }),
    mayRead,
    mayUpdate: (path: string, document: JsonObject): boolean =>
      listsOf(path, 'update').every((list) => within(list, document)),
    /** The document as it is shown. */
    seen(document: JsonObject): JsonObject {
      const shown: Record<string, Json> = {}
      for (const [name, value] of Object.entries(document)) {
        if (name !== 'box') {
          if (mayRead(name, document)) shown[name] = value
          continue
        }
        const members = Object.entries(value as JsonObject).filter(([each]) =>
          mayRead(`box.${each}`, document),
        )
        if (mayRead('box', document)) shown['box'] = Object.fromEntries(members)
      }
      return shown
    },
  }
}
