/** Exact sums, averages and extremes, and sums of doubles. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDoubleSum } from '../../../src/base/double-sum.ts'
import { createExactExtreme, createExactSum } from '../../../src/base/exact-aggregate.ts'

const SUMS: readonly (readonly [numbers: readonly string[], total: string, average: string])[] = [
  [['1', '2'], '3', '1.5'],
  [['1.00', '2.5'], '3.50', '1.75'],
  [['10', '0', '0'], '10', '3.3333333333333333333'],
  [['1e30', '0', '0'], '1000000000000000000000000000000', '333333333333333333330000000000'],
  [['-1', '-2', '-2'], '-5', '-1.6666666666666666667'],
  [['0.0000001', '0.0000002', '0'], '0.0000003', '0.0000001'],
  // exactly between two averages of 20 digits: to the even one
  [['99999999999999999999', '99999999999999999998'], '199999999999999999997', '99999999999999999998'],
  [['100000000000000000001', '100000000000000000010'], '200000000000000000011', '100000000000000000010'],
  [['4503599627370496', '4503599627370496', '1'], '9007199254740993', '3002399751580331'],
  [['-0.00', '0'], '0.00', '0'],
]

for (const [numbers, total, average] of SUMS) {
  test(`exact sum: ${numbers.join(' + ')}`, () => {
    const sum = createExactSum()
    for (const each of numbers) sum.add(each)
    assert.deepEqual([sum.total(), sum.average(), sum.count()], [total, average, numbers.length])
  })
}

test('exact extremes: the result has the largest scale of all numbers', () => {
  for (const [isLargest, wanted] of [
    [false, '-1.100'],
    [true, '100.000'],
  ] as const) {
    const extreme = createExactExtreme(isLargest)
    for (const each of ['1e2', '-1.1', '1.100', '-1.10']) extreme.add(each)
    assert.equal(extreme.result(), wanted)
  }
  assert.equal(createExactExtreme(true).result(), undefined)
})

const DOUBLES: readonly (readonly [numbers: readonly number[], total: number])[] = [
  [[], 0],
  [[0.1, 0.2], 0.1 + 0.2],
  [[0.1, 0.2, 0.3], 0.6],
  [[1, 1e100, 1, -1e100], 2],
  [[1e308, 1e308, -1e308], 1e308],
  [[1e308, 1e308], Infinity],
  [[-1e308, -1e308], -Infinity],
  [[5e-324, 5e-324, -5e-324], 5e-324],
  [[2 ** -1022, 5e-324], 2 ** -1022 + 5e-324],
  [[2 ** 53, 1], 2 ** 53],
  [[2 ** 53, 1, 1], 2 ** 53 + 2],
  [[Infinity, 1], Infinity],
  [[1, -Infinity], -Infinity],
  [[Infinity, -Infinity, 1], Infinity],
]

for (const [numbers, total] of DOUBLES) {
  test(`sum of doubles: ${numbers.join(' + ')}, in any order`, () => {
    for (const order of [numbers, numbers.toReversed()]) {
      const sum = createDoubleSum()
      for (const each of order) sum.add(each)
      assert.equal(sum.total(), total)
    }
  })
}
