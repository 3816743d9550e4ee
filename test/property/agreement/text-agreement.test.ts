/** Text search: evaluator, SQLite and PostgreSQL find what lists of words say, in several scripts and languages. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type JsonObject } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import type { Language } from '../../../src/base/stemmers.ts'
import { compareText } from '../../../src/base/text.ts'
import { compileQuery } from '../../../src/lang/evaluate/match.ts'
import { compileSort } from '../../../src/lang/evaluate/order.ts'
import { parseQuery } from '../../../src/lang/parse/parse-query.ts'
import { resolveQuery, resolveSort } from '../../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../../src/lang/resolve/scope.ts'
import { parseSort } from '../../../src/lang/sort.ts'
import { type Chance, sampleEvenly } from '../../support/chance.ts'
import { compiledSchema } from '../../support/schema.ts'
import { SEED } from '../../support/seed.ts'
import { ADMIN, type TestService, documentsOf, openTestService } from '../../support/service.ts'
import { STORES, chooseStore } from '../../support/store-kind.ts'
import { makeDocument, makePieces, makeTerms, textsOf } from './make-texts.ts'
import { type Term, WEIGHTS, readTerm, referenceIn } from './reference-text.ts'

const TEXTS = 10_000
const SEARCHES = 250
const EVALUATED = 30

const FIELDS: JsonObject = {
  title: { type: 'string' },
  tags: { type: 'array', items: { type: 'string' } },
  notes: { type: 'array', items: { type: 'object', fields: { said: { type: 'string' } } } },
}
const LANGUAGES: readonly (Language | undefined)[] = [undefined, undefined, 'english', 'german', 'turkish']
const INDEXES = [...new Set(LANGUAGES)].map((language): JsonObject => {
  const fields = ['title', 'tags', 'notes.*.said'].map((field, i) => ({ field, weight: WEIGHTS[i]! }))
  return { name: language ?? 'words', kind: 'text', fields, ...(language && { language }) }
})
const SORT = [{ $score: '$desc' }, { _id: '$asc' }]

const scope = rootScope(compiledSchema('page', FIELDS, { info: { indexes: INDEXES } }))
const references = new Map(LANGUAGES.map((language) => [language, referenceIn(language)]))

interface Search {
  readonly query: JsonObject
  readonly where: string
  readonly terms: readonly Term[]
  readonly reference: ReturnType<typeof referenceIn>
}

/** A range of the answer, or all of it, by relevance where `more` has no other sort. */
async function idsOf(service: TestService, query: JsonObject, more: JsonObject) {
  const response = await service.find('page', { query, projection: { field: '_id' }, sort: SORT, ...more })
  return { ids: documentsOf(response).map(({ _id }) => _id as string), matchCount: response.matchCount }
}

async function openOn(kind: (typeof STORES)[number], documents: readonly JsonObject[]): Promise<TestService> {
  chooseStore(kind)
  const service = await openTestService()
  await service.define('page', FIELDS, { info: { indexes: INDEXES } })
  for (let i = 0; i < documents.length; i += 1_000) await service.store('page', documents.slice(i, i + 1_000))
  return service
}

/** Undefined if the search is refused, as it has to be where a term has no word. */
function makeSearch(chance: Chance, pieces: readonly string[], seed: number): Search | undefined {
  const language = chance.pick(LANGUAGES)
  const written = makeTerms(chance, pieces)
  const text = written.join(' ')
  const terms = written.map((each) => readTerm(each, language))
  const query = { text, index: language ?? 'words' }
  const where = `seed ${seed}: ${JSON.stringify(query)}`
  if (terms.length === 0 || terms.includes(undefined)) {
    assert.throws(() => parseQuery(query, '', DEFAULT_LIMITS), /no word/, where)
    return undefined
  }
  return { query, where, terms: terms as readonly Term[], reference: references.get(language)! }
}

/** What is found, best first. */
function expectedOf({ terms, reference }: Search, documents: readonly JsonObject[]): readonly string[] {
  return documents
    .flatMap((document) => {
      const score = reference(document, terms)
      return score === undefined ? [] : [{ id: document['_id'] as string, score }]
    })
    .sort((a, b) => b.score - a.score || compareText(a.id, b.id))
    .map(({ id }) => id)
}

function evaluate({ query, where, terms, reference }: Search, sample: readonly JsonObject[]): void {
  const resolved = resolveQuery(parseQuery(query, '', DEFAULT_LIMITS), scope)
  const matches = compileQuery(resolved)
  for (const value of sample) {
    const isMatch = reference(value, terms) !== undefined
    assert.equal(matches({ value }), isMatch, `${where} on ${JSON.stringify(value)}`)
  }
  const inOrder = compileSort(resolveSort(parseSort(SORT, ''), scope, { query: resolved }))
  const found = sample.filter((value) => reference(value, terms) !== undefined)
  const positions = inOrder(found.map((value) => ({ value })))
  assert.deepEqual(
    positions.map((i) => found[i]!['_id']),
    expectedOf({ query, where, terms, reference }, found),
    where,
  )
}

test('text search: all stores find what lists of words say, and so does the evaluator', async (t) => {
  const pieces = sampleEvenly(SEED, makePieces)
  const documents: JsonObject[] = []
  let texts = 0
  sampleEvenly(SEED, (chance) => {
    for (; texts < TEXTS; texts += textsOf(documents.at(-1)!).length) {
      documents.push(makeDocument(chance, pieces, documents.length))
    }
  })
  await using stack = new AsyncDisposableStack()
  const services: TestService[] = []
  for (const kind of STORES) services.push(stack.use(await openOn(kind, documents)))
  let [filled, refused, changed] = [0, 0, 0]
  for (let i = 0; i < SEARCHES; i++) {
    await sampleEvenly(SEED + i, async (chance) => {
      if (chance.happens(10)) {
        const place = chance.int(documents.length)
        const next = makeDocument(chance, pieces, place)
        documents[place] = next
        for (const { service } of services) {
          const saved = await service.data.save(ADMIN, { entity: 'page' }, { data: [next] })
          assert.equal(saved.status, 'COMPLETE')
        }
        changed++
      }
      const search = makeSearch(chance, pieces, SEED + i)
      if (!search) return void refused++
      const { query, where } = search
      const expected = expectedOf(search, documents)
      const range: [number, number] | undefined = chance.happens(50) ? [chance.int(5), 9] : undefined
      const shownOf = (ids: readonly string[]): readonly string[] =>
        range ? ids.slice(range[0], range[1] + 1) : ids
      const byId = shownOf(expected.toSorted(compareText))
      const isDenied = chance.happens(25)
      const check = async (service: TestService): Promise<void> => {
        const more: JsonObject = range ? { range: [...range] } : {}
        const answer = await idsOf(service, query, more)
        assert.deepEqual(answer, { ids: shownOf(expected), matchCount: expected.length }, where)
        const inOrder = await idsOf(service, query, { ...more, sort: { _id: '$asc' } })
        assert.deepEqual(inOrder, { ids: byId, matchCount: expected.length }, where)
        const uncounted = { ...more, sort: { _id: '$asc' }, execution: { count: 'none' } }
        assert.deepEqual(await idsOf(service, query, uncounted), { ids: byId, matchCount: 0 }, where)
        if (!isDenied) return
        const others = { $not: { $or: [query, { field: '_id', op: '=', rvalue: 'd0' }] } }
        const request = { query: others, projection: { field: '_id' }, range: [0, 0] }
        const { matchCount } = await service.find('page', request)
        assert.equal(matchCount, documents.length - new Set([...expected, 'd0']).size, where)
      }
      await Promise.all(services.map(check))
      evaluate(
        search,
        Array.from({ length: EVALUATED }, () => chance.pick(documents)),
      )
      if (expected.length > 0) filled++
    })
  }
  t.diagnostic(
    `seed ${SEED}, ${texts} texts in ${documents.length} documents, ${SEARCHES} searches, ` +
      `${filled} filled, ${refused} refused, ${changed} changes`,
  )
  assert.ok(filled * 3 > SEARCHES, 'a good part of the searches find documents')
  assert.ok(refused * 3 < SEARCHES, 'few searches are refused')
})
