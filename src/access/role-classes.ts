/**
 * Groups roles into classes: roles that occur in the same lists with the same row rules have the same access, which is
 * then computed once.
 */
import { memoized } from '../base/memo.ts'
import type { RoleList } from '../schema/field.ts'
import { ANYONE_ELSE, listsIn } from '../schema/named-roles.ts'
import type { Schema } from '../schema/schema.ts'

export interface RoleClasses {
  readonly count: number
  /** Class 0 contains all roles that no list names. */
  readonly classOf: (role: string) => number
  /** Equal lists have the same number. */
  readonly numberOf: (list: RoleList) => number
}

export function roleClasses(schemas: readonly Schema[]): RoleClasses {
  const numberOf = numbering()
  const marks = new Map<string, string[]>()
  const seen = new Set<number>()
  for (const list of listsIn(schemas)) {
    const number = numberOf(list)
    if (seen.has(number)) continue
    seen.add(number)
    for (const entry of list) {
      const [role, mark] =
        typeof entry === 'string'
          ? [entry, `${number}`]
          : [entry.role, `${number}:${JSON.stringify(entry.where)}`]
      const known = marks.get(role)
      if (known) known.push(mark)
      else marks.set(role, [mark])
    }
  }
  const classes = new Map<string, number>([['', 0]])
  const byRole = new Map<string, number>([[ANYONE_ELSE, 0]])
  for (const [role, own] of marks) {
    const signature = own.join('\n')
    const found = classes.get(signature) ?? classes.size
    classes.set(signature, found)
    byRole.set(role, found)
  }
  return { count: classes.size, classOf: (role) => byRole.get(role) ?? 0, numberOf }
}

function numbering(): RoleClasses['numberOf'] {
  const numbers = new Map<string, number>()
  return memoized((list: RoleList) => {
    const text = JSON.stringify(list)
    const number = numbers.get(text) ?? numbers.size
    numbers.set(text, number)
    return number
  })
}
