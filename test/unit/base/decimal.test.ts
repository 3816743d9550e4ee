/** Exact decimals: parsing, comparison, and keys in the order of the numbers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SEED } from '../../support/seed.ts'
import { compareDecimal, integerText, isIntegral, orderKey, parseDecimal } from '../../../src/base/decimal.ts'

fc.configureGlobal({ seed: SEED })

/** The number as an integer and a scale, independent of the code under test. */
function exact(text: string): { readonly digits: bigint; readonly scale: number } {
  const [, sign, whole, fraction = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)!
  return { digits: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length - Number(power) }
}

function compareExact(a: string, b: string): number {
  const [x, y] = [exact(a), exact(b)]
  const scale = Math.max(x.scale, y.scale)
  const difference = x.digits * 10n ** BigInt(scale - x.scale) - y.digits * 10n ** BigInt(scale - y.scale)
  return difference === 0n ? 0 : difference < 0n ? -1 : 1
}

const number = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9]\d{0,12})(\.\d{1,8})?([eE][+-]?\d{1,3})?$/),
  fc.stringMatching(/^-?[0-2](\.[0-2]{1,3})?(e[+-]?[0-2])?$/),
  fc.constantFrom(
    '0',
    '-0',
    '0.00',
    '0e5',
    '1.1',
    '1.10',
    '-1.1',
    '-1.11',
    '1e400',
    '1e-400',
    '-1e400',
    '9',
    '10',
    '99',
    '-9',
    '-10',
  ),
)

test('decimal: keys order as the numbers do, and are the same for equal numbers', () => {
  fc.assert(
    fc.property(number, number, (a, b) => {
      const expected = compareExact(a, b)
      const [x, y] = [orderKey(a)!, orderKey(b)!]
      assert.equal(
        Math.sign(Buffer.compare(Buffer.from(x), Buffer.from(y))),
        expected,
        `${a} ${b}: ${x} ${y}`,
      )
      assert.equal(Math.sign(compareDecimal(parseDecimal(a)!, parseDecimal(b)!)) + 0, expected, `${a} ${b}`)
    }),
    { numRuns: 20_000 },
  )
})

const REFUSED = [
  '',
  '-',
  '1.',
  '.5',
  '+1',
  '1e',
  ' 1',
  '1 ',
  '0x1',
  'NaN',
  'Infinity',
  '1e2001',
  '0e2001',
  '1e-2002',
  '1'.repeat(2_001),
  `1.${'0'.repeat(2_000)}`,
]

for (const text of REFUSED) {
  test(`decimal: "${text.slice(0, 12)}" is not a number in range`, () => {
    assert.equal(parseDecimal(text), undefined)
    assert.equal(orderKey(text), null)
  })
}

test('decimal: integral numbers have plain digits', () => {
  const digits = (text: string): string | undefined => {
    const decimal = parseDecimal(text)!
    return isIntegral(decimal) ? integerText(decimal) : undefined
  }
  assert.equal(digits('5.00'), '5')
  assert.equal(digits('1.5e1'), '15')
  assert.equal(digits('-120e-1'), '-12')
  assert.equal(digits('1e3'), '1000')
  assert.equal(digits('-0.0'), '0')
  assert.equal(digits('1.5'), undefined)
  assert.equal(digits('1e-1'), undefined)
})
