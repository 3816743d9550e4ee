/** The estimate of a pattern's size is an upper bound that is not far from the size. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RE2JS } from 're2js'
import { patternSize } from '../../../src/base/pattern-size.ts'

const CASES = [
  ['abc', undefined],
  ['a{1000}', '{1000}'],
  ['[a-m][a-z ]{100}[0-9]', '{100}'],
  ['(x{30}){31}', '{31}'],
  ['(a|b{2,5}|c)+?', '{2,5}'],
  ['\\pL{100}\\Q{9}\\E[{5}]', '{100}'],
  ['a{2,}b?', '{2,}'],
] as const

for (const [source, largest] of CASES) {
  test(`pattern size: ${source} is estimated without compiling it`, () => {
    const { instructions, largestRepetition } = patternSize(source)
    const actual = RE2JS.compile(source).programSize()
    assert.ok(instructions >= actual, `${instructions} is less than ${actual}`)
    assert.ok(instructions <= actual * 3 + 10, `${instructions} is far more than ${actual}`)
    assert.equal(largestRepetition, largest)
  })
}
