/** Fields mostly share a few lists, so what was found out about one holds for many. */
import { memoized } from '../../base/memo.ts'
import type { RoleList } from '../../schema/field.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Reach, ReachOf } from './subject.ts'

/** The same answers, each worked out once: fields below the same lists are reached alike. */
export function remembered(reachOf: ReachOf): ReachOf {
  const answersOf = memoized<Schema, Map<string, Reach>>(() => new Map())
  return (question, roles) => {
    const { schema, operation, trail } = question
    const field = trail?.at(-1)
    const lists = field && operation !== 'delete' ? textOf(field.roles[operation]) : ''
    const key = `${operation}\n${roles.join('\n')}\n${lists}`
    const answers = answersOf(schema)
    const known = answers.get(key)
    if (known !== undefined) return known
    const answer = reachOf(question, roles)
    answers.set(key, answer)
    return answer
  }
}

const textOf = memoized((lists: readonly RoleList[]) => JSON.stringify(lists))
