/** Text search: evaluator, SQLite and PostgreSQL find what lists of words say, in several scripts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type JsonObject } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { memoized } from '../../../src/base/memo.ts'
import { compareText } from '../../../src/base/text.ts'
import { wordsIn } from '../../../src/base/words.ts'
import { compileQuery } from '../../../src/lang/evaluate/match.ts'
import { parseQuery } from '../../../src/lang/parse/parse-query.ts'
import { resolveQuery } from '../../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../../src/lang/resolve/scope.ts'
import { type Chance, sampleEvenly } from '../../support/chance.ts'
import { compiledSchema } from '../../support/schema.ts'
import { SEED } from '../../support/seed.ts'
import { ADMIN, type TestService, documentsOf, openTestService } from '../../support/service.ts'
import { STORES, chooseStore } from '../../support/store-kind.ts'

const DOCUMENTS = 500
const SEARCHES = 250
const EVALUATED = 40

const ID: JsonObject = { field: '_id' }

const FIELDS: JsonObject = {
  title: { type: 'string' },
  tags: { type: 'array', items: { type: 'string' } },
  notes: { type: 'array', items: { type: 'object', fields: { said: { type: 'string' } } } },
}
const INDEX: JsonObject = {
  name: 'words',
  kind: 'text',
  fields: [{ field: 'title', weight: 3 }, { field: 'tags' }, { field: 'notes.*.said', weight: 10 }],
}

/** Few, so that documents and searches meet; alike, so that cutting and folding matter. */
const PIECES = [
  [
    'a',
    'A',
    'ab',
    'b',
    'it’s',
    "it's",
    '3.14',
    '3',
    'x_y',
    'a.b',
    "'",
    '\\',
    '*',
    '-',
    '|',
    '&',
    ':*',
    'ab:c',
  ],
  [
    'straße',
    'STRASSE',
    'é',
    'e\u0301',
    'E',
    'Ångström',
    'angstrom',
    'ﬁn',
    'fin',
    'ｆｉｎ',
    'İ',
    'ı',
    'ΣΑΣ',
    'σας',
  ],
  ['Öl', 'ol', 'нет', 'НЁТ', 'não', 'שָׁלוֹם', 'שלום', 'مُحَمَّد', 'محمد', 'हिन्दी', 'हिन्द', '한국어', '한국'],
  ['東京', '東', '京都', '京', 'がん', 'かん', 'カ', 'ｶ', 'ー', '々', 'สวัสดี', 'สวัส', 'ดี', 'ລາວ', 'ខ្មែរ'],
  [
    '🎉',
    '❤️',
    '❤',
    '🇨🇭',
    '👨‍👩‍👧',
    '👨',
    '©',
    '½',
    '²',
    '№',
    '\u00ad',
    'co\u00adop',
    'coop',
    '\u200e',
    '\u0301',
    '__',
  ],
  [
    'x'.repeat(64),
    'x'.repeat(65),
    'x'.repeat(200),
    '𝒳',
    '\u{1F468}',
    '\u{20000}',
    'ﷺ',
    '\u3000',
    '\u2028',
    '~',
    '\u007f',
  ],
].flat()
const GLUE = [' ', ' ', ' ', '', '', '-', ', ', '.', '\n', '"', "'", '_']

function makeText(chance: Chance, max: number): string {
  return [chance.pick(PIECES), ...chance.list(max, () => chance.pick(GLUE) + chance.pick(PIECES))].join('')
}

function makeDocument(chance: Chance, i: number): JsonObject {
  return {
    _id: `d${i}`,
    ...(chance.happens(85) && { title: chance.happens(5) ? null : makeText(chance, 8) }),
    ...(chance.happens(60) && { tags: chance.list(6, () => makeText(chance, 2)) }),
    ...(chance.happens(60) && {
      notes: chance.list(5, () => (chance.happens(10) ? {} : { said: makeText(chance, 5) })),
    }),
  }
}

function makeTerm(chance: Chance): string {
  const minus = chance.happens(25) ? '-' : ''
  const star = chance.happens(25) ? '*' : ''
  const text = makeText(chance, 2)
  if (chance.happens(40)) return `${minus}"${text.replaceAll('"', ' ')}"${star}`
  const bare = text.replaceAll(/[\s"]/gu, '')
  return `${minus}${
    star === ''
      ? bare
      : Array.from(bare)
          .slice(0, 1 + chance.int(4))
          .join('')
  }${star}`
}

interface Term {
  readonly words: readonly string[]
  readonly isPrefix: boolean
  readonly isExcluded: boolean
}

/** Read in another way than the parser does: from the end of each term. Undefined where a term has no word. */
function readTerm(term: string): Term | undefined {
  const isExcluded = term.length > 1 && term.startsWith('-')
  const rest = isExcluded ? term.slice(1) : term
  const isPrefix = rest.endsWith('*')
  const words = wordsIn(rest.replaceAll('"', ' '))
  return words.length === 0 ? undefined : { words, isPrefix, isExcluded }
}

/** The words of each value. */
const valuesOf = memoized(({ title, tags, notes }: JsonObject): readonly (readonly string[])[] => {
  const texts = [
    title,
    ...((tags ?? []) as string[]),
    ...((notes ?? []) as JsonObject[]).map(({ said }) => said),
  ]
  return texts.filter((text) => typeof text === 'string').map((text) => wordsIn(text))
})

function occurs({ words, isPrefix }: Term, values: readonly (readonly string[])[]): boolean {
  const last = words.length - 1
  return values.some((value) =>
    value.some((_, start) =>
      words.every((word, i) => {
        const found = value[start + i]
        return isPrefix && i === last ? found?.startsWith(word) === true : found === word
      }),
    ),
  )
}

/** By relevance, then by `_id`. */
async function idsOf(service: TestService, query: JsonObject): Promise<readonly string[]> {
  const sort = [{ $score: '$desc' }, { _id: '$asc' }]
  const response = await service.find('page', { query, projection: ID, sort })
  return documentsOf(response).map(({ _id }) => _id as string)
}

function scoreOf({ title, tags, notes }: JsonObject, terms: readonly Term[]): number {
  const count = (fields: JsonObject, weight: number): number =>
    weight *
    terms.reduce((sum, term) => sum + valuesOf(fields).reduce((all, value) => all + times(term, value), 0), 0)
  return (
    count({ title: title ?? null }, 3) + count({ tags: tags ?? [] }, 1) + count({ notes: notes ?? [] }, 10)
  )
}

/** How often the term occurs, each time after the end of the one before. */
function times(term: Term, words: readonly string[]): number {
  const { length } = term.words
  let count = 0
  for (let i = 0; i + length <= words.length;) {
    const isHere = occurs(term, [words.slice(i, i + length)])
    if (isHere) count++
    i += isHere ? length : 1
  }
  return count
}

async function openOn(kind: (typeof STORES)[number], documents: readonly JsonObject[]): Promise<TestService> {
  chooseStore(kind)
  const service = await openTestService()
  await service.define('page', FIELDS, { info: { indexes: [INDEX] } })
  await service.store('page', documents)
  return service
}

test('text search: all stores find what lists of words say, and so does the evaluator', async () => {
  const original = sampleEvenly(SEED, (chance) =>
    Array.from({ length: DOCUMENTS }, (_, i) => makeDocument(chance, i)),
  )
  await using stack = new AsyncDisposableStack()
  const services: TestService[] = []
  for (const kind of STORES) services.push(stack.use(await openOn(kind, original)))
  const scope = rootScope(compiledSchema('page', FIELDS, { info: { indexes: [INDEX] } }))
  const documents = [...original]
  let [filled, refused, changed] = [0, 0, 0]
  for (let i = 0; i < SEARCHES; i++) {
    const seed = SEED + i
    await sampleEvenly(seed, async (chance) => {
      if (chance.happens(10)) {
        const place = chance.int(DOCUMENTS)
        const next = makeDocument(chance, place)
        documents[place] = next
        for (const { service } of services) {
          const saved = await service.data.save(ADMIN, { entity: 'page' }, { data: [next] })
          assert.equal(saved.status, 'COMPLETE')
        }
        changed++
      }
      const written = [makeTerm(chance), ...chance.list(3, () => makeTerm(chance))].filter(
        (term) => term !== '',
      )
      const text = written.join(' ')
      const terms = written.map(readTerm)
      if (terms.length === 0 || terms.includes(undefined)) {
        assert.throws(() => parseQuery({ text }, '', DEFAULT_LIMITS), /no word/, text)
        refused++
        return
      }
      const test = (document: JsonObject): boolean => {
        const values = valuesOf(document)
        return terms.every((term) => occurs(term!, values) !== term!.isExcluded)
      }
      const wanted = terms.filter((term) => !term!.isExcluded) as readonly Term[]
      const found = documents
        .filter(test)
        .map((document) => ({ id: document['_id'] as string, score: scoreOf(document, wanted) }))
      const expected = found
        .toSorted((a, b) => b.score - a.score || compareText(a.id, b.id))
        .map(({ id }) => id)
      const where = `seed ${seed}: ${JSON.stringify(text)}`
      for (const service of services) {
        assert.deepEqual(await idsOf(service, { text }), expected, where)
        const others = { $not: { $or: [{ text }, { field: '_id', op: '=', rvalue: 'd0' }] } }
        const { matchCount } = await service.find('page', { query: others, projection: ID, range: [0, 0] })
        assert.equal(matchCount, DOCUMENTS - new Set([...expected, 'd0']).size, where)
      }
      const matches = compileQuery(resolveQuery(parseQuery({ text }, '', DEFAULT_LIMITS), scope))
      for (let k = 0; k < EVALUATED; k++) {
        const value = chance.pick(documents)
        assert.equal(matches({ value }), test(value), `${where} on ${JSON.stringify(value)}`)
      }
      if (expected.length > 0) filled++
    })
  }
  console.log(
    `text search: seed ${SEED}, ${SEARCHES} searches, ${filled} filled, ${refused} refused, ${changed} changes`,
  )
  assert.ok(filled * 3 > SEARCHES, 'a good part of the searches find documents')
  assert.ok(refused * 3 < SEARCHES, 'few searches are refused')
})
