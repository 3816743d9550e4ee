/** Values become what is stored: numbers, dates, texts. */
import { addDecimals, orderKey, parseDecimal } from '../../../src/base/decimal.ts'
import type { Json } from '../../../src/base/json/json.ts'
import { parsePath } from '../../../src/base/path.ts'
import { countCodePoints, foldCase } from '../../../src/base/text.ts'
import { wordsIn } from '../../../src/base/words.ts'
import { columnsFrom } from '../../../src/records/columns.ts'
import { TYPES, type TypeName } from '../../../src/schema/types.ts'
import { type Case, many, refused, testGrowth } from './growth.ts'

const DIGITS: readonly (readonly [what: string, make: (size: number) => string])[] = [
  ['digits with zeros between them', (n) => `1${'0'.repeat(n)}1`],
  ['zeros at the end', (n) => `1.1${'0'.repeat(n)}`],
  ['zeros in front', (n) => `0.${'0'.repeat(n)}1`],
  ['runs of zeros', (n) => `1${'0001'.repeat(n / 4)}`],
  ['digits of the exponent', (n) => `1e${'0'.repeat(n)}1`],
  ['what is no number', (n) => `${'1'.repeat(n)}x`],
]

for (const [what, make] of DIGITS) {
  testGrowth(`numbers, ${what}`, [
    ['parseDecimal', 20_000, (n) => on(make(n), parseDecimal)],
    ['orderKey', 20_000, (n) => on(make(n), orderKey)],
    ...(['integer', 'double', 'biginteger', 'bigdecimal', 'string', 'date'] as const).map((name): Case => [
      `as ${name}`,
      20_000,
      (n) => casting(name, make(n)),
    ]),
  ])
}

testGrowth('numbers', [
  [
    'bigdecimal: values',
    2_000,
    (n) => {
      const values = many(n, (i) => JSON.rawJSON(`${i}.50`))
      return () => values.map(TYPES.bigdecimal.cast)
    },
  ],
  ['addDecimals: digits', 200, (n) => () => many(20, () => addDecimals('9'.repeat(n), `0.${'9'.repeat(n)}`))],
  ['addDecimals: exponent', 200, (n) => () => many(20, () => addDecimals(`1e${n}`, `1e-${n}`))],
  ['addDecimals: out of reach', 200_000, (n) => refused(() => addDecimals('1', `1e${n}`))],
  [
    'any: values',
    10_000,
    (n) =>
      casting(
        'any',
        many(n, () => JSON.rawJSON('1.10')),
      ),
  ],
])

testGrowth('texts', [
  ['date: digits of the second', 50_000, (n) => casting('date', `2024-01-02T03:04:05.${'0'.repeat(n)}Z`)],
  ['binary: length', 50_000, (n) => casting('binary', 'AAAA'.repeat(n))],
  ['countCodePoints: length', 50_000, (n) => on('ab😀'.repeat(n), countCodePoints)],
  ['foldCase: length', 5_000, (n) => on('aÄ😀'.repeat(n), foldCase)],
  ['parsePath: steps', 5_000, (n) => on(many(n, () => 'a').join('.'), (path) => parsePath(path, ''))],
  ['columnsFrom: steps', 600, (n) => on(many(n, () => 'a').join('.'), (name) => columnsFrom([name], n))],
  ['parsePath: digits', 50_000, (n) => on(`${'0'.repeat(n)}1`, (path) => parsePath(path, ''))],
])

const WORDS: readonly (readonly [what: string, make: (size: number) => string])[] = [
  ['words', (n) => 'word '.repeat(n / 5)],
  ['underscores', (n) => '_'.repeat(n)],
  ['underscores in words', (n) => 'a__'.repeat(n / 3)],
  ['one long word', (n) => 'a'.repeat(n)],
  ['digits and points', (n) => '1.'.repeat(n / 2)],
  ['marks out of order', (n) => `a${'\u0301'.repeat(n / 2)}${'\u0316'.repeat(n / 2)}`],
  ['marks that alternate', (n) => `a${'\u0316\u0301'.repeat(n / 2)}`],
  ['one long word with an accent', (n) => `é${'a'.repeat(n)}`],
  ['letters without spaces', (n) => '日本'.repeat(n / 2)],
  ['emoji', (n) => '👩‍👩‍👧'.repeat(n / 8)],
  ['flags', (n) => '🇨🇭'.repeat(n / 4)],
]

testGrowth(
  'words',
  WORDS.map(([what, make]): Case => [what, 20_000, (n) => on(make(n), (text) => wordsIn(text))]),
)

testGrowth(
  'stems',
  WORDS.map(([what, make]): Case => [what, 20_000, (n) => on(make(n), (text) => wordsIn(text, 'german'))]),
)

function on<T>(value: string, run: (value: string) => T): () => T {
  return () => run(value)
}

function casting(name: TypeName, value: Json): () => unknown {
  return () => TYPES[name].cast(value)
}
