/** How words are reduced to stems: after case, before diacritics are removed, in bounded time, the same every time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LANGUAGES, type Language, isLanguage, stemOf } from '../../../src/base/stemmers.ts'
import { MAX_WORD_CHARACTERS, wordsIn } from '../../../src/base/words.ts'
import { sampleEvenly } from '../../support/chance.ts'
import { SEED } from '../../support/seed.ts'

const STEMS: readonly (readonly [language: Language, text: string, stems: string])[] = [
  ['arabic', 'الكتاب كتاب', 'كتاب كتاب'],
  ['armenian', 'մարդկանց ազգային', 'մարդկ ազգայ'],
  ['danish', 'undersøgelserne undersøgelse', 'undersøg undersøg'],
  ['dutch', 'lichamelijkheden lichamelijk', 'licham licham'],
  ['english', 'Searching searches searched nationally skies', 'search search search nation sky'],
  ['english', "it’s it's dogs' can't", "it it dog can't"],
  ['english', 'relational conditional vision', 'relat condit vision'],
  ['finnish', 'taloissa talo', 'talo talo'],
  ['french', 'chevaux cheval continuité continuités', 'cheval cheval continu continu'],
  ['german', 'Häuser HÄUSER Hauses Straßen STRASSE', 'haus haus haus strass strass'],
  ['greek', 'ΑΝΘΡΩΠΟΥΣ ανθρώπους', 'ανθρωπ ανθρωπ'],
  ['hindi', 'लड़कियाँ लड़की', 'लड़क लड़क'],
  ['hungarian', 'házak ház', 'haz haz'],
  ['indonesian', 'makanan makan', 'makan makan'],
  ['irish', 'fhuinneog fuinneog gcathair', 'fuinneog fuinneog cathair'],
  ['italian', 'città nazionalità nazionale', 'citt nazional nazional'],
  ['lithuanian', 'namai namas', 'nam nam'],
  ['nepali', 'किताबहरू किताब', 'किताब किताब'],
  ['norwegian', 'havnedistriktene havnedistrikt', 'havnedistrikt havnedistrikt'],
  ['portuguese', 'cantores cantor cantoras', 'cantor cantor cantor'],
  ['romanian', 'copiilor copii', 'cop cop'],
  ['romanian', 'națiunilor naţiune frumoșilor frumoşi', 'natiun natiun frumos frumos'],
  ['russian', 'КНИГАМИ книга ёлки', 'книг книг елк'],
  ['serbian', 'дечак dječak', 'decak decak'],
  ['spanish', 'bibliotecas biblioteca canción canciones', 'bibliotec bibliotec cancion cancion'],
  ['swedish', 'bilarna bilar', 'bil bil'],
  ['tamil', 'பூக்கள் பூக்களை', 'பூக் பூக்'],
  ['turkish', 'KIZLAR kızlar İSTANBUL evlerimizden', 'kiz kiz istanbul ev'],
  ['english', '東京 🎉 3.5 run\u00adning ﬁnding', '東 京 🎉 3.5 run find'],
]

for (const [language, text, stems] of STEMS) {
  test(`stems: in ${language}, ${text} has ${stems}`, () => {
    assert.equal(wordsIn(text, language).join(' '), stems.normalize('NFKC'))
  })
}

test('stems: every language is shown above', () => {
  assert.deepEqual([...new Set(STEMS.map(([language]) => language))].sort(), [...LANGUAGES].sort())
})

test('stems: names of languages are whole and in lower case', () => {
  for (const name of ['', 'en', 'English', 'klingon', 'constructor', '__proto__', null, 5])
    assert.equal(isLanguage(name), false, String(name))
})

test('stems: a word that is too long for one has none, and is cut as without a language', () => {
  for (const language of LANGUAGES) {
    const word = `${'x'.repeat(MAX_WORD_CHARACTERS)}ings`
    assert.equal(stemOf(word, language), word)
    assert.deepEqual(wordsIn(word, language), wordsIn(word))
  }
})

test(`stems: the same word has the same stem, whatever came before it (SMALT_SEED=${SEED})`, () => {
  const letters = Array.from(
    "abcdefghijklmnopqrstuvwxyzäéßøñçışğîабвгдежклмностиалبتكملنأહनमकािஅகளαβγδεικσςάéí'’3",
  )
  for (const language of LANGUAGES) {
    const words = sampleEvenly(SEED, (chance) =>
      Array.from({ length: 300 }, () => chance.list(14, () => chance.pick(letters)).join('')),
    ).filter((word) => word !== '')
    const before = words.map((word) => stemOf(word, language))
    const after = words.toReversed().map((word) => stemOf(word, language))
    assert.deepEqual(after.toReversed(), before, language)
  }
})

test(`stems: a text has as many stems as words, each without case and in normal form (SMALT_SEED=${SEED})`, () => {
  const pieces = Array.from("aeinsgtdyéßİıΣ東がनि한3._'’🎉สี\u0301\u00ad\u200d- ")
  sampleEvenly(SEED, (chance) => {
    for (let i = 0; i < 400; i++) {
      const text = chance.list(30, () => chance.pick(pieces)).join('')
      const words = wordsIn(text)
      for (const language of LANGUAGES) {
        const stems = wordsIn(text, language)
        assert.equal(stems.length, words.length, `${language} ${JSON.stringify(text)}`)
        for (const stem of stems) {
          assert.equal(stem, stem.toLowerCase().normalize('NFKC'), JSON.stringify(text))
          assert.doesNotMatch(stem, /^$|[\s|=*]/, JSON.stringify(text))
        }
      }
    }
  })
})
