/** Patterns: RE2 syntax, the four flags, and invalid patterns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_FLAGS, type PatternFlags, compilePattern } from '../../../src/base/pattern.ts'

const ROWS: readonly (readonly [
  rule: string,
  pattern: string,
  flags: Partial<PatternFlags>,
  text: string,
  occurs: boolean,
])[] = [
  ['searches anywhere', 'b', {}, 'abc', true],
  ['is case-sensitive', 'B', {}, 'abc', false],
  ['caseInsensitive ignores case', 'Ä', { caseInsensitive: true }, 'ä', true],
  ['caseInsensitive treats the Kelvin sign as a k', 'k', { caseInsensitive: true }, '\u212A', true],
  ['. matches one code point', '^.$', {}, '😀', true],
  ['. does not match a line break', 'a.b', {}, 'a\nb', false],
  ['dotall lets . match a line break', 'a.b', { dotall: true }, 'a\nb', true],
  ['^ matches at the start of the text', '^b', {}, 'a\nb', false],
  ['multiline lets ^ match at the start of a line', '^b', { multiline: true }, 'a\nb', true],
  ['extended drops white space', 'a b', { extended: true }, 'ab', true],
  ['extended drops comments up to the end of the line', 'a # x\nb', { extended: true }, 'ab', true],
  ['extended keeps escaped white space', 'a\\ b', { extended: true }, 'a b', true],
  ['extended keeps classes', 'a[ #]b', { extended: true }, 'a#b', true],
]

for (const [rule, source, flags, text, occurs] of ROWS) {
  test(`pattern: ${rule}`, () => {
    assert.equal(compilePattern(source, { ...NO_FLAGS, ...flags })!.occursIn(text), occurs)
  })
}

for (const source of ['(', '[', 'a**', '(a)\\1', '(?=a)', '(?<!a)b', '\\']) {
  test(`pattern: ${source} is invalid`, () => {
    assert.equal(compilePattern(source, NO_FLAGS), undefined)
  })
}

test('pattern: matchesAll matches the whole text only', () => {
  const pattern = compilePattern('a|ab', NO_FLAGS)!
  assert.ok(pattern.matchesAll('ab'))
  assert.ok(!pattern.matchesAll('abc'))
})
