/** Text search in a language: words are found by their stems, beginnings of words as they are written. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { LANGUAGES } from '../../../src/base/stemmers.ts'
import { type TestServer, startTestServer } from '../../support/server.ts'
import { metadataDocument } from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const FIELDS: JsonObject = {
  title: { type: 'string' },
  body: { type: 'string' },
  tags: { type: 'array', items: { type: 'string' } },
}
const index = (name: string, language: string): JsonObject => ({
  name,
  kind: 'text',
  language,
  fields: [{ field: 'title', weight: 3 }, { field: 'body' }, { field: 'tags' }],
})
const ENGLISH = index('english', 'english')
const GERMAN = index('german', 'german')
const PLAIN: JsonObject = { name: 'plain', kind: 'text', fields: [{ field: 'title' }] }

const DOCUMENTS: readonly JsonObject[] = [
  { _id: '1', title: 'Running dogs', body: 'The dogs were running in the parks.' },
  { _id: '2', title: 'A dog runs', tags: ['blue-eyed dogs', 'skies'] },
  { _id: '3', title: 'Häuser und Straßen', body: 'Das Haus steht an der Straße.' },
  { _id: '4', title: 'HAUS', body: "The runner's starlings" },
  { _id: '5', title: '東京都 🎉', body: `${'x'.repeat(70)}ings` },
]

/** Index, search, and the documents that it finds. */
const SEARCHES: readonly (readonly [index: string, text: string, found: string])[] = [
  ['english', 'dog', '1 2'],
  ['english', 'DOGS run', '1 2'],
  ['english', 'park', '1'],
  ['english', '"dog run"', '2'],
  ['english', '"dogs running"', '2'],
  ['english', '"run dog"', '1'],
  ['english', '"eyes dog"', '2'],
  ['english', 'sky', '2'],
  ['english', 'dog -parking', '2'],
  ['english', 'blue-eye', '2'],
  ['english', 'starling', '4'],
  // Beginnings are about words as they are written: their stems are shorter than these.
  ['english', 'starling*', '4'],
  ['english', 'runn*', '1 4'],
  ['english', 'running*', '1'],
  ['english', '"were runn"*', '1'],
  ['english', '"dog runn"*', ''],
  ['english', 'dog -runn*', '2'],
  ['english', 'skies*', '2'],
  ['english', 'sky*', ''],
  ['english', 'runner’s', '4'],
  ['english', 'runner', '4'],
  ['english', '京都', '5'],
  ['english', '🎉', '5'],
  ['english', `${'x'.repeat(70)}ings`, '5'],
  ['english', `${'x'.repeat(70)}ing`, ''],
  ['german', 'haus', '3 4'],
  ['german', 'Hauses STRASSE', '3'],
  ['german', 'hauser', '3 4'],
  ['german', 'Häus*', '3 4'],
  ['german', 'haus*', '3 4'],
  ['german', 'run', '2'],
  ['plain', 'dog', '2'],
  ['plain', 'haus', '4'],
]

onEveryStore((kind) => {
  let server: TestServer

  before(async () => {
    server = await startTestServer()
    await define('page', [ENGLISH, GERMAN, PLAIN], { history: true })
    await insert('page')
  })
  after(() => server[Symbol.asyncDispose]())

  async function define(entity: string, indexes: Json, info: JsonObject = {}): Promise<void> {
    await server.define(entity, FIELDS, { info: { ...info, indexes } })
  }

  async function insert(entity: string): Promise<void> {
    const answer = await server.ask('PUT', `/data/insert/${entity}`, { body: { data: DOCUMENTS } })
    assert.equal(answer.json.status, 'COMPLETE', answer.text)
  }

  async function putIndexes(entity: string, indexes: Json, query = '') {
    const { entityInfo } = metadataDocument(entity, FIELDS, { info: { indexes } })
    const answer = await server.ask('PUT', `/metadata/${entity}${query}`, { body: entityInfo! })
    assert.equal(answer.status, 200, answer.text)
    return answer
  }

  async function idsOf(entity: string, query: JsonObject, more: JsonObject = {}): Promise<string> {
    const body = { query, projection: { field: '_id' }, ...more }
    const answer = await server.ask('POST', `/data/find/${entity}`, { body })
    assert.equal(answer.status, 200, answer.text)
    return answer.json.processed.map(({ _id }: { readonly _id: string }) => _id).join(' ')
  }

  for (const [name, text, found] of SEARCHES) {
    test(`find: ${text.slice(0, 30)} finds ${found || 'nothing'} in the index ${name}`, async () => {
      assert.equal(await idsOf('page', { text, index: name }), found)
      assert.equal(await idsOf('page', { text, index: name }, { asOf: new Date().toISOString() }), found)
    })
  }

  test('find: an occurrence of a stem counts the weight of its field', async () => {
    const query = {
      $or: [
        { text: 'dog', index: 'english' },
        { text: 'star*', index: 'english' },
      ],
    }
    assert.equal(await idsOf('page', query, { sort: { $score: '$desc' } }), '1 2 4')
    const sort = [{ $score: '$asc' }, { _id: '$desc' }]
    assert.equal(await idsOf('page', { text: 'run', index: 'english' }, { sort }), '2 1')
  })

  test('explain: the index of the language finds the documents, and is named with it', async () => {
    await define('large', [])
    const data = Array.from({ length: 3000 }, (_, i) => ({ _id: `x${i}`, body: `filler ${i} of many` }))
    await server.ask('PUT', '/data/insert/large', { body: { data } })
    await insert('large')
    await putIndexes('large', [ENGLISH, GERMAN])
    for (const [name, text] of [
      ['english', 'parked'],
      ['english', 'starl*'],
      ['german', 'häusern'],
    ]) {
      const body = { query: { text: text!, index: name! }, projection: { field: '_id' } }
      const answer = await server.ask('POST', '/data/explain/large', { body })
      assert.equal(answer.json.matchCount > 0, true, answer.text)
      const { winningPlan } = answer.json.processed[0][kind].plan.queryPlanner
      assert.deepEqual(winningPlan.indexes[0], {
        kind: 'text',
        language: name,
        fields: [{ field: 'title' }, { field: 'body' }, { field: 'tags.*' }],
      })
    }
  })

  test('metadata: a change of the language builds the index again, and a dry run says so', async () => {
    await define('late', [{ ...ENGLISH, name: 'text' }])
    await insert('late')
    assert.equal(await idsOf('late', { text: 'häusern' }), '')
    assert.equal(await idsOf('late', { text: 'parks' }), '1')
    const german: JsonObject = { ...GERMAN, name: 'text' }
    const rehearsed = await putIndexes('late', [german], '?dryRun=true')
    const shown = (language: string) => [
      { kind: 'text', language, unique: false, fields: ['title', 'body', 'tags.*'] },
    ]
    const [impact] = rehearsed.json.dryRun.entities
    assert.deepEqual(impact.indexes, { build: shown('german'), drop: shown('english') })
    assert.equal(await idsOf('late', { text: 'häusern' }), '')
    const changed = await putIndexes('late', [german])
    assert.doesNotMatch(changed.text, /no longer be searched/)
    assert.equal(await idsOf('late', { text: 'häusern' }), '3 4')
    const { language: _, ...plain } = german
    await putIndexes('late', [plain])
    assert.equal(await idsOf('late', { text: 'häusern' }), '')
    assert.equal(await idsOf('late', { text: 'haus' }), '3 4')
    await putIndexes('late', [german])
    assert.equal(await idsOf('late', { text: 'häusern' }), '3 4')
  })

  test('metadata: one of two indexes on the same fields is missed when it is dropped', async () => {
    await define('two', [ENGLISH, GERMAN])
    const dropped = await putIndexes('two', [ENGLISH])
    assert.match(dropped.text, /the index \\"german\\" on .*can no longer be searched/)
  })

  test('write: stems follow inserts, updates and deletes', async () => {
    await define('note', [ENGLISH])
    await insert('note')
    const query = { field: '_id', op: '=', rvalue: '1' }
    await server.ask('POST', '/data/update/note', {
      body: { query, update: { $set: { title: 'Cats', body: 'sleeping' } } },
    })
    assert.equal(await idsOf('note', { text: 'dog' }), '2')
    assert.equal(await idsOf('note', { text: 'cat sleeps' }), '1')
    await server.ask('POST', '/data/delete/note', { body: { query: { text: 'cat' } } })
    assert.equal(await idsOf('note', { text: 'sleep' }), '')
  })

  test('metadata: the language is kept, an unknown one is refused with the known ones', async () => {
    const { json } = await server.ask('GET', '/metadata/page/1.0.0')
    assert.deepEqual(
      json.entityInfo.indexes.map(({ language }: JsonObject) => language),
      ['english', 'german', undefined, undefined],
    )
    const wrong = [index('text', 'klingon'), index('text', 'English'), { ...ENGLISH, language: 5 }]
    for (const each of wrong) {
      const body = metadataDocument('wrong', FIELDS, { info: { indexes: [each] } })
      const answer = await server.ask('PUT', '/metadata/wrong/1.0.0', { body })
      assert.equal(answer.status, 422, answer.text)
      assert.equal(answer.json.errorCode, 'metadata:InvalidIndex')
      assert.ok(answer.text.includes(LANGUAGES.join(', ')), answer.text)
    }
    const twice = metadataDocument('wrong', FIELDS, {
      info: { indexes: [ENGLISH, { ...ENGLISH, name: 'b' }] },
    })
    const refused = await server.ask('PUT', '/metadata/wrong/1.0.0', { body: twice })
    assert.match(refused.text, /has the same fields/)
    const strict = metadataDocument('strict', FIELDS, { info: { indexes: [ENGLISH] } })
    const answer = await server.ask('PUT', '/metadata/strict/1.0.0?strict=true', { body: strict })
    assert.equal(answer.status, 200, answer.text)
    assert.doesNotMatch(answer.text, /unknown-key/)
  })
})
