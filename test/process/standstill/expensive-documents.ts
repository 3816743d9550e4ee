/** Documents on which requests can be expensive: long arrays, equal elements, long texts, deep nesting. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { Chance } from '../../support/seeded.ts'
import { INTEGER, INTEGERS, STRING, times } from './row.ts'
import type { WatchedService } from './service.ts'

const TEXTS: JsonObject = { type: 'array', items: STRING }
const INNER: JsonObject = { type: 'array', items: { type: 'object', fields: { z: INTEGER, w: STRING } } }
const OUTER: JsonObject = {
  type: 'array',
  items: { type: 'object', fields: { x: INTEGER, y: INTEGER, t: STRING, b: INNER } },
}

export const FIELDS: JsonObject = {
  k: INTEGER,
  a: OUTER,
  nums: INTEGERS,
  others: INTEGERS,
  texts: TEXTS,
  long: STRING,
  price: { type: 'bigdecimal' },
  more: { type: 'any' },
}

/** Every value can be wrong in some way. */
const STRICT: JsonObject = {
  n: { type: 'integer', constraints: { minimum: 0, maximum: 9 } },
  s: { type: 'string', constraints: { maxLength: 5, matches: '[a-c]{2,4}' } },
  list: {
    type: 'array',
    items: {
      type: 'object',
      fields: { i: { type: 'integer', constraints: { required: true } }, d: { type: 'date' } },
    },
  },
  own: {
    type: 'array',
    items: { type: 'object', fields: { x: { ...INTEGER, access: { insert: ['boss'] } } } },
  },
}

const SEARCH: JsonObject = {
  name: 'byPattern',
  entity: 'wide',
  parameters: [{ name: 'pattern' }],
  query: { field: 'long', regex: '${pattern}' },
  projection: { field: '_id' },
}

export const COUNT = 40

export async function defineExpensive(on: WatchedService, chance: Chance): Promise<void> {
  const hooks = [{ name: 'all', actions: ['insert', 'update', 'delete'] }]
  const indexes = [{ fields: [{ field: 'k' }] }]
  await on.define('wide', FIELDS, { info: { indexes, hooks } })
  await on.define('strict', STRICT)
  await on.define('counted', {
    n: { ...INTEGER, valueGenerator: { type: 'IntSequence', configuration: { name: 'counted' } } },
  })
  // one at a time: the limits are small
  for (let i = 0; i < COUNT; i++) await on.store('wide', [wideDocument(`w${i}`, i, chance)])
  const saved = await on.ask('PUT', '/data/insert/savedSearch', { body: { data: SEARCH }, roles: ['admin'] })
  if (saved.status !== 200) throw new Error(saved.text)
}

export function wideDocument(_id: string, k: number, chance: Chance): JsonObject {
  const isEqual = chance(4) === 0
  const number = (): number => (isEqual ? 0 : chance(1_000_000))
  return {
    _id,
    k,
    a: times(chance(400), (x) => ({
      x: isEqual ? 0 : x,
      y: 0,
      t: text(chance, chance(60)),
      b: times(chance(6), (z) => ({ z, w: 'w' })),
    })),
    nums: times(chance(2_000), number),
    others: times(chance(2_000), number),
    texts: times(chance(50), () => text(chance, chance(400))),
    long: text(chance, 2_000 + chance(30_000)),
    price: 1,
    more: nested(chance(40), chance),
  }
}

/** Letters and spaces, with escapes among them. */
export function text(chance: Chance, length: number): string {
  const letters = chance(3) === 0 ? 'ab' : 'abcdefghijklmnopqrstuvwxyz     \n"\\ü'
  let made = ''
  while (made.length < length) made += letters[chance(letters.length)]!
  return made
}

export function nested(depth: number, chance: Chance): Json {
  let value: Json = chance(10)
  for (let i = 0; i < depth; i++) value = chance(2) === 0 ? [value] : { [`m${chance(3)}`]: value }
  return value
}
