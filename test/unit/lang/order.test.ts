/** Sorts of arrays: the same order as a comparison of each two elements gives, with each key worked out once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { numberFrom } from '../../../src/base/json/parse-trusted.ts'
import { compileSort } from '../../../src/lang/evaluate/order.ts'
import { parseProjection } from '../../../src/lang/parse/parse-projection.ts'
import { compileProjection } from '../../../src/lang/evaluate/project.ts'
import { resolveProjection, resolveSort } from '../../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../../src/lang/resolve/scope.ts'
import { parseSort } from '../../../src/lang/sort.ts'
import { compareValues } from '../../../src/schema/types.ts'
import { compiledSchema } from '../../support/schema.ts'
import { SEED } from '../../support/seed.ts'

const numbers = { type: 'array', items: { type: 'integer' } }
const line = { type: 'object', fields: { n: { type: 'bigdecimal' }, t: { type: 'string' }, numbers } }
const schema = compiledSchema('t', { lines: { type: 'array', items: line } })
const scope = rootScope(compiledSchema('line', line.fields))

/** Elements that count how often somebody looks at one of their members. */
function counting(count: number, member: string, valueOf: (i: number) => Json) {
  const counted = { reads: 0 }
  const lines = Array.from({ length: count }, (_, i): JsonObject => {
    const value = valueOf(i)
    const get = (): Json => {
      counted.reads++
      return value
    }
    return Object.defineProperty({ t: 'x' }, member, { get, enumerable: false })
  })
  return { counted, lines }
}

const COUNT = 256
const KEYS: readonly (readonly [what: string, member: string, sort: Json, valueOf: (i: number) => Json])[] = [
  ['a number', 'n', { n: '$asc' }, (i) => (i * 7919) % COUNT],
  ['nothing', 'n', { n: '$desc' }, () => null],
  ['the least of many', 'numbers', { 'numbers.*': '$asc' }, (i) => [(i * 7919) % COUNT, COUNT]],
  ['a second key', 'n', [{ t: '$asc' }, { n: '$asc' }], (i) => (i * 7919) % COUNT],
]
for (const [what, member, sort, valueOf] of KEYS) {
  test(`sort: in an array, ${what} is read once of each element`, () => {
    const { counted, lines } = counting(COUNT, member, valueOf)
    const written = { field: 'lines', range: [0, 9], sort, projection: { field: 't' } }
    const projection = resolveProjection(parseProjection(written, ''), rootScope(schema))
    compileProjection(projection, schema.root)({ lines }, '')
    assert.equal(counted.reads, COUNT)
  })
}

test('sort: a second key is not read where the first decides', () => {
  const { counted, lines } = counting(COUNT, 'numbers', () => [1])
  const values = lines.map((each, i) => Object.defineProperty(each, 'n', { value: i }))
  const sort = resolveSort(parseSort([{ n: '$desc' }, { 'numbers.*': '$asc' }], ''), scope)
  const positions = compileSort(sort)(values.map((value) => ({ value })))
  assert.deepEqual(positions.slice(0, 2), [COUNT - 1, COUNT - 2])
  assert.equal(counted.reads, 0)
})

const number = fc
  .oneof(
    fc.integer({ min: -3, max: 3 }).map(String),
    fc
      .tuple(
        fc.integer({ min: -3, max: 3 }),
        fc.constantFrom('', '.5', '.50', '.0000000000000000000001', 'e30'),
      )
      .map(([whole, rest]) => `${whole}${rest}`),
  )
  .map((text): Json => numberFrom(text))

test('sort: numbers of every kind come as they compare, nulls first, and what is equal as it stood', () => {
  fc.assert(
    fc.property(fc.array(fc.option(number), { maxLength: 12 }), fc.boolean(), (all, descending) => {
      const sort = resolveSort(parseSort({ n: descending ? '$desc' : '$asc' }, ''), scope)
      const found = compileSort(sort)(all.map((n) => ({ value: { n } })))
      const compared = (a: Json, b: Json): number =>
        a === null || b === null ? Number(b === null) - Number(a === null) : compareValues(a, b)
      const expected = [...all.keys()].sort(
        (a, b) => (descending ? -1 : 1) * compared(all[a]!, all[b]!) || a - b,
      )
      assert.deepEqual(found, expected)
    }),
    { seed: SEED },
  )
})
