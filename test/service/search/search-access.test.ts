/** Who may search: hidden fields, row rules, versions, references; and searches in every kind of request. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { move } from '../../../src/service/move/move.ts'
import { type DataResponse, printResponse } from '../../../src/service/response.ts'
import {
  ADMIN,
  ANYONE,
  callerWith,
  documentsOf,
  metadataDocument,
  openServiceAt,
  openTestService,
} from '../../support/service.ts'
import { toEarlierLayout } from '../../support/earlier-layout.ts'
import { chooseStore, freshPlace, onEveryStore } from '../../support/store-kind.ts'

const ID: JsonObject = { field: '_id' }
const BOTH: JsonObject = { name: 'both', kind: 'text', fields: [{ field: 'title' }, { field: 'secret' }] }
const TITLE: JsonObject = { name: 'title', kind: 'text', fields: [{ field: 'title' }] }
const OPEN_FIELDS: JsonObject = {
  title: { type: 'string' },
  secret: { type: 'string' },
  owner: { type: 'string' },
}

const idsOf = (response: DataResponse): string => {
  assert.equal(response.status, 'COMPLETE', printResponse(response))
  return documentsOf(response)
    .map(({ _id }) => _id as string)
    .join(' ')
}

const codesOf = ({ errors = [] }: DataResponse): readonly string[] => errors.map(({ errorCode }) => errorCode)

onEveryStore(() => {
  test('find: a search whose index has a hidden field is refused, and one without it is not', async () => {
    await using on = await openTestService()
    const fields = { ...OPEN_FIELDS, secret: { type: 'string', access: { find: ['boss'] } } }
    await on.define('e', fields, { info: { indexes: [BOTH, TITLE] } })
    await on.store('e', [{ _id: '1', title: 'blue', secret: 'red' }])
    const find = (index: string, text: string, ...roles: readonly string[]) =>
      on.find('e', { query: { text, index }, projection: ID }, callerWith(...roles))
    assert.deepEqual(codesOf(await find('both', 'blue')), ['crud:NoAccess'])
    assert.deepEqual(codesOf(await find('both', 'nothing')), ['crud:NoAccess'])
    assert.equal(idsOf(await find('title', 'blue')), '1')
    assert.equal(idsOf(await find('title', 'red')), '')
    assert.equal(idsOf(await find('both', 'red', 'boss')), '1')
    const sort = { $score: '$desc' }
    const query = { $or: [{ text: 'blue', index: 'both' }] }
    assert.deepEqual(codesOf(await on.find('e', { query, projection: ID, sort }, callerWith())), [
      'crud:NoAccess',
    ])
    const unnamed = await on.find('e', { query: { text: 'blue' }, projection: ID })
    assert.match(printResponse(unnamed), /say which .*index.* there are .*both.*title/)
  })

  test('find: row rules of the entity and of a field narrow a search', async () => {
    await using on = await openTestService()
    const mine = { role: 'anyone', where: { field: 'owner', op: '=', rvalue: '$caller.principal' } }
    const fields = { ...OPEN_FIELDS, secret: { type: 'string', access: { find: ['boss', mine] } } }
    await on.define('e', fields, { info: { indexes: [BOTH, TITLE] } })
    await on.store('e', [
      { _id: '1', title: 'blue', secret: 'red', owner: 'tester' },
      { _id: '2', title: 'blue', secret: 'red', owner: 'other' },
    ])
    const find = (query: JsonObject, ...roles: readonly string[]) =>
      on.find('e', { query, projection: ID }, callerWith(...roles))
    assert.equal(idsOf(await find({ text: 'blue', index: 'title' })), '1 2')
    assert.equal(idsOf(await find({ text: 'red', index: 'both' })), '1')
    assert.equal(idsOf(await find({ $not: { text: 'white', index: 'both' } })), '1')
    assert.equal(idsOf(await find({ text: 'red', index: 'both' }, 'boss')), '1 2')
    await on.define('ruled', OPEN_FIELDS, {
      info: { indexes: [TITLE] },
      schema: { access: { ...ANYONE, find: [mine] } },
    })
    await on.store('ruled', [
      { _id: '1', title: 'blue', owner: 'tester' },
      { _id: '2', title: 'blue', owner: 'other' },
    ])
    assert.equal(idsOf(await on.find('ruled', { query: { text: 'blue' }, projection: ID })), '1')
  })

  test('find: versions share the index, and one without its fields cannot search it', async () => {
    await using on = await openTestService()
    await on.define('e', OPEN_FIELDS, { info: { indexes: [BOTH] } })
    const { secret: _, ...fewer } = OPEN_FIELDS
    for (const [version, fields] of [
      ['2.0.0', fewer],
      ['3.0.0', { ...OPEN_FIELDS, more: { type: 'integer' } }],
    ] as const) {
      const schema = { version: { value: version, changelog: 'another one' } }
      const body = metadataDocument('e', fields, { info: { indexes: [BOTH] }, schema })
      await on.service.metadata.create(ADMIN, { entity: 'e', version }, body)
    }
    await on.store('e', [{ _id: '1', title: 'blue', secret: 'red' }])
    const find = (version: string) =>
      on.service.data.find(ADMIN, { entity: 'e', version }, { query: { text: 'red' }, projection: ID })
    assert.equal(idsOf(await find('1.0.0')), '1')
    assert.equal(idsOf(await find('3.0.0')), '1')
    assert.match(
      printResponse(await find('2.0.0')),
      /has the field .*secret.*, which this version does not have/,
    )
  })

  test('find: a search may be about the documents of a reference', async () => {
    await using on = await openTestService()
    await on.define(
      'book',
      { author: { type: 'string' }, title: { type: 'string' } },
      { info: { indexes: [TITLE] } },
    )
    const query = { field: 'author', op: '=', rfield: '$parent._id' }
    const books = {
      type: 'reference',
      entity: 'book',
      versionValue: '1.0.0',
      query,
      projection: { field: '*' },
    }
    await on.define('author', { name: { type: 'string' }, books })
    await on.store('author', [
      { _id: 'a', name: 'Ann' },
      { _id: 'b', name: 'Bob' },
      { _id: 'c', name: 'Cy' },
    ])
    await on.store('book', [
      { _id: '1', author: 'a', title: 'Blue night' },
      { _id: '2', author: 'b', title: 'Night and blue' },
      { _id: '3', author: 'b', title: 'Red' },
    ])
    const find = async (text: string, isNegated = false) => {
      const search = { array: 'books', elemMatch: { text } }
      return idsOf(await on.find('author', { query: isNegated ? { $not: search } : search, projection: ID }))
    }
    assert.equal(await find('"blue night"'), 'a')
    assert.equal(await find('-blue'), 'b')
    assert.equal(await find('nig*'), 'a b')
    assert.equal(await find('nig*', true), 'c')
    const searching = { ...books, query: { $and: [query, { text: 'x' }] } }
    await assert.rejects(on.define('writer', { books: searching }), /a reference cannot search text/)
  })

  test('find, aggregate, stream, bulk and history search', async () => {
    await using on = await openTestService()
    await on.define(
      'e',
      { ...OPEN_FIELDS, n: { type: 'integer' } },
      { info: { indexes: [TITLE], history: true } },
    )
    await on.store('e', [
      { _id: '1', title: 'blue night', n: 1 },
      { _id: '2', title: 'night blue', n: 2 },
      { _id: '3', title: 'red', n: 4 },
    ])
    const query = { text: '"blue night"' }
    const before = new Date().toISOString()
    const groups = await on.service.data.aggregate(
      ADMIN,
      { entity: 'e' },
      {
        query: { text: 'blue' },
        values: { total: { $sum: 'n' } },
      },
    )
    assert.deepEqual(JSON.parse(printResponse(groups)).processed, [{ total: 3 }])
    const stream = await on.service.data.stream(ADMIN, { entity: 'e' }, { query, projection: ID })
    assert.ok(Symbol.asyncIterator in stream)
    let lines = ''
    for await (const line of stream) lines += line
    assert.match(lines, /"_id":"1"/)
    assert.doesNotMatch(lines, /"_id":"2"/)
    const requests = [
      { seq: 1, op: 'update', request: { entity: 'e', query, update: { $set: { title: 'red' } } } },
      { seq: 2, op: 'find', request: { entity: 'e', query: { text: 'red' }, projection: ID } },
    ]
    for (const atomic of [true, false]) {
      const { responses } = JSON.parse(await on.service.data.bulk(ADMIN, { atomic, ordered: true, requests }))
      assert.deepEqual(responses[1].response.processed, [{ _id: '1' }, { _id: '3' }])
    }
    const now = { query, projection: ID }
    assert.equal(idsOf(await on.find('e', now)), '')
    assert.equal(idsOf(await on.find('e', { ...now, asOf: before })), '1')
    const either = { $or: [query, { $not: { text: 'blue' } }] }
    assert.equal(idsOf(await on.find('e', { ...now, query: either, asOf: before })), '1 3')
    const scored = await on.find('e', { ...now, asOf: before, sort: { $score: '$desc' } })
    assert.deepEqual(codesOf(scored), ['query-api:InvalidSort'])
  })

  test('find: a search of the past beside a condition on other documents', async () => {
    await using on = await openTestService()
    const parent = {
      type: 'reference',
      entity: 'e',
      query: { field: '_id', op: '=', rfield: '$parent.owner' },
    }
    const info = { indexes: [TITLE], history: true }
    await on.define('e', OPEN_FIELDS, { info })
    const version = { value: '2.0.0', changelog: 'refers to itself' }
    const document = metadataDocument(
      'e',
      { ...OPEN_FIELDS, parent },
      { info: { ...info, defaultVersion: '2.0.0' }, schema: { version } },
    )
    await on.service.metadata.create(ADMIN, { entity: 'e', version: '2.0.0' }, document)
    await on.store('e', [
      { _id: '1', title: 'blue' },
      { _id: '2', title: 'red', owner: '1' },
      { _id: '3', title: 'red', owner: '2' },
    ])
    // A date in milliseconds includes all that was written in its millisecond.
    await pause(20)
    const before = new Date().toISOString()
    await pause(20)
    await on.service.data.delete(ADMIN, { entity: 'e' }, { query: { field: '_id', op: '=', rvalue: '1' } })
    const isChild = { field: 'parent.*.title', op: '=', rvalue: 'blue' }
    const query = { $or: [{ text: 'blue' }, isChild] }
    const either = { query, projection: ID, asOf: before }
    const found = await on.find('e', either)
    assert.equal(idsOf(found), '1 2')
    assert.equal(idsOf(await on.find('e', { ...either, page: { size: 5 } })), '1 2')
    assert.equal(idsOf(await on.find('e', { ...either, projection: [ID, { field: 'parent' }] })), '1 2')
    assert.equal((await on.service.data.explain(ADMIN, { entity: 'e' }, either)).matchCount, 2)
    const neither = { ...either, query: { $not: { $or: [{ text: 'blue' }, isChild] } } }
    assert.equal(idsOf(await on.find('e', neither)), '3')
    assert.equal(idsOf(await on.find('e', { query, projection: ID })), '')
  })

  test('metadata: a row rule cannot search text', async () => {
    await using on = await openTestService()
    const find = [{ role: 'anyone', where: { text: 'blue' } }]
    await assert.rejects(
      on.define('e', OPEN_FIELDS, { info: { indexes: [TITLE] }, schema: { access: { ...ANYONE, find } } }),
      /a row rule cannot search text/,
    )
  })

  test('find: more words than an index of the engine can hold', async () => {
    await using on = await openTestService()
    await on.define('e', OPEN_FIELDS, { info: { indexes: [TITLE] } })
    const words = Array.from({ length: 150_000 }, (_, i) => `word${i}`).join(' ')
    await on.store('e', [
      { _id: '1', title: words },
      { _id: '2', title: 'word5 word6' },
    ])
    const find = async (text: string) => idsOf(await on.find('e', { query: { text }, projection: ID }))
    assert.equal(await find('"word5 word6"'), '1 2')
    assert.equal(await find('word149999'), '1')
    assert.equal(await find('word14999*'), '1')
    assert.equal(await find('word150000'), '')
    assert.equal(await find('-word149999'), '2')
  })
})

for (const [from, to] of [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
] as const) {
  test(`move: the words of documents move with them from ${from} to ${to}`, async () => {
    await using source = await freshPlace(from)
    await using target = await freshPlace(to)
    chooseStore(from)
    await using before = await openServiceAt(source.location)
    const body = metadataDocument('e', OPEN_FIELDS, { info: { indexes: [TITLE] } })
    await before.metadata.create(ADMIN, { entity: 'e', version: '1.0.0' }, body)
    await before.data.insert(
      ADMIN,
      { entity: 'e' },
      { data: [{ _id: '1', title: 'Blue night' }, { _id: '2' }] },
    )
    await before[Symbol.asyncDispose]()
    await move({ from: source.location, to: target.location })
    await using after = await openServiceAt(target.location)
    const found = (text: string) =>
      after.data.find(ADMIN, { entity: 'e' }, { query: { text }, projection: ID })
    assert.equal(idsOf(await found('"blue night"')), '1')
    assert.equal(idsOf(await found('-nig*')), '2')
    await after.data.save(ADMIN, { entity: 'e' }, { data: { _id: '2', title: 'night' } })
    assert.equal(idsOf(await found('night')), '1 2')
  })
}

test('metadata: an index for text search is built in a table of an earlier release', async () => {
  chooseStore('postgres')
  await using place = await freshPlace('postgres')
  const documentWith = (indexes: Json): JsonObject =>
    metadataDocument('e', OPEN_FIELDS, { info: { indexes } })
  const city = { fields: [{ field: 'owner' }] }
  await using before = await openServiceAt(place.location)
  await before.metadata.create(ADMIN, { entity: 'e', version: '1.0.0' }, documentWith([city]))
  const data = [
    { _id: '1', title: 'Blue night' },
    { _id: '2', owner: 'x' },
  ]
  await before.data.insert(ADMIN, { entity: 'e' }, { data })
  await before[Symbol.asyncDispose]()
  await toEarlierLayout(place.location)
  await using after = await openServiceAt(place.location)
  const plain = { fields: [{ field: 'secret' }] }
  await after.metadata.updateInfo(ADMIN, 'e', documentWith([city, plain, TITLE])['entityInfo'])
  const found = (text: string) => after.data.find(ADMIN, { entity: 'e' }, { query: { text }, projection: ID })
  assert.equal(idsOf(await found('"blue night"')), '1')
  assert.equal(idsOf(await found('-blue')), '2')
})
