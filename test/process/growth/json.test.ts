/** Reading JSON, of callers and of our own, and everything that looks at its text. */
import { memberCutter, memberPicker } from '../../../src/base/json/cut-members.ts'
import { cloneJson, pointer, sameJson } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { type Case, flat, many, refused, testGrowth } from './growth.ts'

/** The same text is read as a request, and where it is sound as a stored document, too. */
const TEXTS: readonly (readonly [what: string, smallest: number, make: (size: number) => string])[] = [
  ['length of a text with line breaks', 25_000, (n) => `["${'ab\\n'.repeat(n)}"]`],
  ['length of a text with quotes', 25_000, (n) => `["${'a\\"'.repeat(n)}"]`],
  ['length of a text with quotes and colons', 25_000, (n) => `["${'\\":'.repeat(n)}"]`],
  ['length of a text with backslashes', 25_000, (n) => `["${'\\\\'.repeat(n)}"]`],
  ['length of a text that holds digits', 25_000, (n) => `["${',12345678901234567'.repeat(n / 10)}",1.10]`],
  ['length of a key', 50_000, (n) => `{"${'k\\n'.repeat(n)}":1}`],
  ['digits of a number', 25_000, (n) => `[1${'0'.repeat(n)}1]`],
  ['digits of a fraction', 25_000, (n) => `[1.${'0'.repeat(n)}]`],
  ['digits of an exponent', 25_000, (n) => `[1e${'1'.repeat(n)}]`],
  ['decimals', 4_000, (n) => `[${many(n, (i) => `${i}.50`).join()}]`],
  ['empty objects', 10_000, (n) => `[${'{},'.repeat(n)}1]`],
  ['empty objects beside a decimal', 10_000, (n) => `[${'{},'.repeat(n)}1.10]`],
  ['keys of an object', 4_000, (n) => `{${many(n, (i) => `"k${i}":1`).join()}}`],
  ['keys of an object beside a decimal', 4_000, (n) => `{${many(n, (i) => `"k${i}":1`).join()},"d":1.10}`],
  ['keys that are numbers', 4_000, (n) => `{${many(n, (i) => `"${i * 1000}":1.0`).join()}}`],
  ['keys with escapes', 4_000, (n) => `{${many(n, (i) => `"\\n${i}":1`).join()}}`],
  ['depth', 150, (n) => `${'['.repeat(n)}1.10${']'.repeat(n)}`],
  ['white space', 50_000, (n) => `[1.10${' '.repeat(n)}]`],
]

testGrowth(
  'parseJson',
  TEXTS.map(([what, smallest, make]): Case => {
    return [what, smallest, (n) => parsing(make(n))]
  }),
)

testGrowth(
  'parseTrusted',
  TEXTS.map(([what, smallest, make]): Case => {
    return [what, smallest, (n) => trusting(make(n))]
  }),
)

testGrowth('parseJson, refused', [
  [
    'a key that stands twice beside a long text',
    50_000,
    (n) => refusing(`{"t":"${'x\\n'.repeat(n)}","a":1,"a":1}`),
  ],
  [
    'a key that stands twice after many objects',
    4_000,
    (n) => refusing(`[${'{"a":1},'.repeat(n)}{"b":1,"b":1}]`),
  ],
  [
    'a key that stands twice after many keys',
    4_000,
    (n) => refusing(`{${many(n, (i) => `"${i}":1,`).join('')}"1":1}`),
  ],
  [
    'a key that stands twice, deep down',
    150,
    (n) => refusing(`${'{"a":'.repeat(n)}{"b":1,"b":1}${'}'.repeat(n)}`),
  ],
  ['a NUL after many values', 10_000, (n) => refusing(`[${'{},'.repeat(n)}"\\u0000"]`)],
  ['no JSON after many values', 10_000, (n) => refusing(`[${'1.10,'.repeat(n)}x]`)],
  ['a text that does not end', 25_000, (n) => refusing(`["${'\\"'.repeat(n)}`)],
  ['backslashes outside of texts', 25_000, (n) => refusing(`[${'\\ '.repeat(n)}]`)],
])

testGrowth('memberCutter', [
  ['members of the document', 2_000, (n) => cutting(n, 5)],
  ['hidden members', 250, (n) => cutting(2_000, n)],
  [
    'hidden members that are absent',
    250,
    (n) => {
      const cut = memberCutter(many(n, (i) => `absent${i}`))
      const text = flat(JSON.stringify(members(2_000)))
      return () => cut(text)
    },
  ],
])

testGrowth('memberPicker', [
  [
    'picked members',
    250,
    (n) => {
      const pick = memberPicker(many(n, (i) => `m${i * 2}`))
      const text = flat(JSON.stringify(members(2_000)))
      return () => pick(text)
    },
  ],
])

testGrowth('json', [
  [
    'sameJson: elements',
    20_000,
    (n) => {
      const [a, b] = [elements(n), elements(n)]
      return () => sameJson(a, b)
    },
  ],
  [
    'cloneJson: elements',
    5_000,
    (n) => {
      const value = elements(n)
      return () => cloneJson(value)
    },
  ],
  ['pointer: steps', 2_000, (n) => () => many(n, (i) => `a/${i}`).reduce(pointer, '')],
])

function parsing(text: string): () => unknown {
  const body = flat(text)
  return () => parseJson(body, Infinity)
}

function trusting(text: string): () => unknown {
  const document = flat(text)
  return () => parseTrusted(document)
}

function refusing(text: string): () => unknown {
  return refused(parsing(text))
}

function elements(count: number) {
  return many(count, (i) => ({ a: i, b: `text ${i}` }))
}

function members(count: number) {
  return Object.fromEntries(many(count, (i) => [`m${i}`, { a: [i] }]))
}

function cutting(count: number, hidden: number): () => unknown {
  const cut = memberCutter(many(hidden, (i) => `m${i * 2}`))
  const text = flat(JSON.stringify(members(count)))
  return () => cut(text)
}
