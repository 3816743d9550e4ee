/** Pages by cursor: what a find with `page` returns, what it refuses, and to what a cursor is bound. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../../src/access/caller.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { Work } from '../../../src/base/work/work.ts'
import { type DataResponse, printResponse } from '../../../src/service/response.ts'
import {
  ADMIN,
  ANYONE,
  EVERYTHING,
  type TestService,
  callerWith,
  documentsOf,
  metadataDocument,
  openServiceAt,
  openTestService,
} from '../../support/service.ts'
import { freshPlace, onEveryStore } from '../../support/store-kind.ts'
import { walk } from './walk.ts'

const FIELDS: JsonObject = {
  city: { type: 'string' },
  rank: { type: 'integer' },
  secret: { type: 'integer', access: { find: ['boss'] } },
}
const BY_RANK: JsonObject = { sort: { rank: '$asc' }, projection: { field: '_id' } }
const PEOPLE: Json = ['a', 'b', 'c', 'd', 'e'].map((_id, i) => ({
  _id,
  city: i % 2 === 0 ? 'Bern' : 'Basel',
  rank: i >> 1,
  secret: 9 - i,
}))

async function openPeople(more: JsonObject = {}): Promise<TestService> {
  const tester = await openTestService()
  await tester.define('person', { ...FIELDS, ...more })
  await tester.store('person', PEOPLE)
  return tester
}

function idsOf(response: DataResponse): readonly Json[] {
  assert.equal(response.status, 'COMPLETE', printResponse(response))
  return documentsOf(response).map(({ _id }) => _id!)
}

function refusal(response: DataResponse): string {
  const [error] = response.errors ?? []
  assert.ok(error, printResponse(response))
  return `${error.errorCode}: ${error.msg}`
}

onEveryStore(() => {
  test('page: "next" leads from page to page, and the last page has none', async () => {
    await using tester = await openPeople()
    const first = await tester.find('person', { ...BY_RANK, page: { size: 2 } })
    assert.deepEqual(idsOf(first), ['a', 'b'])
    assert.match(printResponse(first), /"matchCount":0,"next":"[\w-]+","processed":\[/)
    const second = await tester.find('person', { ...BY_RANK, page: { size: 2, after: first.next! } })
    assert.deepEqual(idsOf(second), ['c', 'd'])
    const third = await tester.find('person', { ...BY_RANK, page: { size: 2, after: second.next! } })
    assert.deepEqual([idsOf(third), third.next], [['e'], undefined])
    const whole = await tester.find('person', { ...BY_RANK, page: { size: 5 } })
    assert.deepEqual([idsOf(whole).length, whole.next], [5, undefined])
    assert.deepEqual(idsOf(await tester.find('person', { ...BY_RANK, page: {} })).length, 5)
  })

  test('page: sorted by the size of an array that another version stored without one', async () => {
    await using tester = await openTestService()
    const { service } = tester
    const entity = 'basket'
    await tester.define(entity, { list: { type: 'any' }, o: { type: 'any' } })
    const version = { value: '2.0.0', changelog: 'typed' }
    const list = { type: 'array', items: { type: 'integer' } }
    const typed = { list, o: { type: 'object', fields: { list } } }
    const metadata = metadataDocument(entity, typed, {
      info: { defaultVersion: '2.0.0' },
      schema: { version },
    })
    await service.metadata.create(ADMIN, { entity, version: '2.0.0' }, metadata)
    for (const [given, ids] of [
      ['1.0.0', 'abcd'],
      ['2.0.0', 'efgh'],
    ] as const) {
      const data = Array.from(ids, (_id, i) => ({ _id, list: [1, 2, 3].slice(i), o: { list: [1].slice(i) } }))
      const { status } = await service.data.insert(ADMIN, { entity, version: given }, { data })
      assert.equal(status, 'COMPLETE')
    }
    for (const path of ['list#', 'o.list#']) {
      for (const direction of ['$asc', '$desc']) {
        const body = { projection: { field: '_id' }, sort: { [path]: direction } }
        const { processed } = await service.data.find(ADMIN, { entity }, body)
        let pages = 0
        const between = async (): Promise<void> => assert.ok(++pages <= 8, `${path} ${direction} has no end`)
        const walked = await walk({ service, entity, body, size: 1, between })
        assert.deepEqual(walked, processed, `${path} ${direction}`)
      }
    }
  })

  for (const [asked, stored, values] of [
    ['double', 'integer', '9223372036854775807, 1'],
    ['double', 'integer', '9007199254740993, 9007199254740995, 9007199254740992, 9007199254740994'],
    ['integer', 'double', '9.223372036854776e+18, 1'],
    ['integer', 'double', '1e20, 1.1068046444225731e20, 1.5, 1'],
  ] as const) {
    test(`page: sorted by ${asked} values that another version stored as ${stored}: ${values}`, async () => {
      await using tester = await openTestService()
      const { service } = tester
      const entity = 'measure'
      await tester.define(entity, { a: { type: asked } })
      const schema = { version: { value: '2.0.0', changelog: 'retyped' } }
      const metadata = metadataDocument(entity, { a: { type: stored } }, { schema })
      await service.metadata.create(ADMIN, { entity, version: '2.0.0' }, metadata)
      const data = values.split(', ').map((a, i) => ({ _id: `k${i}`, a: parseTrusted(a) }))
      const { status } = await service.data.insert(ADMIN, { entity, version: '2.0.0' }, { data })
      assert.equal(status, 'COMPLETE')
      for (const direction of ['$asc', '$desc']) {
        const body = { projection: { field: '_id' }, sort: { a: direction } }
        const { processed } = await service.data.find(ADMIN, { entity }, body)
        let pages = 0
        const between = async (): Promise<void> => assert.ok(++pages <= data.length, 'the walk has no end')
        assert.deepEqual(await walk({ service, entity, body, size: 1, between }), processed, direction)
      }
    })
  }

  test('page: matches are counted only on request', async () => {
    await using tester = await openPeople()
    const query = { field: 'city', op: '=', rvalue: 'Bern' }
    const { next } = await tester.find('person', { ...BY_RANK, query, page: { size: 1 } })
    const rows: readonly (readonly [JsonObject, number])[] = [
      [{ page: { size: 1 } }, 0],
      [{ page: { size: 1, count: true } }, 3],
      [{ page: { size: 1, count: 1 } }, 3],
      [{ page: { size: 1, after: next!, count: true } }, 3],
      [{ page: { size: 9, after: next!, count: true } }, 3],
      [{ page: { size: 1, after: next! }, execution: { count: 'exact' } }, 3],
      [{ page: { size: 1, after: next! }, execution: { count: 'none' } }, 0],
      [{ page: { size: 1, after: next!, count: false } }, 0],
    ]
    for (const [body, matchCount] of rows) {
      const response = await tester.find('person', { ...BY_RANK, query, ...body })
      assert.equal(response.matchCount, matchCount, JSON.stringify(body))
    }
  })

  test('page: a malformed one is refused, with the place and the right form', async () => {
    await using tester = await openPeople()
    const rows: readonly (readonly [JsonObject, RegExp])[] = [
      [{ page: 5 }, /^crud:InvalidRequest: "page" must be an object, such as {"size":100}.*\/page\)/],
      [{ page: { size: 0 } }, /"size" must be an integer from 1 to 10000, such as 100 \(at \/page\/size\)/],
      [{ page: { size: 10_001 } }, /\/page\/size/],
      [{ page: { size: '5' } }, /\/page\/size/],
      [{ page: { size: 1.5 } }, /\/page\/size/],
      [{ page: { after: 7 } }, /"after" must be a string, the "next" of the page before/],
      [{ page: { count: 'yes' } }, /"count" must be true or false/],
      [{ page: { offset: 7 } }, /"page" does not know "offset"; known are size, after, count/],
      [{ page: { size: 2 }, range: [0, 1] }, /"page" takes the place of "range"; send one of them/],
      [{ page: { size: 2 }, maxResults: 1 }, /"page" takes the place of "maxResults"/],
      [{ page: { size: 2, count: false }, execution: { count: 'exact' } }, /must agree about "count"/],
      [{ page: { after: '' } }, /^crud:InvalidCursor: .*begin again without "after"/],
      [{ page: { after: 'AAAA' } }, /^crud:InvalidCursor/],
      [{ page: { after: 'x'.repeat(100_000) } }, /^crud:InvalidCursor/],
      [{ page: { after: 'ä b' } }, /^crud:InvalidCursor/],
      [{ cursor: 'x' }, /no operation knows the key "cursor"; "page"/],
    ]
    for (const [body, expected] of rows)
      assert.match(refusal(await tester.find('person', { ...BY_RANK, ...body })), expected)
    const { data } = tester.service
    const target = { entity: 'person' }
    const update = { query: { $and: [] }, update: { $set: { rank: 1 } }, page: { size: 1 } }
    assert.match(refusal(await data.update(ADMIN, target, update)), /"page" has no meaning in update/)
    const streamed = await data.stream(ADMIN, target, { ...BY_RANK, page: { size: 1 } })
    assert.ok('status' in streamed)
    assert.match(refusal(streamed), /a stream returns all matches and has no pages/)
  })

  test('page: GET takes size, after and count', async () => {
    await using tester = await openPeople()
    const get = (text: string) =>
      tester.service.data.simpleFind(ADMIN, { entity: 'person' }, new URLSearchParams(text))
    const first = await get('S=rank:a&size=3&count=true')
    assert.deepEqual([idsOf(first), first.matchCount], [['a', 'b', 'c'], 5])
    const second = await get(`S=rank:a&size=3&after=${first.next}`)
    assert.deepEqual([idsOf(second), second.matchCount, second.next], [['d', 'e'], 0, undefined])
    assert.equal((await get('count=false')).matchCount, 0)
    assert.match(refusal(await get('size=x')), /"size" must be an integer/)
    assert.match(refusal(await get('size=0')), /\/page\/size/)
    assert.match(refusal(await get('size=2&from=1')), /"page" takes the place of "from"/)
    assert.match(refusal(await get('count=yes')), /"count" must be true or false/)
    assert.match(refusal(await get('after=abc')), /^crud:InvalidCursor/)
  })

  test('page: saved searches take size, after and count', async () => {
    await using tester = await openPeople()
    const saved = (name: string, parameter: string): JsonObject => ({
      name,
      entity: 'person',
      parameters: [{ name: parameter }],
      query: { field: 'city', op: '=', rvalue: `\${${parameter}}` },
      projection: { field: '_id' },
      sort: { rank: '$desc' },
      range: [0, 0],
    })
    const data = [saved('inCity', 'city'), saved('ofSize', 'size')]
    const stored = await tester.insert('savedSearch', { data }, callerWith('admin'))
    assert.equal(stored.modifiedCount, 2, printResponse(stored))
    const { data: service } = tester.service
    const target = (name: string) => ({ entity: 'person', name })
    const get = (name: string, text: string) =>
      service.simpleSearch(ADMIN, target(name), new URLSearchParams(text))
    assert.deepEqual(idsOf(await get('inCity', 'city=Bern')), ['e'])
    const first = await get('inCity', 'city=Bern&size=2&count=true')
    assert.deepEqual([idsOf(first), first.matchCount], [['e', 'c'], 3])
    const posted = await service.search(
      ADMIN,
      target('inCity'),
      { city: 'Bern' },
      new URLSearchParams({ size: '2', after: first.next! }),
    )
    assert.deepEqual([idsOf(posted), posted.next], [['a'], undefined])
    assert.match(refusal(await get('inCity', `city=Basel&after=${first.next}`)), /^crud:InvalidCursor/)
    // A declared parameter of the same name was there first.
    assert.deepEqual(idsOf(await get('ofSize', 'size=Basel')), ['d'])
    const list = await service.searches(ADMIN, { entity: 'person' }, new URLSearchParams('size=1'))
    assert.equal(list.processed?.length, 1)
    assert.ok(list.next)
  })

  test('page: works in a bulk, and explain shows its statement', async () => {
    await using tester = await openPeople()
    const { next } = await tester.find('person', { ...BY_RANK, page: { size: 2 } })
    const find = { entity: 'person', ...BY_RANK, page: { size: 2, after: next! } }
    const requests = [{ seq: 1, op: 'find', request: find }]
    for (const atomic of [false, true]) {
      const text = await tester.service.data.bulk(ADMIN, { requests, atomic })
      const { responses } = parseTrusted(text) as { responses: readonly { response: JsonObject }[] }
      assert.deepEqual(responses[0]!.response['processed'], [{ _id: 'c' }, { _id: 'd' }])
      assert.equal(typeof responses[0]!.response['next'], 'string')
    }
    const { entity: _, ...body } = find
    const explained = await tester.service.data.explain(ADMIN, { entity: 'person' }, body)
    assert.equal(explained.matchCount, 5, printResponse(explained))
    const { request } = documentsOf(explained)[0]!
    assert.deepEqual((request as JsonObject)['page'], { size: 2, after: next })
  })

  test('cursor: the time of the request is another one for each page of a find with {"$now": true}', async () => {
    let time = Date.parse('2024-01-01T00:00:00Z')
    await using tester = await openTestService({ now: () => new Date((time += 1000)) })
    await tester.define('person', { born: { type: 'date' } })
    await tester.store(
      'person',
      ['a', 'b', 'c', 'd'].map((_id) => ({
        _id,
        born: _id === 'c' ? '2999-01-01T00:00:00Z' : '1999-01-01T00:00:00Z',
      })),
    )
    const query = { field: 'born', op: '<', rvalue: { $now: true } }
    for (const condition of [
      { query },
      { filter: 'born < now()' },
      { filter: 'born in (now()) or born < now()' },
    ]) {
      const body = { ...condition, projection: { field: '_id' } }
      const { next } = await tester.find('person', { ...body, page: { size: 2 } })
      const last = await tester.find('person', { ...body, page: { size: 2, after: next! } })
      assert.deepEqual(idsOf(last), ['d'])
      const paged = { ...body, page: { size: 2, after: next! } }
      const explained = await tester.service.data.explain(
        ADMIN,
        { entity: 'person', work: new Work({ timeLimitMs: 9_000 }) },
        paged,
      )
      assert.equal(explained.matchCount, 3, printResponse(explained))
      const other = { ...body, filter: 'born <= now()', page: { size: 2, after: next! } }
      assert.match(refusal(await tester.find('person', { ...other, query: null })), /crud:InvalidCursor/)
    }
  })

  test('cursor: is bound to entity, version, query and sort, and to every one of its characters', async () => {
    await using tester = await openPeople()
    await tester.define('other', FIELDS)
    const version = { ...metadataDocument('person', FIELDS) }
    const schema = { ...(version['schema'] as JsonObject), version: { value: '2.0.0', changelog: 'second' } }
    const second = { entity: 'person', version: '2.0.0' }
    await tester.service.metadata.create(ADMIN, second, { ...version, schema })
    const query = { field: 'city', op: '=', rvalue: 'Bern' }
    const find = { ...BY_RANK, query }
    const { next } = await tester.find('person', { ...find, page: { size: 1 } })
    const page = { size: 1, after: next! }
    const { data } = tester.service
    const others: readonly (readonly [{ entity: string; version?: string }, JsonObject])[] = [
      [{ entity: 'other' }, find],
      [second, find],
      [{ entity: 'person' }, BY_RANK],
      [{ entity: 'person' }, { ...find, query: { ...query, rvalue: 'Basel' } }],
      [{ entity: 'person' }, { ...find, query: { $and: [query, query] } }],
      [{ entity: 'person' }, { ...find, sort: { rank: '$desc' } }],
      [{ entity: 'person' }, { ...find, sort: [{ rank: '$asc' }, { city: '$asc' }] }],
      [{ entity: 'person' }, { ...find, sort: [] }],
    ]
    for (const [target, body] of others)
      assert.match(refusal(await data.find(ADMIN, target, { ...body, page })), /^crud:InvalidCursor/)
    const same = { ...find, query: { field: 'city', op: '$eq', rvalue: 'Bern' }, projection: EVERYTHING }
    assert.deepEqual(idsOf(await tester.find('person', { ...same, page: { size: 9, after: next! } })), [
      'c',
      'e',
    ])
    for (let i = 0; i < next!.length; i++) {
      const changed = `${next!.slice(0, i)}${next![i] === 'A' ? 'B' : 'A'}${next!.slice(i + 1)}`
      const response = await tester.find('person', { ...find, page: { size: 1, after: changed } })
      assert.match(refusal(response), /^crud:InvalidCursor/, `character ${i}`)
    }
    for (const changed of [next!.slice(1), next!.slice(0, -1), `${next}A`, `${next}=`, ` ${next}`]) {
      const response = await tester.find('person', { ...find, page: { size: 1, after: changed } })
      assert.match(refusal(response), /^crud:InvalidCursor/, changed)
    }
  })

  test('cursor: reveals nothing to a caller with other rights', async () => {
    await using tester = await openTestService()
    const own = { role: 'clerk', where: { field: 'city', op: '=', rvalue: 'Basel' } }
    const more = { schema: { access: { ...ANYONE, find: ['boss', 'deputy', own] } } }
    await tester.define('person', FIELDS, more)
    await tester.store('person', PEOPLE)
    const ask = (caller: Caller, body: JsonObject) => tester.find('person', { ...BY_RANK, ...body }, caller)
    const [boss, deputy, clerk] = [callerWith('boss'), callerWith('deputy'), callerWith('clerk')]
    const { next } = await ask(boss, { page: { size: 1 } })
    // Another role that may read the same documents goes on; one that may not learns nothing of where they are.
    assert.deepEqual(idsOf(await ask(deputy, { page: { size: 1, after: next! } })), ['b'])
    assert.match(refusal(await ask(clerk, { page: { size: 1, after: next! } })), /^crud:InvalidCursor/)
    const walked = await walk({
      service: tester.service,
      entity: 'person',
      body: BY_RANK,
      size: 1,
      caller: clerk,
    })
    assert.deepEqual(walked, ['{"_id":"b"}', '{"_id":"d"}'])
    const sort = { secret: '$asc' }
    const hidden = await ask(boss, { sort, page: { size: 1 } })
    assert.match(
      refusal(await ask(deputy, { sort, page: { size: 1, after: hidden.next! } })),
      /^crud:NoAccess/,
    )
    assert.match(refusal(await ask(deputy, { sort, page: { size: 1, after: 'A' } })), /^crud:NoAccess/)
  })

  test('cursor: a sort field that becomes unreadable is refused as in a new find', async () => {
    await using tester = await openPeople()
    const { next } = await tester.find('person', { ...BY_RANK, page: { size: 1 } })
    const { data, metadata } = tester.service
    const changed = metadataDocument('person', {
      ...FIELDS,
      rank: { type: 'integer', access: { find: ['x'] } },
    })
    const schema = { ...(changed['schema'] as JsonObject), version: { value: '1.0.1', changelog: 'hidden' } }
    const info = { ...(changed['entityInfo'] as JsonObject), defaultVersion: '1.0.1' }
    await metadata.create(ADMIN, { entity: 'person', version: '1.0.1' }, { entityInfo: info, schema })
    const ask = (page: JsonObject) => data.find(ADMIN, { entity: 'person' }, { ...BY_RANK, page })
    assert.equal(refusal(await ask({ size: 1, after: next! })), refusal(await ask({ size: 1 })))
    assert.match(refusal(await ask({ size: 1 })), /^crud:NoAccess/)
  })

  test('cursor: of an entity that was made again with another type of _id is refused', async () => {
    await using tester = await openPeople()
    const { next } = await tester.find('person', { ...BY_RANK, page: { size: 1 } })
    const { metadata } = tester.service
    await metadata.clearDefault(ADMIN, 'person')
    await metadata.setStatus(ADMIN, { entity: 'person', version: '1.0.0' }, { status: 'disabled' })
    await metadata.remove(ADMIN, 'person', { documents: 'delete' })
    await tester.define('person', { ...FIELDS, _id: { type: 'integer' } })
    const page = { size: 1, after: next! }
    assert.match(refusal(await tester.find('person', { ...BY_RANK, page })), /^crud:InvalidCursor/)
  })

  test('cursor: its length does not depend on an _id that the caller may not read', async () => {
    await using tester = await openTestService()
    const id = { type: 'string', constraints: { identity: true }, access: { find: ['boss'] } }
    await tester.define('person', { ...FIELDS, _id: id })
    const ids = ['a', 'b'.repeat(900), '\u0001'.repeat(500), 'ü'.repeat(400), 'zz']
    await tester.store(
      'person',
      ids.map((_id) => ({ _id, rank: 1 })),
    )
    const lengths = new Set<number>()
    let after: string | undefined
    do {
      const page = { size: 1, ...(after !== undefined && { after }) }
      const { next }: DataResponse = await tester.find('person', {
        sort: { rank: '$asc' },
        projection: EVERYTHING,
        page,
      })
      after = next
      if (next !== undefined) lengths.add(next.length)
    } while (after !== undefined)
    assert.equal(lengths.size, 1)
  })

  test('cursor: is valid after a restart', async () => {
    const { location, [Symbol.asyncDispose]: remove } = await freshPlace()
    await using _place = { [Symbol.asyncDispose]: remove }
    let next: string | undefined
    {
      await using service = await openServiceAt(location)
      await service.metadata.create(
        ADMIN,
        { entity: 'person', version: '1.0.0' },
        metadataDocument('person', FIELDS),
      )
      await service.data.insert(ADMIN, { entity: 'person' }, { data: PEOPLE })
      ;({ next } = await service.data.find(ADMIN, { entity: 'person' }, { ...BY_RANK, page: { size: 2 } }))
    }
    await using reopened = await openServiceAt(location)
    const body = { ...BY_RANK, page: { size: 2, after: next! } }
    assert.deepEqual(idsOf(await reopened.data.find(ADMIN, { entity: 'person' }, body)), ['c', 'd'])
  })
})
