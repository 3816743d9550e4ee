/** Which changes hooks are told of. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { compiledSchema } from '../../support/schema.ts'
import { eventOf, hookOf } from '../../unit/events/watching.ts'
import { many, testGrowth } from './growth.ts'

const schema = compiledSchema('t', {
  numbers: { type: 'array', items: { type: 'integer' } },
  lines: {
    type: 'array',
    items: { type: 'object', fields: { sku: { type: 'string' }, quantity: { type: 'integer' } } },
  },
  named: {
    type: 'array',
    items: {
      type: 'object',
      fields: {
        id: { type: 'string', constraints: { 'element-identity': true } },
        value: { type: 'integer' },
      },
    },
  },
  free: { type: 'any' },
})

const CONTENTS: readonly (readonly [what: string, field: string, element: (i: number) => Json])[] = [
  ['different elements', 'lines', (i) => ({ sku: `s${i}`, quantity: i })],
  ['equal elements', 'lines', () => ({ sku: 's', quantity: 1 })],
  ['equal values', 'numbers', () => 1],
  ['elements with an identity', 'named', (i) => ({ id: `i${i}`, value: i })],
  ['elements without a definition', 'free', (i) => ({ a: i % 3, b: [i] })],
]

const ordered = hookOf({ arrayOrderingSignificant: true })
const everything = hookOf()

for (const [what, field, element] of CONTENTS) {
  const of = (count: number, offset = 0): JsonObject => ({
    [field]: many(count, (i) => element(i + offset)),
  })
  const reversed = (count: number): JsonObject => ({ [field]: (of(count)[field] as Json[]).toReversed() })
  const longer = (count: number): JsonObject => ({ [field]: [element(-1), ...(of(count)[field] as Json[])] })
  testGrowth(`makeEvent, ${what}`, [
    ['one is added in front', 500, (n) => telling(of(n), longer(n))],
    ['all are reversed', 500, (n) => telling(of(n), reversed(n), ordered)],
    ['all are others', 500, (n) => telling(of(n), of(n, 2 * n))],
  ])
}

testGrowth('makeEvent', [
  ['members', 2_000, (n) => telling(members(n, 0), members(n, 1))],
  ['length of a text', 50_000, (n) => telling({ free: 'ab\n'.repeat(n) }, { free: 'ab\n'.repeat(n + 1) })],
  [
    'members of a hundred elements without identity',
    25,
    (n) => {
      const lines = (value: number): Json =>
        many(100, (i) => Object.fromEntries(many(n, (j) => [`m${j}`, i * 7 + j * value])))
      return telling({ free: lines(1) }, { free: lines(2) })
    },
  ],
])

function telling(before: JsonObject, after: JsonObject, hook = everything): () => unknown {
  return () => eventOf(schema, hook, { before, after })
}

function members(count: number, offset: number): JsonObject {
  return { free: Object.fromEntries(many(count, (i) => [`m${i}`, i + offset])) }
}
