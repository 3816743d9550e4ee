/** Reading events page by page, with filters, with a wait, and from where nothing is kept any more. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, test } from 'node:test'
import { type TestServer, startTestServer } from '../../support/server.ts'
import { type Seen, change, defineSandwich, eventsOf, insert, remove } from './events-kitchen.ts'
import { eventually } from './sinks-kitchen.ts'
import { onEveryStore } from '../../support/store-kind.ts'

onEveryStore(() => {
  let server: TestServer
  before(async () => {
    server = await startTestServer()
    await defineSandwich(server)
    const hooks = [{ name: 'stars', actions: ['insert', 'update'] }]
    await server.define('note', { stars: { type: 'integer' } }, { info: { hooks } })
    await insert(
      server,
      'sandwich',
      [1, 2, 3].map((i) => ({ _id: `s${i}`, toppings: [`t${i}`] })),
    )
    for (const i of [1, 2, 3]) await insert(server, 'note', { _id: `n${i}`, stars: i })
    await change(server, 'sandwich', 's2', { $set: { toppings: ['other'] } })
    await remove(server, 'sandwich', 's1')
    await eventsOf(server, 8)
  })
  after(() => server[Symbol.asyncDispose]())

  async function read(query: string, headers = {}): Promise<Seen> {
    const answer = await server.ask('GET', `/events?${query}`, { headers })
    assert.equal(answer.status, 200, answer.text)
    return answer.json
  }

  function idsIn({ events }: Seen): readonly string[] {
    return events.map(({ documentId }: Seen) => documentId)
  }

  test('events: a page goes on where the one before ended, whatever its size', async () => {
    const whole = await read('')
    assert.equal(whole.events.length, 8)
    for (const limit of [1, 2, 3, 7, 8, 1_000]) {
      const events: Seen[] = []
      for (let next = 0; ;) {
        const page = await read(`since=${next}&limit=${limit}`)
        assert.ok(page.events.length <= limit)
        events.push(...page.events)
        if (page.events.length === 0) {
          assert.equal(page.next, whole.next)
          break
        }
        assert.ok(page.next > next)
        next = page.next
      }
      assert.deepEqual(events, whole.events)
    }
  })

  test('events: numbers rise, and since is not included', async () => {
    const { events } = await read('')
    const numbers: readonly number[] = events.map(({ seq }: Seen) => seq as number)
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].toSorted((a, b) => a - b),
    )
    const later = await read(`since=${numbers[2]}`)
    assert.deepEqual(later.events, events.slice(3))
  })

  test('events: entity, hook and operation choose among them', async () => {
    assert.deepEqual(idsIn(await read('entity=note')).toSorted(), ['n1', 'n2', 'n3'])
    assert.deepEqual(idsIn(await read('hook=stars')).toSorted(), ['n1', 'n2', 'n3'])
    assert.deepEqual(idsIn(await read('operation=delete')), ['s1'])
    assert.deepEqual(idsIn(await read('entity=sandwich&operation=update&hook=toppings')), ['s2'])
    assert.deepEqual(idsIn(await read('entity=note&hook=toppings')), [])
    assert.equal((await read('entity=&hook=&operation=&since=&limit=&wait=')).events.length, 8)
    assert.equal((await read('datasource=default&entity=note')).events.length, 3)
  })

  test('events: a page of what was chosen is full where there is enough', async () => {
    const page = await read('entity=note&limit=2')
    assert.equal(page.events.length, 2)
    assert.equal(page.next, page.events[1].seq)
    assert.deepEqual(idsIn(await read(`entity=note&limit=2&since=${page.next}`)), ['n3'])
  })

  test('events: whoever asks for lines gets one for each, and last where to go on', async () => {
    const whole = await read('')
    const answer = await server.ask('GET', '/events', { headers: { Accept: 'application/x-ndjson' } })
    assert.equal(answer.headers['content-type'], 'application/x-ndjson')
    assert.ok(answer.text.endsWith('\n'))
    const lines = answer.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(lines, [...whole.events, { next: whole.next }])
    const unwanted = await server.ask('GET', '/events', { headers: { Accept: 'application/x-ndjson;q=0' } })
    assert.match(String(unwanted.headers['content-type']), /^application\/json/)
  })

  const REFUSED: readonly (readonly [query: string, named: RegExp])[] = [
    ['limit=0', /"limit" must be a whole number from 1 to 1000/],
    ['limit=1001', /"limit"/],
    ['limit=1.5', /"limit"/],
    ['limit=abc', /"limit"/],
    ['since=-1', /"since" must be the "next" of an earlier response, such as 42/],
    ['since=1e3', /"since"/],
    ['since=99999999999999999', /"since"/],
    ['since=9007199254740991', /"since" is after the newest event/],
    ['wait=61', /"wait" must be a whole number from 0 to 60/],
    ['wait=-1', /"wait"/],
    ['operation=find', /"operation" must be one of insert, update, delete/],
    ['limit=1&limit=2', /"limit" is given twice/],
    ['sinze=1', /there is no parameter "sinze"; known are entity/],
    ['datasource=other', /"datasource" must be one of default/],
    ['entity=a%00', /"entity" holds a NUL character/],
  ]

  for (const [query, named] of REFUSED) {
    test(`events: ${query} is refused by name`, async () => {
      const { status, json } = await server.ask('GET', `/events?${query}`)
      assert.deepEqual([status, json.errorCode], [400, 'crud:InvalidRequest'])
      assert.match(json.msg, named)
      assert.equal(json.context, 'events')
    })
  }

  test('events: OpenAPI tells of both routes, their types and what may go wrong', async () => {
    const { paths } = (await server.ask('GET', '/openapi.json')).json
    const [page, stream] = [paths['/events'].get, paths['/events/stream'].get]
    assert.deepEqual(Object.keys(page.responses[200].content), ['application/json', 'application/x-ndjson'])
    assert.deepEqual(Object.keys(stream.responses[200].content), ['text/event-stream'])
    assert.ok(page.responses[410] && stream.responses[410])
    const headers = stream.parameters.filter((each: Seen) => each.in === 'header')
    assert.deepEqual(
      headers.map(({ name }: Seen) => name),
      ['Last-Event-ID'],
    )
  })

  test('events: an entity that does not exist is 404', async () => {
    const { status, json } = await server.ask('GET', '/events?entity=nothing')
    assert.deepEqual([status, json.errorCode], [404, 'metadata:MissingEntityInfo'])
  })

  test('events: a wait ends with the first event that the caller may see', async () => {
    const { next } = await read('')
    const begun = performance.now()
    const waiting = read(`since=${next}&wait=20&entity=note`)
    await insert(server, 'sandwich', { _id: 'unasked', toppings: ['x'] })
    await insert(server, 'note', { _id: 'awaited', stars: 5 })
    assert.deepEqual(idsIn(await waiting), ['awaited'])
    assert.ok(performance.now() - begun < 5_000)
  })

  test('events: a wait in which nothing comes ends when its time is over, and tells where to go on', async () => {
    const { next } = await read('')
    const begun = performance.now()
    assert.deepEqual(await read(`since=${next}&wait=1`), { events: [], next })
    const took = performance.now() - begun
    assert.ok(took > 900 && took < 5_000, String(took))
  })

  test('events: many who wait are all woken', async () => {
    const { next } = await read('')
    const waiting = Array.from({ length: 15 }, () => read(`since=${next}&wait=20`))
    await insert(server, 'note', { _id: 'for all', stars: 1 })
    for (const page of await Promise.all(waiting)) assert.deepEqual(idsIn(page), ['for all'])
  })

  test('events: whoever hangs up while they wait leaves nothing behind', async () => {
    const { next } = await read('')
    const path = `/events?since=${next}&wait=60`
    const outgoing = request({ host: '127.0.0.1', port: server.port, path, agent: false })
    const failed = new Promise((resolve) => outgoing.on('error', resolve))
    outgoing.end()
    await new Promise((resolve) => setTimeout(resolve, 100))
    outgoing.destroy(new Error('enough'))
    await failed
    assert.deepEqual(await read(`since=${next}`), { events: [], next })
    assert.deepEqual(server.faults(), [])
  })

  test('events: a page is no larger than a result may be, but never empty for that', async () => {
    await using small = await startTestServer({ limits: { resultBytes: 1_000 } })
    await defineSandwich(small)
    const toppings = Array.from({ length: 20 }, (_, i) => `topping number ${i} of this sandwich`)
    await insert(
      small,
      'sandwich',
      [1, 2, 3].map((i) => ({ _id: `s${i}`, toppings: i === 2 ? toppings : ['x'] })),
    )
    assert.deepEqual(
      (await eventsOf(small, 3)).map(({ documentId }) => documentId),
      ['s1', 's2', 's3'],
    )
    const first = (await small.ask('GET', '/events')).json
    assert.deepEqual(idsIn(first), ['s1'])
  })

  test('events: those that are not kept any more are told of, with the oldest that is', async () => {
    await using trimmed = await startTestServer({ events: { keepDays: 1, keepCount: 2, roundMs: 50 } })
    await defineSandwich(trimmed)
    const numbers: number[] = []
    for (let i = 0; i < 5; i++) {
      await insert(trimmed, 'sandwich', { _id: `s${i}`, toppings: ['x'] })
      const since = numbers.at(-1) ?? 0
      const page = (await trimmed.ask('GET', `/events?since=${since}&wait=5`)).json
      numbers.push(page.next)
    }
    const isGone = async () => (await trimmed.ask('GET', '/events?since=0')).status === 410
    await eventually(isGone, 'the first are gone')
    const answer = await trimmed.ask('GET', '/events?since=0')
    assert.equal(answer.json.errorCode, 'crud:EventsGone')
    const isTwo = async () => (await trimmed.ask('GET', '/events')).json.events.length === 2
    await eventually(isTwo, 'two are left')
    const told = (await trimmed.ask('GET', '/events?since=0')).json.msg
    const since = Number(/since=(\d+)/.exec(told)?.[1])
    assert.equal(since, numbers[3]! - 1)
    assert.deepEqual(idsIn((await trimmed.ask('GET', `/events?since=${since}`)).json), ['s3', 's4'])
    assert.equal((await trimmed.ask('GET', `/events?since=${since - 1}`)).status, 410)
    assert.deepEqual(idsIn((await trimmed.ask('GET', '/events')).json), ['s3', 's4'])
  })
})
