/** Order and case folding of text. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SEED } from '../../support/seed.ts'
import { compareText, foldCase } from '../../../src/base/text.ts'

fc.configureGlobal({ seed: SEED })

test('compareText: orders texts by their UTF-8 bytes', () => {
  const character = fc.oneof(
    fc.constantFrom('a', 'A', 'é', '\uD7FF', '\uE000', '\uFFFF', '\u{10000}', '\u{10FFFF}', '😀'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  )
  const text = fc.array(character, { maxLength: 4 }).map((each) => each.join(''))
  // generating texts takes far longer than comparing them, so each is compared with many
  fc.assert(
    fc.property(fc.array(text, { minLength: 30, maxLength: 30 }), (texts) => {
      const bytes = texts.map((each) => Buffer.from(each))
      const wrong = texts.flatMap((a, i) =>
        texts.filter((b, j) => Math.sign(compareText(a, b)) !== Buffer.compare(bytes[i]!, bytes[j]!)),
      )
      assert.deepEqual(wrong, [])
    }),
    { numRuns: 300 },
  )
})

/** Every code point that has another case. */
function* casedCodePoints(): Generator<string> {
  for (let code = 0; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    const character = String.fromCodePoint(code)
    const isCased = character.toLowerCase() !== character || character.toUpperCase() !== character
    if (isCased) yield character
  }
}

/** Equal letters with two code points that no case mapping of one code point connects. */
const TWINS = new Map([
  ['\u0390', '\u1fd3'],
  ['\u03b0', '\u1fe3'],
  ['\ufb05', '\ufb06'],
])

/** A pattern that matches this character in any case. */
function sameAs(character: string): RegExp {
  return new RegExp(`^\\u{${character.codePointAt(0)!.toString(16)}}$`, 'iu')
}

test('foldCase: texts fold to the same text exactly when they match under /iu', () => {
  const wrong: string[] = []
  const byFold = new Map<string, string>()
  for (const character of casedCodePoints()) {
    const folded = foldCase(character)
    const [lower, upper] = [character.toLowerCase(), character.toUpperCase()]
    const pattern = sameAs(character)
    for (const other of [
      folded,
      lower,
      upper,
      byFold.get(folded) ?? folded,
      TWINS.get(character) ?? folded,
    ]) {
      if (Array.from(other).length !== 1) continue
      const isSame = pattern.test(other)
      if (isSame !== (foldCase(other) === folded)) wrong.push(`${character} ${other}`)
    }
    byFold.set(folded, character)
  }
  assert.deepEqual([...new Set(wrong)], [])
})

test('foldCase: folds each code point by itself, and is idempotent', () => {
  assert.equal(foldCase('ÄÖ ẞx'), foldCase('äö ßX'))
  assert.equal(foldCase('\u212A'), 'k')
  assert.notEqual(foldCase('ss'), foldCase('ß'))
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.equal(foldCase(foldCase(text)), foldCase(text))
      assert.equal(foldCase(text), Array.from(text, foldCase).join(''))
    }),
  )
})
