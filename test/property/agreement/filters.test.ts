/** Every query can be written as a filter and read back; whatever text comes, it is a filter or refused with a place. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../../src/base/errors.ts'
import { type Json, type JsonObject, isArray, isObject } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { compilePattern } from '../../../src/base/pattern.ts'
import { startBudget } from '../../../src/lang/budget.ts'
import { parseQuery } from '../../../src/lang/parse/parse-query.ts'
import { type Named, type Query, printQuery } from '../../../src/lang/query.ts'
import { parseFilter } from '../../../src/lang/text/parse-filter.ts'
import { printFilter } from '../../../src/lang/text/print-filter.ts'
import { type Chance, sample } from '../../support/chance.ts'
import { SEED } from '../../support/seed.ts'
import { makeSchema } from './make-documents.ts'
import { makeQuery } from './make-requests.ts'
import { withPredefined } from './model.ts'

const CASES = 20_000
const PER_SCHEMA = 50

function* queries(): Generator<{ readonly query: JsonObject; readonly seed: number }> {
  for (let i = 0; i < CASES; i++) {
    const root = withPredefined(sample(SEED + Math.floor(i / PER_SCHEMA), makeSchema))
    const seed = SEED + i
    yield { seed, query: sample(seed, (chance) => spiced(makeQuery(chance, [root], 4), chance)) }
  }
}

const NAMES = [
  'in',
  'text',
  'first-name',
  'a b',
  '`',
  '"',
  '/',
  '名前',
  '1st',
  '$parent',
  '*',
  '-1',
  '+2',
  'x#',
]
const VALUES: readonly Json[] = [
  '',
  '"',
  '\\',
  '/',
  '`',
  '\n\u2028',
  '😀',
  'and',
  { $now: true },
  JSON.rawJSON('1.0'),
]
const PATTERNS = [
  '/',
  '\\/',
  'a\\\\/b',
  '[/]',
  '[\\/]',
  '\\Qa/b\\E',
  '\\Qa\\/b\\E',
  '\\Q\\\\/',
  '\\Q\\/',
  '',
  '\\\\',
  '"',
  '\\Q\\/\\E+x',
]

const SEARCHES: readonly JsonObject[] = [
  { text: 'blue -red' },
  { text: '"night \\ sky" \n/x*', index: 'a "b" `c`' },
  { text: '東京* 🎉', index: 'text' },
]

/** The query with some names, values and patterns that are harder to write. */
function spiced(query: Json, chance: Chance): JsonObject {
  const change = (value: Json, key = ''): Json => {
    if (isArray(value)) return value.map((each) => change(each, key))
    if (isObject(value)) {
      if (typeof value['field'] === 'string' && chance.happens(5)) return chance.pick(SEARCHES)
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each, name)]))
    }
    if (!chance.happens(15)) return value
    if (key === 'field' || key === 'rfield' || key === 'array')
      return `${value as string}.${chance.pick(NAMES)}`
    if (key === 'regex') return chance.pick(PATTERNS)
    return (key === 'values' || key === 'rvalue') && value !== null ? chance.pick(VALUES) : value
  }
  return change(query) as JsonObject
}

/** As it is printed, with a `$and` or `$or` of one replaced by that one, and escaped slashes of patterns plain. */
function normal(query: Query<Named>): Json {
  const change = (value: Json): Json => {
    if (isArray(value)) return value.map(change)
    if (!isObject(value)) return value
    const only = value['$and'] ?? value['$or']
    if (isArray(only) && only.length === 1) return change(only[0]!)
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        key,
        key === 'regex' ? plainSlashes(each as string) : change(each),
      ]),
    )
  }
  return change(printQuery(query))
}

function plainSlashes(pattern: string): string {
  return pattern.includes('\\Q')
    ? 'a quoted part'
    : pattern.replaceAll(/\\([^])/g, (pair, next) => (next === '/' ? '/' : pair))
}

const parsed = (text: string) => parseFilter(text, startBudget(DEFAULT_LIMITS))

test(`filters: ${CASES} random queries are written as text and read back (SMALT_SEED=${SEED})`, () => {
  for (const { query, seed } of queries()) {
    const original = parseQuery(query, '', DEFAULT_LIMITS)
    const text = printFilter(original)
    const back = parsed(text)
    const about = `seed ${seed}: ${JSON.stringify(query)}\n${text}`
    assert.deepEqual(normal(back), normal(original), about)
    assert.equal(printFilter(back), text, about)
  }
})

test('filters: patterns with slashes match the same texts', () => {
  const texts = ['', '/', '\\', '\\/', 'a/b', 'a\\/b', 'a\\b', '\\//x', '\\/x', '"']
  for (const pattern of PATTERNS) {
    const original = parseQuery({ field: 'a', regex: pattern }, '', DEFAULT_LIMITS)
    const back = parsed(printFilter(original))
    assert.ok(original.kind === 'regex' && back.kind === 'regex')
    const [before, after] = [original, back].map((each) => compilePattern(each.pattern, each.flags)!)
    for (const text of texts)
      assert.equal(after!.occursIn(text), before!.occursIn(text), `${pattern} as ${back.pattern} on ${text}`)
  }
})

const PIECES = [
  'and',
  ' or ',
  'not ',
  '(',
  ')',
  '"',
  '/',
  '\\',
  '`',
  '$',
  '.',
  '*',
  ',',
  '=',
  '<',
  '~',
  'in',
  'any ',
  'now()',
  'text(',
  ' text("a* -b", "x") ',
  '1',
  '-',
  'e',
  '#',
  ' ',
  '\n',
  '\0',
  '\ud800',
  '😀',
  'null',
  '{',
  '${x}',
]

test(`filters: spoiled texts are filters or refused with their place (SMALT_SEED=${SEED})`, () => {
  let refused = 0
  for (const { query, seed } of queries()) {
    const text = sample(seed, (chance) => spoiled(printFilter(parseQuery(query, '', DEFAULT_LIMITS)), chance))
    try {
      const again = parsed(text)
      assert.deepEqual(normal(parsed(printFilter(again))), normal(again), `seed ${seed}: ${text}`)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw new Error(`seed ${seed}: ${text}`, { cause: error })
      assert.match(error.message, /\(at line \d+, column \d+\)$/)
      refused++
    }
  }
  assert.ok(refused > CASES / 4 && refused < CASES, `${refused} refused`)
})

function spoiled(text: string, chance: Chance): string {
  let result = text
  for (let n = 1 + chance.int(3); n > 0; n--) {
    const at = chance.int(result.length + 1)
    const length = chance.pick([0, 1, 1, 3])
    result = result.slice(0, at) + (chance.happens(70) ? chance.pick(PIECES) : '') + result.slice(at + length)
  }
  return result
}
