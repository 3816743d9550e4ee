/** How text is cut into words. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_WORD_CHARACTERS, wordsIn } from '../../../src/base/words.ts'
import { sampleEvenly } from '../../support/chance.ts'
import { SEED } from '../../support/seed.ts'

const CUT: readonly (readonly [text: string, words: string])[] = [
  ['', ''],
  [' \n', ''],
  ['Blue night-sky, 3.5 cm; a_b', 'blue night sky 3.5 cm a_b'],
  ["Can't x.com 1,000 1:2 __ _a", "can't x.com 1,000 1 2 _a"],
  ['Straße STRASSE', 'strasse strasse'],
  ['ΣΑΣ σας', 'σασ σασ'],
  ['É e\u0301 Ångström naïve', 'e e angstrom naive'],
  ['ﬁnd ＡＢＣ ½', 'find abc 1⁄2'],
  ['İstanbul', 'istanbul'],
  ['Ёлка ЕЛКА', 'елка елка'],
  ['שָׁלוֹם مُحَمَّد', 'שלום محمد'],
  ['हिन्दी', 'हिन्दी'],
  ['한국어', '한국어'],
  ['東京タワー2階', '東 京 タ ワ ー 2 階'],
  ['がか', 'が か'],
  ['สวัสดี', 'ส วั ส ดี'],
  ['🎉❤️ 🇨🇭 👨\u200d👩', '🎉 ❤ 🇨🇭 👨👩'],
  ['co\u00adoperate', 'cooperate'],
  ['a\u0000b | c', 'a b c'],
]

for (const [text, words] of CUT) {
  test(`words: ${JSON.stringify(text)} has ${words || 'none'}`, () => {
    assert.equal(wordsIn(text).join(' '), words.normalize('NFKC'))
  })
}

test('words: a long word is several', () => {
  const lengths = wordsIn('x'.repeat(2 * MAX_WORD_CHARACTERS + 1)).map(({ length }) => length)
  assert.deepEqual(lengths, [MAX_WORD_CHARACTERS, MAX_WORD_CHARACTERS, 1])
})

test(`words: in ASCII they are those of UAX 29 (SMALT_SEED=${SEED})`, () => {
  const segmenter = new Intl.Segmenter('en', { granularity: 'word' })
  const characters = Array.from("aZ09_.':;,- \n/@")
  sampleEvenly(SEED, (chance) => {
    for (let i = 0; i < 20_000; i++) {
      const text = chance.list(12, () => chance.pick(characters)).join('')
      const expected = Array.from(segmenter.segment(text), ({ segment }) => segment.toLowerCase())
      assert.deepEqual(
        wordsIn(text),
        expected.filter((each) => /[a-z0-9]/.test(each)),
        JSON.stringify(text),
      )
    }
  })
})

test(`words: white space cuts, and what stands on either side does not matter (SMALT_SEED=${SEED})`, () => {
  const pieces = Array.from("aé東がΣ3._'🎉สีह한\u0301\u00ad\u200d-")
  sampleEvenly(SEED, (chance) => {
    for (let i = 0; i < 5_000; i++) {
      const [left, right] = [0, 1].map(() => chance.list(6, () => chance.pick(pieces)).join('')) as [
        string,
        string,
      ]
      assert.deepEqual(wordsIn(`${left} ${right}`), [...wordsIn(left), ...wordsIn(right)])
    }
  })
})
