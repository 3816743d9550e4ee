/** Value types: casts without loss, and the order of stored values. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SEED } from '../../support/seed.ts'
import type { Json } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { parseDate, printDate } from '../../../src/schema/date.ts'
import { TYPES, type TypeName, compareValues } from '../../../src/schema/types.ts'
import { POOLS } from '../../property/agreement/pools.ts'

fc.configureGlobal({ seed: SEED })

test('cast: a stored value casts to itself', () => {
  for (const [type, pool] of Object.entries(POOLS) as [TypeName, readonly Json[]][]) {
    for (const value of pool) {
      const stored = TYPES[type].cast(value)
      assert.notEqual(stored, undefined, `${type} ${JSON.stringify(value)}`)
      assert.equal(JSON.stringify(TYPES[type].cast(stored!)), JSON.stringify(stored))
    }
  }
})

test('cast: integers up to 64 bits survive in every spelling', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }), (integer) => {
      const isLong = BigInt.asIntN(64, integer) === integer
      for (const sent of [parseTrusted(String(integer)), String(integer), parseTrusted(`${integer}.0`)]) {
        const stored = TYPES.integer.cast(sent)
        assert.equal(
          stored === undefined ? undefined : JSON.stringify(stored),
          isLong ? String(integer) : undefined,
        )
        assert.equal(JSON.stringify(TYPES.biginteger.cast(sent)), String(integer))
      }
    }),
  )
})

test('cast: a double is the nearest IEEE value', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (double) => {
      const stored = TYPES.double.cast(parseTrusted(JSON.stringify(double)))
      assert.equal(Number(JSON.stringify(stored)), double === 0 ? 0 : double)
    }),
  )
})

test('compareValues: numbers of all types are compared exactly, in one order', () => {
  const ordered = [
    '-1e400',
    '-9223372036854775809',
    '-9007199254740993',
    '-1',
    '-0.5',
    '0',
    '5e-324',
    '1.09',
    '1.1',
    '9007199254740992',
    '9007199254740993',
    '9223372036854775807',
    '9223372036854775808',
    '1e400',
  ]
  const values = ordered.map(parseTrusted)
  for (const [i, a] of values.entries()) {
    for (const [j, b] of values.entries())
      assert.equal(Math.sign(compareValues(a, b)) + 0, Math.sign(i - j) + 0, `${ordered[i]} ${ordered[j]}`)
  }
  assert.equal(compareValues(parseTrusted('1.1'), parseTrusted('1.10')), 0)
})

test('date: every instant of four-digit years is printed and read back', () => {
  const min = new Date('0000-01-01T00:00:00.000Z')
  const max = new Date('9999-12-31T23:59:59.999Z')
  fc.assert(
    fc.property(fc.date({ min, max, noInvalidDate: true }), (date) => {
      assert.equal(parseDate(printDate(date)), printDate(date))
      assert.equal(parseDate(date.toISOString()), printDate(date))
    }),
  )
})

const DATES: readonly (readonly [text: string, canonical: string | undefined])[] = [
  ['20240229T00:00:00.000+0000', '20240229T00:00:00.000+0000'],
  ['20230229T00:00:00.000+0000', undefined],
  ['19000229T00:00:00.000+0000', undefined],
  ['20000229T00:00:00.000+0000', '20000229T00:00:00.000+0000'],
  ['20240431T00:00:00.000+0000', undefined],
  ['20240100T00:00:00.000+0000', undefined],
  ['20240101T23:59:60.000+0000', undefined],
  ['20240101T00:00:00.000+2400', undefined],
  ['20240101T00:00:00.000+0060', undefined],
  ['20240101T00:00:00.000-0030', '20240101T00:30:00.000+0000'],
  ['20240101T00:00:00.000+00:00', undefined],
  ['20240101T00:00:00+0000', undefined],
  ['20240101T00:00:00.6+0000', undefined],
  ['20240101T00:00:00.000000+0000', '20240101T00:00:00.000+0000'],
  ['20240101T00:00:00.000Z', undefined],
  ['2024-01-01T00:00:00+0000', undefined],
  ['2024-01-01T00:00:00.5z', '20240101T00:00:00.500+0000'],
  ['2024-01-01', undefined],
  ['00010101T00:00:00.000+0100', '00001231T23:00:00.000+0000'],
  ['00000101T00:00:00.000+0100', undefined],
  ['99991231T23:30:00.000-0100', undefined],
  ['20240101T00:00:00.000+0000 ', undefined],
]

for (const [text, canonical] of DATES) {
  test(`date: ${text} ${canonical === undefined ? 'is invalid' : `is ${canonical}`}`, () => {
    assert.equal(parseDate(text), canonical)
  })
}
