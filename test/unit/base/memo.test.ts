/** Caches: what is computed once, and when it is computed again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoizedParse } from '../../../src/base/memo.ts'

test('memoizedParse: equal texts have one value, until other texts have taken the room', () => {
  const parsed: string[] = []
  const parse = memoizedParse((text) => {
    parsed.push(text)
    return { text }
  }, 10)
  const first = parse('abcd')
  assert.equal(parse(['ab', 'cd'].join('')), first)
  parse('efgh')
  assert.equal(parse('abcd'), first)
  parse('ijkl')
  assert.equal(parse('abcd'), first)
  parse('efgh')
  assert.deepEqual(parsed, ['abcd', 'efgh', 'ijkl', 'efgh'])
})

test('memoizedParse: a text that is longer than the room is parsed each time', () => {
  const parse = memoizedParse((text) => ({ text }), 3)
  assert.notEqual(parse('abcd'), parse('abcd'))
})
