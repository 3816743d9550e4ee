/** Random conditions for the rows after another row in an order, as clients write them. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { Chance } from '../../support/chance.ts'

/** What a keyset is made of. */
interface Parts {
  readonly key: () => Key | undefined
  readonly other: () => JsonObject
}

interface Key {
  readonly path: string
  readonly literal: () => Json
}

interface Ordered extends Key {
  readonly op: '<' | '>'
  readonly last: Json
}

/** `a < x or (a = x and b > y)`, for up to three fields, in any order, flat or nested, beside other conditions or not. */
export function makeKeyset(chance: Chance, { key, other }: Parts): JsonObject | undefined {
  const made = Array.from({ length: 1 + chance.int(3) }, key)
  const keys = made.flatMap((each): readonly Ordered[] =>
    each ? [{ ...each, op: chance.pick(['<', '>']), last: each.literal() }] : [],
  )
  if (keys.length === 0) return undefined
  const after = chance.happens(50) ? nested(chance, keys) : flat(chance, keys)
  const keyset = inAnyOrder(chance, '$or', chance.happens(10) ? [...after, other()] : after)
  return chance.happens(30) ? inAnyOrder(chance, '$and', [keyset, other()]) : keyset
}

function flat(chance: Chance, keys: readonly Ordered[]): readonly JsonObject[] {
  return keys.flatMap((key, i) => {
    const before = keys.slice(0, i)
    return beyond(chance, key).map((term) =>
      i === 0 ? term : inAnyOrder(chance, '$and', [...before.map((each) => tie(chance, each)), term]),
    )
  })
}

function nested(chance: Chance, [key, ...others]: readonly Ordered[]): readonly JsonObject[] {
  const own = beyond(chance, key!)
  if (others.length === 0) return own
  const inner = inAnyOrder(chance, '$or', nested(chance, others))
  return [...own, inAnyOrder(chance, '$and', [tie(chance, key!), inner])]
}

function tie(chance: Chance, key: Ordered): JsonObject {
  return { field: key.path, op: '=', rvalue: lastOf(chance, key) }
}

/** In descending order, documents without a value come last. */
function beyond(chance: Chance, key: Ordered): readonly JsonObject[] {
  const op = chance.happens(80) ? key.op : `${key.op}=`
  const term: JsonObject = { field: key.path, op, rvalue: lastOf(chance, key) }
  return chance.happens(15) ? [term, { field: key.path, op: '=', rvalue: null }] : [term]
}

/** Mostly that of the row; with another one, alternatives have different bounds. */
function lastOf(chance: Chance, { last, literal }: Ordered): Json {
  return chance.happens(80) ? last : literal()
}

function inAnyOrder(chance: Chance, key: '$or' | '$and', terms: readonly JsonObject[]): JsonObject {
  return { [key]: chance.happens(50) ? terms : terms.toReversed() }
}
