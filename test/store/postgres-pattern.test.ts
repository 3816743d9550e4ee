/** Which patterns PostgreSQL is asked to search for, and that it finds what RE2 finds. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { NO_FLAGS, type PatternFlags, compilePattern } from '../../src/base/pattern.ts'
import { createFoldFunction, foldFunctionName } from '../../src/store/sql/postgres-fold.ts'
import { type PostgresPattern, postgresPattern } from '../../src/store/sql/pattern/postgres-pattern.ts'
import { type Chance, sample } from '../support/chance.ts'
import { testPostgresUrl } from '../support/postgres.ts'
import { SEED } from '../support/seed.ts'

const I = { ...NO_FLAGS, caseInsensitive: true }
const M = { ...NO_FLAGS, multiline: true }
const S = { ...NO_FLAGS, dotall: true }
const X = { ...NO_FLAGS, extended: true }

let client: pg.Client

before(async () => {
  client = new pg.Client(await testPostgresUrl())
  await client.connect()
  await client.query(createFoldFunction('pg_temp'))
})

after(() => client.end())

const TRANSLATED: readonly (readonly [pattern: string, flags: PatternFlags, expected: string])[] = [
  ['', NO_FLAGS, '***:'],
  ['abc', NO_FLAGS, '***:abc'],
  ['^a.c$', NO_FLAGS, '***:^a[^\\u000a]c$'],
  ['a.c', S, '***:a.c'],
  ['\\Aa\\z', NO_FLAGS, '***:^a$'],
  ['^a$', M, '***:(?w)^a$'],
  ['\\A^a$\\z', M, '***:(?w)\\A^a$\\Z'],
  ['a.b', M, '***:a[^\\u000a]b'],
  ['(a|b)*?c+?d??', NO_FLAGS, '***:(?:a|b)*c+d?'],
  ['(?P<one>a)(?<two>b)(?:c)', NO_FLAGS, '***:abc'],
  ['a{2}b{2,}c{2,3}', NO_FLAGS, '***:a{2}b{2,}c{2,3}'],
  ['a{,3}', NO_FLAGS, '***:a\\u007b\\u002c3\\u007d'],
  ['\\d\\w\\s', NO_FLAGS, '***:[0-9][0-9A-Z\\u005fa-z][\\u0009\\u000a\\u000c\\u000d\\u0020]'],
  ['\\D', NO_FLAGS, '***:[^0-9]'],
  ['[[:alpha:]_-]', NO_FLAGS, '***:[\\u002dA-Z\\u005fa-z]'],
  ['[^[:^digit:]]', NO_FLAGS, '***:[0-9]'],
  ['[]a][^]]', NO_FLAGS, '***:[\\u005da][^\\u005d]'],
  ['\\x41\\x{1F600}\\n\\.', NO_FLAGS, '***:A\\U0001f600\\u000a\\u002e'],
  ['\\Qa.b\\E+', NO_FLAGS, '***:a\\u002eb+'],
  ['a b # c', X, '***:ab'],
  ['(?s).(?-s:.)', NO_FLAGS, '***:.[^\\u000a]'],
  ['a(?m:^)b', NO_FLAGS, '***:(?w)a^b'],
  ['é😀', NO_FLAGS, '***:é\\U0001f600'],
]

const FOLDED: readonly (readonly [pattern: string, flags: PatternFlags, expected: PostgresPattern])[] = [
  ['Kelvin', I, { pattern: '***:kelvin', folded: true }],
  ['(?i)STRASSE|Σ', NO_FLAGS, { pattern: '***:strasse|σ', folded: true }],
  ['^[a-z]k', I, { pattern: '***:^[a-z]k', folded: true }],
  ['[^K]ß', I, { pattern: '***:[^Kk\u212a]ß', folded: true }],
  ['\\d+', I, { pattern: '***:[0-9]+', folded: false }],
  ['[a-c]', I, { pattern: '***:[A-Ca-c]', folded: false }],
  ['a(?i:k)', NO_FLAGS, { pattern: '***:a[Kk\u212a]', folded: false }],
]

const NOT_TRANSLATED = [
  ['\\bword', '\\B', '\\pL', '\\p{Greek}', '[\\pN]', '\\012', '\\C'],
  ['^*', '(^a)*', '(?:a$)?', 'a**', 'a{2}{3}', '*', '(a', 'a)', '[a', '(?i', '(?=a)', '(?<=a)', '(?i)*'],
  ['\\x00', '\\x{d800}', '[^\\x00-\\x{10ffff}]', '\\Q\\E', '[b-a]', '[[:constructor:]]', '[[:nothing:]]'],
].flat()

/** Cheap for RE2, while PostgreSQL needs long to compile them, or refuses to. */
const EXPENSIVE = [
  ['a{256}', 'a{0,1000}', '(a{100}){10}', '((a{10}){10}){10}', '(?:a{1,30}b){1,30}', '[ab]{255}[ab]{255}'],
  ['(a*)*', '(a|b*)+', '(a?){2,}', '((?:a+b)*c)*', '(|a)*', `${'('.repeat(60)}a${')'.repeat(60)}`],
  ['(?:a?){200}', '(?:a?b?){120}', 'x*'.repeat(150), '(?:^|$)'.repeat(16), '(?:a{0,15}b{0,15}){40}'],
  ['x'.repeat(600), Array.from({ length: 300 }, (_, i) => `${i}`).join('|')],
].flat()

for (const [pattern, flags, expected] of TRANSLATED) {
  test(`postgresPattern: ${pattern || 'nothing'} ${names(flags)} becomes ${expected}`, () => {
    assert.deepEqual(postgresPattern(pattern, flags), { pattern: expected, folded: false })
  })
}

for (const [pattern, flags, expected] of FOLDED) {
  test(`postgresPattern: ${pattern} ${names(flags)} without case becomes ${expected.pattern}`, () => {
    assert.deepEqual(postgresPattern(pattern, flags), expected)
  })
}

for (const pattern of [...NOT_TRANSLATED, ...EXPENSIVE]) {
  test(`postgresPattern: ${pattern.slice(0, 40)} is not given to PostgreSQL`, () => {
    assert.equal(postgresPattern(pattern, NO_FLAGS), undefined)
  })
}

test('postgresPattern: where RE2 and PostgreSQL agree on a pattern, they agree on every text', async () => {
  let translated = 0
  for (let batch = 0; translated < 2_500; batch++) {
    const { cases, texts } = sample(SEED + batch, (chance) => {
      // a few characters at a time, so that texts and patterns meet
      const alphabet = ['a', '\n', ...Array.from({ length: 4 }, () => chance.pick(ALPHABET))]
      const maker: Maker = { chance, alphabet }
      return {
        cases: Array.from({ length: 100 }, () => ({ source: makePattern(maker), flags: makeFlags(chance) })),
        texts: Array.from({ length: 60 }, () => chance.list(8, () => chance.pick(alphabet)).join('')),
      }
    })
    translated += await compare(cases, texts)
    assert.ok(batch < 100, 'the generator makes too few patterns that can be translated')
  }
})

test('postgresPattern: every character is in the same classes on both sides', async () => {
  const characters: string[] = []
  for (let point = 1; point <= 0x1ffff; point++) {
    if (point < 0xd800 || point > 0xdfff) characters.push(String.fromCodePoint(point))
  }
  const classes = [
    '.',
    '\\d',
    '\\W',
    '[^\\s]',
    '[[:punct:]]',
    'k',
    '[^σ]',
    'ß',
    '[à-þ]',
    '[\\x{100}-\\x{ffff}]',
    'İ',
  ]
  const patterns = classes.flatMap((source) => [NO_FLAGS, I].map((flags) => ({ source, flags })))
  assert.equal(await compare(patterns, characters), patterns.length)
})

interface Case {
  readonly source: string
  readonly flags: PatternFlags
}

/** How many of the patterns were translated; for these, both sides must say the same about all texts. */
async function compare(cases: readonly Case[], texts: readonly string[]): Promise<number> {
  const translated = cases.flatMap((each) => {
    const theirs = postgresPattern(each.source, each.flags)
    return theirs === undefined ? [] : [{ ...each, theirs, ours: compilePattern(each.source, each.flags) }]
  })
  const { rows } = await client.query<{ found: boolean[] }>(SEARCH, [
    translated.map(({ theirs }) => theirs.pattern),
    translated.map(({ theirs }) => theirs.folded),
    texts,
  ])
  for (const [i, { source, flags, theirs, ours }] of translated.entries()) {
    const described = `${JSON.stringify(source)} ${names(flags)} as ${theirs.pattern}`
    assert.ok(ours, `${described} is not an RE2 pattern`)
    for (const [j, text] of texts.entries()) {
      if (ours.occursIn(text) === rows[i]!.found[j]) continue
      assert.fail(`${described} on ${JSON.stringify(text)}: PostgreSQL says ${rows[i]!.found[j]}`)
    }
  }
  return translated.length
}

const SEARCH = `
  select array(
    select f.text collate "C" ~ p.pattern
    from unnest($3::text[]) with ordinality t(text, n),
    lateral (select case when p.folded then pg_temp.${foldFunctionName()}(t.text) else t.text end) f(text)
    order by t.n
  ) as found
  from unnest($1::text[], $2::boolean[]) with ordinality p(pattern, folded, n) order by p.n`

const ALPHABET = Array.from('aabbAB09 _\n\r\t\vkKsSéÉſ\u212aσςΣßẞİıiIΩ\u2126ωǅ😀𐐀𐐨\\^$]-[(){}|.*+?,#')

interface Maker {
  readonly chance: Chance
  readonly alphabet: readonly string[]
}

function makeFlags(chance: Chance): PatternFlags {
  return {
    caseInsensitive: chance.happens(40),
    multiline: chance.happens(30),
    dotall: chance.happens(30),
    extended: chance.happens(10),
  }
}

function makePattern(maker: Maker, depth = 0): string {
  const { chance } = maker
  const branches = Array.from({ length: chance.happens(25) ? 2 : 1 }, () =>
    chance.list(5, () => makeRepeated(maker, depth)).join(''),
  )
  return branches.join('|')
}

function makeRepeated(maker: Maker, depth: number): string {
  const { chance } = maker
  const atom = depth < 3 && chance.happens(20) ? makeGroup(maker, depth) : makeAtom(maker)
  return chance.happens(25) ? atom + chance.pick(TIMES) + (chance.happens(20) ? '?' : '') : atom
}

const TIMES = ['*', '+', '?', '{0}', '{1}', '{2}', '{0,2}', '{1,}', '{2,3}', '{,2}', '{0,}']

function makeGroup(maker: Maker, depth: number): string {
  const start = maker.chance.pick(['(', '(?:', '(?i:', '(?s-i:', '(?m:', '(?U:', '(?i)(', '(?-m:'])
  return `${start}${makePattern(maker, depth + 1)})`
}

function makeAtom(maker: Maker): string {
  const { chance, alphabet } = maker
  const kind = chance.int(12)
  if (kind < 6) return quoted(chance.pick(alphabet))
  if (kind < 8) return chance.pick(['^', '$', '\\A', '\\z'])
  if (kind === 8) return chance.pick(['.', '\\d', '\\w', '\\s', '\\D', '\\W', '\\S', '\\b', '\\pL'])
  if (kind === 9)
    return chance.pick(['\\x4b', '\\x{212A}', '\\Qa.\\E', '\\Q$\\E', '{', '}', ']', ',', '\\ ', '\\n', '\\v'])
  return makeClass(maker)
}

function quoted(character: string): string {
  return '\\^$[](){}|.*+?-'.includes(character) ? `\\${character}` : character
}

function makeClass({ chance, alphabet }: Maker): string {
  const members = Array.from({ length: 1 + chance.int(3) }, () =>
    chance.happens(50) ? quoted(chance.pick(alphabet)) : chance.pick(MEMBERS),
  )
  return `[${chance.happens(35) ? '^' : ''}${members.join('')}${chance.happens(10) ? '-' : ''}]`
}

const MEMBERS = [
  [
    ...Array.from('abAkKsſ\u212aéσςßİı😀𐐀^$.[|('),
    'a-c',
    'A-K',
    'a-z',
    '0-9',
    ' -~',
    'à-þ',
    'ſ-ɏ',
    'Α-Ω',
    '𐐀-𐐧',
    '--a',
  ],
  ['\\d', '\\w', '\\s', '\\D', '\\W', '\\S', '\\]', '\\\\', '\\-', '\\n', '\\x{e9}', '\\x00-\\x{10ffff}'],
  ['[:alpha:]', '[:^alpha:]', '[:upper:]', '[:space:]', '[:punct:]', '[:^word:]', '[:cntrl:]', ']', '-'],
].flat()

function names(flags: PatternFlags): string {
  const on = Object.entries(flags).filter(([, isOn]) => isOn)
  return on.length === 0 ? 'as it is' : on.map(([name]) => name).join(' ')
}
