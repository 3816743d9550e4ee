/** Streaming: lines of NDJSON, at the pace of the reader, for as long as there is one. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { after, before, test } from 'node:test'
import type { Caller } from '../../../src/access/caller.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { watchReaders } from '../../process/slow/watch.ts'
import { type TestServer, startTestServer } from '../../support/server.ts'
import {
  ADMIN,
  EVERYTHING,
  type TestService,
  callerWith,
  codeOf,
  openTestService,
} from '../../support/service.ts'
import { onEveryStore, storeKind } from '../../support/store-kind.ts'
import { untilOpen, watchCursors } from './open-cursors.ts'

const COUNT = 10_000
const FIELDS = {
  i: { type: 'integer' },
  s: { type: 'string' },
  bd: { type: 'bigdecimal' },
  secret: { type: 'string', access: { find: ['boss'] } },
}
const FILLING = 'x'.repeat(200)

onEveryStore(() => {
  let tester: TestService

  before(async () => {
    tester = await openTestService()
    await tester.define('t', FIELDS)
    await tester.define('closed', FIELDS, { schema: { access: { find: ['boss'], insert: ['anyone'] } } })
    await tester.define('empty', FIELDS)
    for (let start = 0; start < COUNT; start += 2_500) {
      const data = Array.from({ length: 2_500 }, (_, k) => ({
        _id: String(start + k).padStart(5, '0'),
        i: start + k,
        s: FILLING,
        secret: 'S',
      }))
      assert.equal((await tester.insert('t', { data }, callerWith('boss'))).modifiedCount, 2_500)
    }
  })
  after(() => tester[Symbol.asyncDispose]())

  async function open(body: JsonObject, caller: Caller = ADMIN, entity = 't') {
    const answer = await tester.service.data.stream(caller, { entity }, body)
    assert.ok(!('status' in answer), JSON.stringify(answer))
    return answer[Symbol.asyncIterator]() as AsyncGenerator<string>
  }

  async function lines(
    body: JsonObject,
    caller: Caller = ADMIN,
    entity = 't',
  ): Promise<readonly JsonObject[]> {
    const found: JsonObject[] = []
    for await (const line of await open(body, caller, entity)) {
      assert.doesNotMatch(line, /\n/)
      found.push(JSON.parse(line) as JsonObject)
    }
    return found
  }

  const below = (i: number): JsonObject => ({ field: 'i', op: '<', rvalue: i })
  const ID = { field: '_id' }

  test('stream: a header, the documents, a trailer', async () => {
    const [header, first, second, trailer, ...more] = await lines({
      query: below(2),
      projection: ID,
      sort: { i: '$desc' },
    })
    assert.deepEqual(header, { entity: 't', entityVersion: '1.0.0', status: 'COMPLETE' })
    for (const [line, id, keys] of [
      [first, '00001', ['processed', 'resultMetadata']],
      [second, '00000', ['last', 'processed', 'resultMetadata']],
    ] as const) {
      assert.deepEqual(Object.keys(line!), keys)
      assert.equal(line!['last'], keys.length === 3 ? true : undefined)
      assert.deepEqual(line!['processed'], { _id: id })
      assert.match(
        JSON.stringify(line!['resultMetadata']),
        new RegExp(`^\\{"documentVersion":"${id}:\\d+"\\}$`),
      )
    }
    assert.deepEqual(trailer, { last: true, status: 'COMPLETE', matchCount: 2 })
    assert.deepEqual(more, [])
  })

  test('stream: nothing found is a header and a trailer', async () => {
    const trailer = { last: true, status: 'COMPLETE', matchCount: 0 }
    assert.deepEqual((await lines({ query: below(0), projection: ID })).slice(1), [trailer])
    assert.deepEqual((await lines({ projection: ID }, ADMIN, 'empty')).slice(1), [trailer])
  })

  const RANGES: readonly (readonly [range: JsonObject, shown: readonly number[]])[] = [
    [{ range: [2, 4] }, [2, 3, 4]],
    [{ from: 8 }, [8, 9]],
    [{ from: 7, maxResults: 2 }, [7, 8]],
    [{ range: [5, 3] }, []],
    [{ from: -3, to: 1 }, [0, 1]],
    [{ from: 99 }, []],
    [{ range: [9, null] }, [9]],
  ]

  for (const [range, shown] of RANGES) {
    test(`stream: ${JSON.stringify(range)} chooses, and all matches are counted`, async () => {
      const found = await lines({
        query: below(10),
        projection: { field: 'i' },
        sort: { i: '$asc' },
        ...range,
      })
      const documents = found.slice(1, -1).map(({ processed }) => (processed as JsonObject)['i'])
      assert.deepEqual(documents, shown)
      assert.deepEqual(found.at(-1), { last: true, status: 'COMPLETE', matchCount: 10 })
    })
  }

  test('stream: count none is not counted', async () => {
    const found = await lines({ query: below(3), projection: ID, execution: { count: 'none' } })
    assert.deepEqual([found.length, found.at(-1)!['matchCount']], [5, 0])
  })

  test('stream: shows what find shows, to everyone what they may see', async () => {
    for (const caller of [ADMIN, callerWith('boss')]) {
      for (const projection of [EVERYTHING, [{ field: 'i' }, { field: 'secret' }]] as readonly Json[]) {
        const body = { query: below(20), projection, sort: { i: '$desc' } }
        const { processed } = await tester.find('t', body, caller)
        const streamed = (await lines(body, caller))
          .slice(1, -1)
          .map((line) => JSON.stringify(line['processed']))
        assert.deepEqual(streamed, processed)
      }
    }
  })

  const REFUSED: readonly (readonly [rule: string, body: JsonObject, code: string, entity?: string])[] = [
    ['without a projection', { query: below(1) }, 'store-crud:NullProjection'],
    [
      'with an unknown field',
      { query: { field: 'zz', op: '=', rvalue: 1 }, projection: ID },
      'metadata:InvalidFieldReference',
    ],
    [
      'with a hidden field',
      { query: { field: 'secret', op: '=', rvalue: 'S' }, projection: ID },
      'crud:NoAccess',
    ],
    ['sorted by a hidden field', { projection: ID, sort: { secret: '$asc' } }, 'crud:NoAccess'],
    ['of an entity the caller may not read', { projection: ID }, 'crud:NoAccess', 'closed'],
    ['of an unknown entity', { projection: ID }, 'crud:UnknownEntity', 'zz'],
    ['of a query that is none', { query: 5, projection: ID }, 'query-api:InvalidQuery'],
  ]

  for (const [rule, body, code, entity = 't'] of REFUSED) {
    test(`stream: ${rule} is an ordinary response`, async () => {
      const answer = await tester.service.data.stream(ADMIN, { entity }, body)
      assert.ok('status' in answer)
      assert.equal(codeOf(answer), code)
    })
  }

  test('stream: documents are fetched as they are read, and the limit of results does not apply', async () => {
    using watch = watchReaders()
    const isWatched = storeKind() === 'sqlite'
    const stream = await open({ projection: EVERYTHING, sort: { _id: '$asc' } })
    const asked: number[] = []
    for (let i = 0; i <= COUNT; i++) {
      const { done } = await stream.next()
      assert.equal(done, false)
      if (i % 2_000 === 10 && isWatched) asked.push(watch.asked.next)
    }
    if (isWatched) assert.equal(asked[0], 2, 'some keys and one page to begin with')
    assert.ok(
      asked.every((count, i) => i === 0 || (count > asked[i - 1]! && count < 60)),
      asked.join(),
    )
    const trailer = JSON.parse((await stream.next()).value as string) as JsonObject
    assert.deepEqual([trailer['matchCount'], (await stream.next()).done], [COUNT, true])
  })

  for (const read of [1, 2, 600]) {
    test(`stream: after ${read} lines nothing is held for its reader`, async () => {
      using watch = watchCursors(tester.location)
      const stream = await open({ projection: EVERYTHING })
      for (let i = 0; i < read; i++) await stream.next()
      await untilOpen(watch, 0)
      assert.equal((await stream.next()).done, false)
      await stream.return(undefined)
      await untilOpen(watch, 0)
    })
  }

  test('stream: what fails midway is told in the trailer', async () => {
    const controller = new AbortController()
    const target = { entity: 't', getSignal: () => controller.signal }
    const answer = await tester.service.data.stream(ADMIN, target, { projection: ID })
    assert.ok(!('status' in answer))
    let last = ''
    let read = 0
    for await (const line of answer) {
      if (++read === 100) controller.abort()
      last = line
    }
    assert.ok(read < COUNT)
    const trailer = JSON.parse(last) as { last: boolean; status: string; errors: { errorCode: string }[] }
    assert.deepEqual(
      [trailer.last, trailer.status, trailer.errors[0]!.errorCode],
      [true, 'ERROR', 'crud:Unavailable'],
    )
  })

  async function fill(server: TestServer, s = FILLING): Promise<void> {
    await server.define('t', FIELDS)
    const data = Array.from({ length: 5_000 }, (_, i) => ({ _id: `d${i}`, i, s }))
    const stored = await server.ask('PUT', '/data/insert/t', { body: { data } })
    assert.equal(stored.json.modifiedCount, data.length)
  }

  test('stream: over HTTP, by parameter and by header', async () => {
    await using server = await startTestServer()
    await fill(server)
    const body = '{"query":{"field":"i","op":"<","rvalue":3},"projection":{"field":"i"},"sort":{"i":"$asc"}}'
    for (const path of ['/data/find/t', '/rest/data/find/t/1.0.0']) {
      for (const [search, headers] of [
        ['?stream=true', {}],
        ['', { Accept: 'application/x-ndjson' }],
        ['', { Accept: 'application/json;q=0.9, Application/X-NDJSON' }],
      ] as const) {
        const answer = await server.ask('POST', `${path}${search}`, { body, headers })
        assert.equal(answer.status, 200)
        assert.match(String(answer.headers['content-type']), /^application\/x-ndjson/)
        assert.ok(answer.text.endsWith('\n'))
        const all = answer.text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as JsonObject)
        assert.deepEqual(
          all.slice(1, -1).map(({ processed }) => processed),
          [{ i: 0 }, { i: 1 }, { i: 2 }],
        )
        assert.deepEqual(all.at(-1), { last: true, status: 'COMPLETE', matchCount: 3 })
      }
    }
    const unwanted = { Accept: 'application/x-ndjson;q=0, */*' }
    const inOne = await server.ask('POST', '/data/find/t', { body, headers: unwanted })
    assert.equal((inOne.json as JsonObject)['status'], 'COMPLETE')
    const plain = await server.ask('POST', '/data/find/t?stream=false', { body })
    assert.equal(plain.json.processed.length, 3)
    assert.equal((await server.ask('POST', '/data/find/t?stream=yes', { body })).status, 400)
    const whole = await server.ask('POST', '/data/find/t?stream=true', { body: { projection: EVERYTHING } })
    assert.equal(whole.text.trimEnd().split('\n').length, 5_002)
  })

  test('stream: over HTTP a failure before the first document has its own status', async () => {
    await using server = await startTestServer()
    await fill(server)
    const ask = (path: string, body: JsonObject) => server.ask('POST', `${path}?stream=true`, { body })
    const unknown = await ask('/data/find/zz', { projection: ID })
    assert.deepEqual([unknown.status, unknown.json.errors[0].errorCode], [404, 'crud:UnknownEntity'])
    const hidden = await ask('/data/find/t', {
      query: { field: 'secret', op: '=', rvalue: 'x' },
      projection: ID,
    })
    assert.deepEqual([hidden.status, hidden.json.errors[0].errorCode], [403, 'crud:NoAccess'])
  })

  test('stream: over HTTP nothing is held for a caller that does not read, or hangs up', async () => {
    await using server = await startTestServer()
    // more than the connection itself takes in while nobody reads
    await fill(server, 'x'.repeat(2_500))
    using watch = watchCursors(server.location)
    const payload = JSON.stringify({ projection: EVERYTHING })
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request({
        host: '127.0.0.1',
        port: server.port,
        method: 'POST',
        path: '/data/find/t?stream=true',
        agent: false,
      })
      outgoing.on('error', reject)
      outgoing.on('response', resolve)
      outgoing.end(payload)
    })
    response.on('error', () => undefined)
    await once(response, 'readable')
    await untilOpen(watch, 0)
    response.destroy()
    await untilOpen(watch, 0)
    assert.equal(
      (await server.ask('POST', '/data/find/t', { body: { projection: ID, range: [0, 0] } })).status,
      200,
    )
    assert.deepEqual(server.faults(), [])
  })
})
