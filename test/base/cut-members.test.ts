/** Members cut out of the text are what parsing, leaving out and printing gives. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { memberCutter } from '../../src/base/cut-members.ts'
import { SEED } from '../support/seed.ts'

const ROWS: readonly (readonly [text: string, names: readonly string[], expected: string])[] = [
  ['{}', ['a'], '{}'],
  ['{"a":1}', ['a'], '{}'],
  ['{"a":1,"b":2}', ['a'], '{"b":2}'],
  ['{"a":1,"b":2}', ['b'], '{"a":1}'],
  ['{"a":1,"b":2,"c":3}', ['a', 'c'], '{"b":2}'],
  ['{"a":1,"b":2,"c":3}', ['b', 'c'], '{"a":1}'],
  ['{"a":{"b":[1,{"c":","}]},"b":"}"}', ['b'], '{"a":{"b":[1,{"c":","}]}}'],
  [String.raw`{"a":"\"b\":1","b":1}`, ['b'], String.raw`{"a":"\"b\":1"}`],
  [String.raw`{"a":"\\","b":1,"c":""}`, ['b'], String.raw`{"a":"\\","c":""}`],
  [String.raw`{"\"b\"":1,"b":[],"é":1e400}`, ['b'], String.raw`{"\"b\"":1,"é":1e400}`],
]

for (const [text, names, expected] of ROWS) {
  test(`cut: ${text} without ${names.join()}`, () => assert.equal(memberCutter(names)(text), expected))
}

test('cut: random documents lose just the members named', () => {
  const name = fc.oneof(fc.constantFrom('a', 'b', 'c', '"', '\\', '":1', 'a#', '\n'), fc.string())
  const document = fc.dictionary(name, fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true })
  const property = fc.property(document, fc.uniqueArray(name, { maxLength: 3 }), (value, names) => {
    const kept = Object.fromEntries(Object.entries(value).filter(([key]) => !names.includes(key)))
    assert.equal(memberCutter(names)(JSON.stringify(value)), JSON.stringify(kept))
  })
  fc.assert(property, { seed: SEED, numRuns: 5_000 })
})
