/** Random aggregates over fields in sight or out of it, also those of documents that references join. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { Chance } from '../../support/chance.ts'
import { makeQuery, pickField } from '../agreement/make-requests.ts'
import { type Node, type ObjectNode, familyOf } from '../agreement/model.ts'
import { type Subject, viewOf } from './make-reads.ts'
import { makeAsked, makeReach } from './reach.ts'
import { secretsOf } from './world.ts'

export function makeAggregate(chance: Chance, subject: Subject): JsonObject {
  const reach = chance.happens(35) ? makeReach(chance, subject) : undefined
  const seen: ObjectNode = reach?.shown ?? viewOf(chance, subject, 80)
  // one field out of sight is enough to be refused, so most requests name few
  const pick = (isFit: (node: Node) => boolean): Picked => {
    const from = chance.happens(5) ? secretsOf(subject.world) : seen
    return pickField(chance, [from], isFit)
  }
  const path = (isFit: (node: Node) => boolean): string | undefined => pick(isFit)?.path
  const keys = Array.from({ length: chance.int(3) }, () => pick((node) => familyOf(node) !== undefined))
  const groupBy = keys.flatMap((each, i): Json[] => {
    if (each === undefined) return []
    const isDate = familyOf(each.node) === 'date'
    return [{ field: each.path, as: `k${i}`, ...(isDate && chance.happens(60) && makeTruncation(chance)) }]
  })
  const values = Object.fromEntries(
    Array.from({ length: 1 + chance.int(2) }, (_, i): [string, Json] => [`v${i}`, makeValue(chance, path)]),
  )
  const query = chance.happens(40)
    ? reach
      ? makeAsked(chance, reach)
      : makeQuery(chance, [chance.happens(15) ? secretsOf(subject.world) : viewOf(chance, subject, 80)], 1)
    : undefined
  return {
    ...(query && { query }),
    groupBy,
    values,
    ...(chance.happens(30) && { having: { field: 'v0', op: chance.pick(['=', '!=']), rvalue: null } }),
    ...(chance.happens(30) && { sort: { v0: chance.pick(['$asc', '$desc']) } }),
    ...(chance.happens(20) && { range: [0, chance.int(3)] }),
  }
}

type Picked = ReturnType<typeof pickField>

function makeTruncation(chance: Chance): JsonObject {
  const truncate = chance.pick(['year', 'month', 'week', 'day', 'hour', 'minute'])
  return {
    truncate,
    ...(chance.happens(50) && { timeZone: chance.pick(['Europe/Zurich', 'America/New_York']) }),
  }
}

function makeValue(chance: Chance, path: (isFit: (node: Node) => boolean) => string | undefined): Json {
  if (chance.happens(25)) return { $count: true }
  const op = chance.pick(['$sum', '$avg', '$min', '$max', '$distinct'])
  const isSum = op === '$sum' || op === '$avg'
  const field = path((node) => (isSum ? familyOf(node) === 'number' : familyOf(node) !== undefined))
  return field === undefined ? { $count: true } : { [op]: field }
}
