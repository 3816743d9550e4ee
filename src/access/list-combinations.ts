/**
 * The combinations of access lists that the fields of a schema have. Fields with the same combination are always visible to the
 * same callers, so what a caller may do is kept for each combination, not for each field.
 */
import { memoized } from '../base/memo.ts'
import { type AccessEntry, type RoleList, roleOf } from '../schema/field.ts'
import { listsIn } from '../schema/named-roles.ts'
import { type Schema, allFields } from '../schema/schema.ts'
import type { Caller } from './caller.ts'

export interface ListCombinations {
  /** Equal lists have the same number; undefined if the list is not one of the schema. */
  readonly numberOf: (list: RoleList) => number | undefined
  /** Combinations of equal lists have the same number; undefined if no field of the schema has it. */
  readonly combinationOf: (lists: readonly RoleList[]) => number | undefined
  /** The lists of each combination. */
  readonly combinations: readonly (readonly RoleList[])[]
  /** Numbers of the combinations that decide who may find a field. */
  readonly found: ReadonlySet<number>
  readonly fieldCount: number
  /** The length of all lists that have row rules, which stands for the size of the rules of one caller. */
  readonly ruleCharacters: number
  /** A caller about whom every list of the schema decides alike; undefined if row rules take values from this one. */
  readonly equivalentOf: (caller: Caller) => Caller | undefined
}

export const combinationsOf = memoized((schema: Schema): ListCombinations => {
  const { numbers, ruleCharacters } = numberLists(schema)
  const combinations: (readonly RoleList[])[] = []
  const known = new Map<string, number>()
  const byLists = new Map<readonly RoleList[], number>()
  const found = new Set<number>()
  const number = (lists: readonly RoleList[]): number => {
    const key = lists.map((list) => numbers.get(list)!).join()
    const made = known.get(key) ?? combinations.push(lists) - 1
    known.set(key, made)
    byLists.set(lists, made)
    return made
  }
  let fieldCount = 0
  for (const { roles } of allFields(schema.root.fields)) {
    fieldCount++
    found.add(number(roles.find))
    number(roles.insert)
    number(roles.update)
  }
  return {
    numberOf: (list) => numbers.get(list),
    combinationOf: (lists) => byLists.get(lists),
    combinations,
    found,
    fieldCount,
    ruleCharacters,
    equivalentOf: equivalence(schema),
  }
})

function numberLists(schema: Schema) {
  const byText = new Map<string, number>()
  const numbers = new Map<RoleList, number>()
  let ruleCharacters = 0
  for (const list of listsIn([schema])) {
    const text = JSON.stringify(list)
    if (!byText.has(text) && list.some(isRule)) ruleCharacters += text.length
    const number = byText.get(text) ?? byText.size
    byText.set(text, number)
    numbers.set(list, number)
  }
  return { numbers, ruleCharacters }
}

/**
 * The equivalent caller has only the roles that the lists name, and neither a name nor claims. A list of another schema would
 * admit this caller to less than the actual one, never to more.
 */
function equivalence(schema: Schema): ListCombinations['equivalentOf'] {
  const entries = [...listsIn([schema])].flat()
  const named = [...new Set(entries.map(roleOf))].sort()
  const takingValues = new Set(entries.filter(takesValues).map(roleOf))
  return ({ roles }) => {
    if (takingValues.has('anyone')) return undefined
    const own = named.filter((role) => roles.has(role))
    if (own.some((role) => takingValues.has(role))) return undefined
    return { principal: '', roles: new Set(own), permissions: new Set(), claims: {} }
  }
}

function isRule(entry: AccessEntry): boolean {
  return typeof entry !== 'string'
}

/** Whether the entry may contain a placeholder: a text that only looks like one does no harm. */
function takesValues(entry: AccessEntry): boolean {
  return typeof entry !== 'string' && JSON.stringify(entry.where).includes('$caller')
}
