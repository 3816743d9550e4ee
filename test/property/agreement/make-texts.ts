/** Texts of several scripts and searches in them: few words, so that they meet, and alike, so that cutting them matters. */
import type { JsonObject } from '../../../src/base/json/json.ts'
import type { Chance } from '../../support/chance.ts'

/** Separated by spaces. */
const WORDS =
  "a A ab b it’s it's 3.14 3 x_y a.b ' \\ * - | & :* = ab:c straße STRASSE é e\u0301 E Ångström angstrom ﬁn fin ｆｉｎ İ ı ΣΑΣ σας " +
  'Öl ol нет НЁТ não שָׁלוֹם שלום مُحَمَّد محمد हिन्दी हिन्द 한국어 한국 東京 東 京都 京 がん かん カ ｶ ー 々 สวัสดี สวัส ดี ລາວ ខ្មែរ မြန်မာ ' +
  '🎉 ❤️ ❤ 🇨🇭 👨‍👩‍👧 👨 👍🏽 👍 © ½ ² № \u00ad co\u00adop coop \u200e \u0301 __ 𝒳 \u{20000} ﷺ ~ \u007f'
/** Words that have stems, in the languages of the indexes. */
const WITH_STEMS =
  "run Running runs runner’s skies sky relational relate dogs dog's DOG Häuser HAUSES haus hauser aufeinander Straßen Bäume " +
  'ba\u0308umen Baum kızlar KIZLAR kizlar KIZ evlerimizden EV İSTANBUL ISTANBUL ıstanbul'
const LONG = ['x'.repeat(64), 'x'.repeat(65), 'x'.repeat(200), `${'x'.repeat(63)}s`]
const WRITTEN = [...`${WORDS} ${WITH_STEMS}`.split(' '), ...LONG, '\u3000', '\u2028']

/** Letters, marks and signs by script. */
const SCRIPTS: readonly (readonly string[])[] = [
  Array.from('abcdefghijklmnopqrstuvwxyzßæøłđıABCINQŠŽÉÑÜ'),
  ['\u0301', '\u0308', '\u0327', '\u0316', '\u0345', '\u20dd', '\u034f', '\u200d', '\u00ad', '\ufe0f'],
  Array.from('αβγδεΣςΆώабвгдежЁйЇЪⴀႠ'),
  Array.from('אבגדשׁלְםّمحمدٱﻻكتابی\u064b\u0650'),
  Array.from('कखगनमािीु्ंअఅకాஅகளிกขคงาิ์้'),
  Array.from('東京都日本語漢字かがカガｶﾞーゝ々〆한국어각가힣'),
  ['\u1112', '\u1161', '\u11ab', '\u3099', '\u309a', '\u0f71', '\u0f72'],
  [
    '🎉',
    '👍',
    '🏽',
    '👩',
    '\u200d',
    '💻',
    '❤',
    '\ufe0f',
    '🇨',
    '🇭',
    '🏴',
    '\u{e0067}',
    '\u{e007f}',
    '1',
    '\u20e3',
  ],
  Array.from("0123456789٣३.,:;'’_-·‿"),
]
const GLUE = [' ', ' ', ' ', '', '', '-', ', ', '.', '\n', '"', "'", '_']

/** The pieces of all texts of a run: those above, and others at random. */
export function makePieces(chance: Chance): readonly string[] {
  const one = (): string => {
    const script = chance.pick(SCRIPTS)
    const character = (): string => chance.pick(chance.happens(80) ? script : chance.pick(SCRIPTS))
    return [character(), ...chance.list(7, character)].join('')
  }
  return [...WRITTEN, ...Array.from({ length: 150 }, one)]
}

function makeText(chance: Chance, pieces: readonly string[], max: number): string {
  return [chance.pick(pieces), ...chance.list(max, () => chance.pick(GLUE) + chance.pick(pieces))].join('')
}

/** Three texts in most documents. */
export function makeDocument(chance: Chance, pieces: readonly string[], i: number): JsonObject {
  return {
    _id: `d${i}`,
    ...(chance.happens(90) && { title: chance.happens(5) ? null : makeText(chance, pieces, 8) }),
    ...(chance.happens(70) && { tags: chance.list(4, () => makeText(chance, pieces, 2)) }),
    ...(chance.happens(60) && {
      notes: chance.list(4, () => (chance.happens(10) ? {} : { said: makeText(chance, pieces, 5) })),
    }),
  }
}

export function textsOf({ title, tags, notes }: JsonObject): readonly string[] {
  const said = ((notes ?? []) as readonly JsonObject[]).map((note) => note['said'])
  return [title, ...((tags ?? []) as readonly string[]), ...said].filter((text) => typeof text === 'string')
}

/** The terms of a search, as they are written. */
export function makeTerms(chance: Chance, pieces: readonly string[]): readonly string[] {
  const one = (): string => makeTerm(chance, pieces)
  return [one(), ...chance.list(3, one)].filter((term) => term !== '')
}

function makeTerm(chance: Chance, pieces: readonly string[]): string {
  const minus = chance.happens(25) ? '-' : ''
  const star = chance.happens(25) ? '*' : ''
  const text = makeText(chance, pieces, 2)
  if (chance.happens(40)) return `${minus}"${text.replaceAll('"', ' ')}"${star}`
  const bare = text.replaceAll(/[\s"]/gu, '')
  if (star === '') return `${minus}${bare}`
  const beginning = Array.from(bare).slice(0, 1 + chance.int(4))
  return `${minus}${beginning.join('')}${star}`
}
