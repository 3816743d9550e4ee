/** Removing members from JSON text, or picking them, gives the same result as parsing, removing and printing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { memberCutter, memberPicker } from '../../../src/base/json/cut-members.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { SEED } from '../../support/seed.ts'

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

const LONG = '0123456789'.repeat(5)

/** A cutter caches offsets of members as hints, which may be wrong for the next document. */
const SERIES: readonly (readonly [text: string, expected: string])[] = [
  [`{"x":"${LONG}","b":1,"c":2}`, `{"x":"${LONG}"}`],
  [`{"x":1,"b":2,"y":"${LONG}"}`, `{"x":1,"y":"${LONG}"}`],
  ['{"c":1,"b":2,"x":3}', '{"x":3}'],
  ['{"b":1}', '{}'],
  ['{"x":{"y":0,"b":1},"z":2}', '{"x":{"y":0,"b":1},"z":2}'],
  ['{"x":[{"y":0,"b":1},{"y":0,"b":1}],"b":2,"c":[{"b":3}]}', '{"x":[{"y":0,"b":1},{"y":0,"b":1}]}'],
  ['{"x":"{","b":1,"y":{"z":0,"c":1}}', '{"x":"{","y":{"z":0,"c":1}}'],
  ['{"x":["y",":{"],"b":1,"z":"}"}', '{"x":["y",":{"],"z":"}"}'],
  ['{"x:":{"y":0,"b":1},"b":2}', '{"x:":{"y":0,"b":1}}'],
  [String.raw`{"x":"y\":{","b":1,"z":"}"}`, String.raw`{"x":"y\":{","z":"}"}`],
]

test('cut: the result does not depend on previous documents', () => {
  const cut = memberCutter(['b', 'c'])
  for (const [text] of SERIES) {
    cut(text)
    for (const [next, expected] of SERIES) assert.equal(cut(next), expected, `${next} after ${text}`)
  }
})

test('cut, pick: random documents keep or lose exactly the named members, in any order of documents', () => {
  const syntax = fc.string({
    unit: fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', 'a', 'b'),
    maxLength: 6,
  })
  const name = fc.oneof(fc.constantFrom('a', 'b', 'c', '"', '\\', '":1', 'a#', '\n', ',', ':{'), syntax)
  const { value: json } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, syntax, fc.jsonValue({ maxDepth: 0 }), tie('array'), tie('object')),
    array: fc.array(tie('value'), { maxLength: 3 }),
    object: fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  }))
  const documents = fc.array(fc.dictionary(name, json, { noNullPrototype: true }), { maxLength: 5 })
  const property = fc.property(documents, fc.uniqueArray(name, { maxLength: 3 }), (values, names) => {
    const cut = memberCutter(names)
    const pick = memberPicker(names)
    for (const value of values) {
      const text = JSON.stringify(value)
      const others = Object.entries(value).filter(([key]) => !names.includes(key))
      assert.equal(cut(text), JSON.stringify(Object.fromEntries(others)))
      const named = Object.entries(value).filter(([key]) => names.includes(key))
      assert.deepEqual(parseTrusted(pick(text)), Object.fromEntries(named))
    }
  })
  fc.assert(property, { seed: SEED, numRuns: 5_000 })
})
