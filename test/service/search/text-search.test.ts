/** Text search over HTTP: what matches, through which index, kept up to date by every way of writing. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { type Answer, type TestServer, startTestServer } from '../../support/server.ts'
import { metadataDocument } from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const TEXT: JsonObject = {
  name: 'text',
  kind: 'text',
  fields: [{ field: 'title', weight: 3 }, { field: 'body' }, { field: 'tags' }, { field: 'notes.*.said' }],
}

const FIELDS: JsonObject = {
  title: { type: 'string' },
  body: { type: 'string' },
  tags: { type: 'array', items: { type: 'string' } },
  notes: { type: 'array', items: { type: 'object', fields: { said: { type: 'string' } } } },
  city: { type: 'string' },
}

const DOCUMENTS: Json = [
  { _id: '1', title: 'Blue night', body: 'The night sky is blue; stars.', city: 'Bern' },
  { _id: '2', title: 'Red night', body: 'A red sky at night.', city: 'Bern' },
  { _id: '3', title: 'Straße nach Zürich', body: 'ΟΔΥΣΣΕΥΣ, naïve café' },
  {
    _id: '4',
    title: '東京都に住む',
    tags: ['blue-green', 'night'],
    notes: [{ said: 'sky' }, { said: 'starling' }],
  },
  { _id: '5', body: '🎉 party, e\u0301te\u0301 ＦＵＬＬ width ﬁnd', city: 'Bern' },
  { _id: '6', title: null, tags: [] },
  { _id: '7', title: "It's 3.14, foo_bar and ann@example.org" },
]

/** Search, and the documents that it finds. */
const SEARCHES: readonly (readonly [text: string, found: string])[] = [
  ['blue', '1 4'],
  ['BLUE Night', '1 4'],
  ['blue sky', '1 4'],
  ['"night sky"', '1'],
  ['"blue night"', '1'],
  ['"sky blue"', ''],
  ['"night blue"', ''],
  ['night -red', '1 4'],
  ['night -"red sky"', '1 4'],
  ['night -sta*', '2'],
  ['sta*', '1 4'],
  ['starl*', '4'],
  ['"red sk"*', '2'],
  ['-night', '3 5 6 7'],
  ['-night -party', '3 6 7'],
  ['strasse', '3'],
  ['zurich CAFE', '3'],
  ['Naïve', '3'],
  ['οδυσσευς', '3'],
  ['東京', '4'],
  ['京都', '4'],
  ['東都', ''],
  ['東*', '4'],
  ['blue-green', '4'],
  ['green-blue', ''],
  ['"green night"', ''],
  ['"sky starling"', ''],
  ['🎉', '5'],
  ['été full find', '5'],
  ["it's", '7'],
  ['3.14 foo_bar', '7'],
  ['ann@example.org', '7'],
  ['foo', ''],
  ['foo*', '7'],
]

onEveryStore((kind) => {
  let server: TestServer

  before(async () => {
    server = await startTestServer()
    await server.define('page', FIELDS, { info: { indexes: [TEXT] } })
    await write('PUT', '/data/insert/page', { data: DOCUMENTS })
  })
  after(() => server[Symbol.asyncDispose]())

  async function write(method: string, path: string, body: JsonObject): Promise<Answer> {
    const answer = await server.ask(method, path, { body })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.json.status, 'COMPLETE', answer.text)
    return answer
  }

  const find = (entity: string, body: JsonObject, headers: Record<string, string> = {}) =>
    server.ask('POST', `/data/find/${entity}`, { body: { projection: { field: '_id' }, ...body }, headers })

  async function idsOf(entity: string, query: JsonObject, more: JsonObject = {}): Promise<string> {
    const answer = await find(entity, { query, ...more })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.json.matchCount, answer.json.processed.length)
    return answer.json.processed.map(({ _id }: { readonly _id: string }) => _id).join(' ')
  }

  for (const [text, found] of SEARCHES) {
    test(`find: ${text} finds ${found || 'nothing'}`, async () => {
      assert.equal(await idsOf('page', { text, index: 'text' }), found)
      assert.equal(await idsOf('page', { $not: { text } }), without(found))
    })
  }

  const without = (found: string): string =>
    ['1', '2', '3', '4', '5', '6', '7'].filter((id) => !found.split(' ').includes(id)).join(' ')

  test('find: a text search is one condition among others', async () => {
    const bern = { field: 'city', op: '=', rvalue: 'Bern' }
    assert.equal(await idsOf('page', { $and: [bern, { text: 'night' }] }), '1 2')
    assert.equal(await idsOf('page', { $or: [{ text: 'party' }, { text: 'strasse' }] }), '3 5')
    assert.equal(await idsOf('page', { $and: [bern, { $not: { text: 'night' } }] }), '5')
    const answer = await find('page', { filter: 'city = "Bern" and text("night -red", "text")' })
    assert.deepEqual(answer.json.processed, [{ _id: '1' }], answer.text)
    const plain = await server.ask(
      'GET',
      `/documents/page?fields=_id&filter=${encodeURIComponent('text("sta*")')}`,
    )
    assert.deepEqual(plain.json.items, [{ _id: '1' }, { _id: '4' }], plain.text)
  })

  test('find: sorted by relevance, an occurrence in a field counts its weight', async () => {
    const ids = async (text: string, more: JsonObject = {}): Promise<string> =>
      await idsOf('page', { text }, { sort: { $score: '$desc' }, ...more })
    assert.equal(await ids('blue'), '1 4')
    assert.equal(await ids('night -"blue night"'), '2 4')
    assert.equal(await ids('sky* blue', { sort: [{ $score: '$asc' }] }), '4 1')
    const either = { $or: [{ text: 'red' }, { text: 'party' }, { text: 'star*' }] }
    assert.equal(await idsOf('page', either, { sort: [{ $score: '$desc' }, { _id: '$desc' }] }), '2 5 4 1')
    const pages: string[] = []
    for (let after: string | undefined, i = 0; i < 3; i++) {
      const page: JsonObject = after === undefined ? { size: 1 } : { size: 1, after }
      const answer = await find('page', { query: { text: 'night' }, sort: { $score: '$desc' }, page })
      assert.equal(answer.status, 200, answer.text)
      pages.push(answer.json.processed[0]._id)
      after = answer.json.next
    }
    assert.equal(pages.join(' '), '1 2 4')
    const refused = await find('page', { query: { $not: { text: 'a' } }, sort: { $score: '$desc' } })
    assert.equal(refused.status, 400)
    assert.match(refused.json.errors[0].msg, /needs a text search/)
  })

  test('find: sorted by relevance, with the documents of a reference and more terms than usual', async () => {
    await server.define('author', { page: { type: 'string' } })
    const authors = {
      type: 'reference',
      entity: 'author',
      query: { field: 'page', op: '=', rfield: '$parent._id' },
    }
    await server.define('written', { ...FIELDS, authors }, { info: { indexes: [TEXT] } })
    await write('PUT', '/data/insert/author', { data: [{ _id: 'a', page: '1' }] })
    await write('PUT', '/data/insert/written', { data: DOCUMENTS })
    const projection = [{ field: '_id' }, { field: 'authors.*._id' }]
    const body = { query: { text: 'night' }, projection, sort: { $score: '$desc' }, range: [0, 1] }
    const { json } = await find('written', body)
    assert.deepEqual(json.processed, [{ _id: '1', authors: [{ _id: 'a' }] }, { _id: '2' }])
    const many = Array.from({ length: 160 }, () => 'night').join(' ')
    const sort = [{ $score: '$desc' }, { _id: '$asc' }]
    assert.equal(await idsOf('written', { text: many }, { sort }), '1 2 4')
    assert.equal(await idsOf('written', { text: '-night' }, { sort }), '3 5 6 7')
  })

  test('explain: the index finds the documents', async () => {
    const many = Array.from({ length: 3000 }, (_, i) => ({ _id: `x${i}`, body: `filler ${i} of many` }))
    await server.define('large', FIELDS)
    await write('PUT', '/data/insert/large', { data: [...many, ...(DOCUMENTS as JsonObject[])] })
    const { entityInfo } = metadataDocument('large', FIELDS, { info: { indexes: [TEXT] } })
    const declared = await server.ask('PUT', '/metadata/large', { body: entityInfo! })
    assert.equal(declared.status, 200, declared.text)
    for (const text of ['starling', 'starl*', '"red sky"', 'filler -many sky']) {
      const answer = await server.ask('POST', '/data/explain/large', {
        body: { query: { text }, projection: { field: '_id' } },
      })
      const { winningPlan } = answer.json.processed[0][kind].plan.queryPlanner
      assert.equal(winningPlan.stage, 'INDEX', JSON.stringify(answer.json.processed[0]))
      assert.deepEqual(winningPlan.indexes[0], {
        kind: 'text',
        fields: [{ field: 'title' }, { field: 'body' }, { field: 'tags.*' }, { field: 'notes.*.said' }],
      })
    }
    await write('POST', '/data/delete/large', { query: { text: 'filler' } })
    assert.equal(await idsOf('large', { text: 'filler' }), '')
  })

  test('write: the index follows insert, update, save, patch and delete', async () => {
    await server.define('note', FIELDS, { info: { indexes: [TEXT] } })
    await write('PUT', '/data/insert/note', {
      data: [
        { _id: 'a', title: 'one' },
        { _id: 'b', title: 'one two' },
      ],
    })
    assert.equal(await idsOf('note', { text: 'one' }), 'a b')
    const query = { field: '_id', op: '=', rvalue: 'a' }
    await write('POST', '/data/update/note', { query, update: { $set: { title: 'three' } } })
    assert.equal(await idsOf('note', { text: 'one' }), 'b')
    assert.equal(await idsOf('note', { text: 'three' }), 'a')
    await write('POST', '/data/update/note', { query, update: { $append: { tags: 'four' } } })
    assert.equal(await idsOf('note', { text: 'four three' }), 'a')
    await write('POST', '/data/save/note', {
      data: [
        { _id: 'a', body: 'five' },
        { _id: 'c', body: 'five' },
      ],
      upsert: true,
    })
    assert.equal(await idsOf('note', { text: 'five' }), 'a c')
    assert.equal(await idsOf('note', { text: 'four' }), '')
    await server.ask('PATCH', '/documents/note/c', { body: { body: 'six' } })
    assert.equal(await idsOf('note', { text: 'six' }), 'c')
    await write('POST', '/data/update/note', {
      query: { text: 'five' },
      update: { $set: { title: 'found' } },
    })
    assert.equal(await idsOf('note', { text: 'found' }), 'a')
    await write('POST', '/data/delete/note', { query: { text: 'five' } })
    assert.equal(await idsOf('note', { text: 'five' }), '')
    assert.equal(await idsOf('note', { text: 'two' }), 'b')
  })

  test('metadata: an index can be declared, changed and dropped over existing documents', async () => {
    await server.define('late', FIELDS)
    await write('PUT', '/data/insert/late', { data: DOCUMENTS })
    const refused = await find('late', { query: { text: 'blue' } })
    assert.equal(refused.status, 400)
    assert.match(refused.json.errors[0].msg, /needs an index; declare one .*"kind":"text"/)
    const putInfo = async (indexes: Json) => {
      const { entityInfo } = metadataDocument('late', FIELDS, { info: { indexes } }) as {
        entityInfo: JsonObject
      }
      const answer = await server.ask('PUT', '/metadata/late', { body: entityInfo })
      assert.equal(answer.status, 200, answer.text)
      return answer
    }
    await putInfo([TEXT])
    assert.equal(await idsOf('late', { text: 'blue' }), '1 4')
    await putInfo([{ ...TEXT, fields: [{ field: 'body' }] }])
    assert.equal(await idsOf('late', { text: 'blue' }), '1')
    const dropped = await putInfo([])
    assert.match(dropped.text, /can no longer be searched/)
    assert.equal((await find('late', { query: { text: 'blue' } })).status, 400)
  })

  const REFUSED: readonly (readonly [body: JsonObject, message: RegExp])[] = [
    [{ query: { text: '' } }, /there is no word to search for; .*sta\*/],
    [{ query: { text: '!!!' } }, /has no word to search for/],
    [{ query: { text: 'a "b' } }, /begins and ends with a quote/],
    [{ query: { text: 'a', index: 'other' } }, /there is no index "other" for text search; there are "text"/],
    [
      { query: { text: 'a', index: 'other' } },
      /declare one .*\{"name":"other","kind":"text","fields":\[\{"field":"FIELD"\}\]\}/,
    ],
    [{ filter: 'title = "x" or text("a", other)' }, /there is no index "other" .*\(at line 1, column 21\)/],
    [{ query: { text: 5 } }, /text/],
    [{ query: { text: 'a', field: 'b' } }, /op|field/],
    [{ query: { text: 'a', indx: 'b' } }, /indx/],
    [{ query: { text: 'x'.repeat(1001) } }, /at most 1000 characters/],
    [{ query: { array: 'notes', elemMatch: { text: 'a' } } }, /whole documents/],
    [{ filter: 'text(blue)' }, /expected a search/],
    [{ filter: 'text = "a"' }, /backquotes/],
  ]
  for (const [body, message] of REFUSED) {
    test(`find: ${JSON.stringify(body).slice(0, 60)} is refused with a reason`, async () => {
      const answer = await find('page', body)
      assert.equal(answer.status, 400, answer.text)
      assert.match(answer.json.errors[0].msg, message)
    })
  }

  const WRONG: readonly (readonly [index: JsonObject, message: RegExp])[] = [
    [{ ...TEXT, kind: 'fulltext' }, /the only kind/],
    [{ ...TEXT, unique: true }, /cannot be unique/],
    [{ kind: 'text', fields: [{ field: 'title' }] }, /name/],
    [{ ...TEXT, fields: [{ field: 'title', weight: 0 }] }, /from 1 to 1000/],
    [{ ...TEXT, fields: [{ field: 'title', dir: '$asc' }] }, /no meaning/],
    [{ ...TEXT, fields: [{ field: '_id' }, { field: 'n' }] }, /type integer/],
  ]
  for (const [index, message] of WRONG) {
    test(`metadata: ${JSON.stringify(index).slice(0, 70)} is refused with a reason`, async () => {
      const fields = { ...FIELDS, n: { type: 'integer' } }
      const body = metadataDocument('wrong', fields, { info: { indexes: [index] } })
      const answer = await server.ask('PUT', '/metadata/wrong/1.0.0', { body })
      assert.ok(answer.status === 400 || answer.status === 422, answer.text)
      assert.match(answer.text, message)
    })
  }
})
