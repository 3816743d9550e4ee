/** Following events as server-sent events. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAuthentication } from '../../../src/auth/create.ts'
import { addToken, revokeToken } from '../../../src/auth/token-file.ts'
import { SOON_MS, bearer, scratch } from '../auth/harness.ts'
import { citusUrl } from '../../support/citus.ts'
import { type TestServer, askServer, startTestServer } from '../../support/server.ts'
import { metadataDocument } from '../../support/service.ts'
import { type Follower, follow } from './events-follower.ts'
import { type Seen, change, defineSandwich, defineSecret, done, insert } from './events-kitchen.ts'
import { onEveryStore } from '../../support/store-kind.ts'

onEveryStore(() => {
  let server: TestServer
  before(async () => {
    server = await startTestServer()
    await defineSandwich(server)
    await defineSecret(server)
  })
  after(() => server[Symbol.asyncDispose]())

  let sandwiches = 0

  /** Makes so many events of sandwiches, one after the other. */
  async function make(count: number): Promise<readonly string[]> {
    const ids = Array.from({ length: count }, () => `s${sandwiches++}`)
    for (const _id of ids) {
      await insert(server, 'sandwich', { _id, toppings: ['x'] })
      // On a cluster, writes within one round of numbering may be numbered in another order.
      if (citusUrl() !== undefined) await sleep(100)
    }
    return ids
  }

  function idsIn(follower: Follower): readonly string[] {
    return follower.events().map(({ data }) => data.documentId as string)
  }

  /** Where all events so far end. */
  async function newest(): Promise<number> {
    const [id] = await make(1)
    for (let next = 0; ;) {
      const page = (await server.ask('GET', `/events?since=${next}&wait=5&limit=1000`)).json
      next = page.next
      if (page.events.some(({ documentId }: Seen) => documentId === id)) return next
    }
  }

  test('event stream: begins now, and tells each event once, in order, with its number as id', async () => {
    await newest()
    using follower = await follow(server.port, '/events/stream')
    assert.equal(follower.status, 200)
    assert.equal(follower.headers['content-type'], 'text/event-stream')
    assert.equal(follower.headers['cache-control'], 'no-store')
    const ids = await make(5)
    await follower.until(({ events }) => events().length >= 5)
    assert.deepEqual(idsIn(follower), ids)
    for (const { id, data } of follower.events()) assert.equal(id, String(data.seq))
  })

  test('event stream: begins after since, or after Last-Event-ID, which counts more', async () => {
    const since = await newest()
    const ids = await make(4)
    using first = await follow(server.port, `/events/stream?since=${since}`)
    await first.until(({ events }) => events().length >= 4)
    assert.deepEqual(idsIn(first), ids)
    const headers = { 'Last-Event-ID': first.events()[1]!.id! }
    using again = await follow(server.port, `/events/stream?since=${since}`, { headers })
    const [late] = await make(1)
    await again.until(({ events }) => events().length >= 3)
    assert.deepEqual(idsIn(again), [ids[2], ids[3], late])
  })

  test('event stream: whoever is cut off again and again misses nothing', async () => {
    let last = await newest()
    const made = (async () => await make(60))()
    const seen: string[] = []
    while (seen.length < 60) {
      using follower = await follow(server.port, '/events/stream', {
        headers: { 'Last-Event-ID': String(last) },
      })
      await follower.until(({ events }) => events().length > 0)
      seen.push(...idsIn(follower))
      last = Number(follower.events().at(-1)!.id)
    }
    assert.deepEqual(seen, await made)
  })

  test('event stream: whoever begins thousands of events ago gets all of them, and goes on with new ones', async () => {
    const since = await newest()
    const ids = Array.from({ length: 3_000 }, () => `s${sandwiches++}`)
    await insert(
      server,
      'sandwich',
      ids.map((_id) => ({ _id, toppings: ['x'] })),
    )
    using follower = await follow(server.port, `/events/stream?since=${since}`)
    const later = await make(3)
    await follower.until(({ events }) => events().length >= 3_003, 30_000)
    const numbers = follower.events().map(({ id }) => Number(id))
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
    )
    const seen = idsIn(follower)
    assert.deepEqual(seen.slice(0, 3_000).toSorted(), ids.toSorted())
    assert.deepEqual(seen.slice(3_000), later)
  })

  test('event stream: tells at once where it begins, so that whoever comes again goes on from there', async () => {
    const since = await newest()
    using follower = await follow(server.port, '/events/stream?entity=secret')
    await follower.until(({ messages }) => messages.length > 0)
    const [{ id, data, isComment }] = follower.messages as [Follower['messages'][number]]
    assert.deepEqual([id, data, isComment], [String(since), undefined, true])
  })

  test('event stream: entity, hook and operation choose among the events', async () => {
    using chosen = await follow(server.port, '/events/stream?entity=sandwich&operation=update&hook=toppings')
    using none = await follow(server.port, '/events/stream?hook=other')
    const [id] = await make(2)
    await change(server, 'sandwich', id!, { $set: { toppings: ['y'] } })
    await chosen.until(({ events }) => events().length > 0)
    assert.deepEqual(
      chosen.events().map(({ data }) => [data.operation, data.documentId]),
      [['update', id]],
    )
    assert.deepEqual(none.events(), [])
  })

  for (const [query, headers, status] of [
    ['limit=1', {}, 400],
    ['wait=1', {}, 400],
    ['since=x', {}, 400],
    ['since=9007199254740991', {}, 400],
    ['', { 'Last-Event-ID': 'x' }, 400],
    ['entity=nothing', {}, 404],
  ] as const) {
    test(`event stream: ${query}${JSON.stringify(headers)} is ${status} before it begins`, async () => {
      const answer = await server.ask('GET', `/events/stream?${query}`, { headers })
      assert.equal(answer.status, status, answer.text)
      assert.equal(answer.json.objectType, 'error')
    })
  }

  test('event stream: HEAD is answered without one', async () => {
    const answer = await server.ask('HEAD', '/events/stream')
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-type'], 'text/event-stream')
  })

  test('event stream: each follower is told what they may see', async () => {
    using boss = await follow(server.port, '/events/stream?entity=secret', { roles: ['boss'] })
    using mine = await follow(server.port, '/events/stream?entity=secret', {
      headers: { 'Smalt-Principal': 'me' },
    })
    await insert(server, 'secret', { _id: 'a', owner: 'you', open: 'o', hidden: 'h' })
    await insert(server, 'secret', { _id: 'b', owner: 'me', open: 'o', hidden: 'h' })
    await change(server, 'secret', 'b', { $set: { hidden: 'i' } })
    await change(server, 'secret', 'b', { $set: { open: 'p' } })
    await boss.until(({ events }) => events().length >= 4)
    await mine.until(({ events }) => events().length >= 2)
    assert.deepEqual(idsIn(boss), ['a', 'b', 'b', 'b'])
    assert.deepEqual(
      mine.events().map(({ data }) => [data.operation, data.documentId]),
      [
        ['insert', 'b'],
        ['update', 'b'],
      ],
    )
    assert.doesNotMatch(JSON.stringify(mine.messages), /hidden/)
  })

  test('event stream: lists that change while it runs count for what comes after', async () => {
    await using own = await startTestServer()
    const info = { hooks: [{ name: 'all', actions: ['insert'] }] }
    const fields = { a: { type: 'string' }, b: { type: 'string' } }
    await own.define('note', fields, { info })
    using follower = await follow(own.port, '/events/stream')
    await insert(own, 'note', { _id: '1', a: 'x', b: 'y' })
    await follower.until(({ events }) => events().length >= 1)
    assert.deepEqual(follower.events()[0]!.data.after.b, 'y')
    const { entityInfo, schema } = (await own.ask('GET', '/metadata/note/1.0.0')).json
    const next = {
      ...schema,
      version: { value: '2.0.0', changelog: 'b is for the boss' },
      fields: { ...schema.fields, b: { type: 'string', access: { find: ['boss'] } } },
    }
    await done(own, 'PUT', '/metadata/note/2.0.0', {
      entityInfo: { ...entityInfo, defaultVersion: '2.0.0' },
      schema: next,
    })
    await insert(own, 'note', { _id: '2', a: 'x', b: 'z' })
    await follower.until(({ events }) => events().length >= 2)
    const { after } = follower.events()[1]!.data
    assert.deepEqual([after.a, after.b], ['x', undefined])
  })

  /** A server with tokens, on which the boss may read notes and everybody may make some. */
  async function startWithTokens(folder: ReturnType<typeof scratch>) {
    const file = folder.path('tokens.json')
    const boss = await addToken(file, { principal: 'ann', roles: ['boss'] })
    const permissions = ['metadata.insert'] as const
    const maker = await addToken(file, { principal: 'maker', roles: [], permissions })
    const settings = { isOpen: false, hasCertificates: false, permissions: {}, origins: [], tokens: { file } }
    const auth = await createAuthentication(settings, (problem) => assert.fail(String(problem)))
    const own = await startTestServer({ auth })
    const headers = bearer(maker.token)
    const access = { find: ['boss'], insert: ['anyone'], update: ['noone'], delete: ['noone'] }
    const info = { hooks: [{ name: 'all', actions: ['insert'] }] }
    const body = metadataDocument('note', { a: { type: 'string' } }, { info, schema: { access } })
    const defined = await own.ask('PUT', '/metadata/note/1.0.0', { headers, body })
    assert.equal(defined.status, 200, defined.text)
    return {
      port: own.port,
      ask: own.ask,
      boss: bearer(boss.token),
      revoke: () => revokeToken(file, boss.id),
      async put(_id: string) {
        const made = await own.ask('PUT', '/data/insert/note', { headers, body: { data: { _id, a: 'x' } } })
        assert.equal(made.status, 200, made.text)
      },
      [Symbol.asyncDispose]: () => own[Symbol.asyncDispose](),
    }
  }

  test('event stream: one whose token is revoked ends within a second, and says why', async () => {
    using folder = scratch()
    await using own = await startWithTokens(folder)
    using follower = await follow(own.port, '/events/stream', { headers: own.boss })
    await own.put('1')
    await follower.until(({ events }) => events().length >= 1)
    await own.revoke()
    await follower.until((each) => each.isEnded(), SOON_MS)
    const last = follower.messages.at(-1)!
    assert.deepEqual([last.event, last.data.errorCode], ['end', 'crud:NoAccess'])
    await own.put('2')
    assert.equal(follower.events().length, 2)
  })

  test('events: a wait whose token is revoked ends within a second, without an event', async () => {
    using folder = scratch()
    await using own = await startWithTokens(folder)
    const waiting = own.ask('GET', '/events?wait=30', { headers: own.boss })
    await new Promise((resolve) => setTimeout(resolve, 300))
    await own.revoke()
    const begun = performance.now()
    const { status, json } = await waiting
    assert.deepEqual([status, json.errorCode], [403, 'crud:NoAccess'])
    assert.ok(performance.now() - begun < SOON_MS)
  })

  test('event stream: the end of the server ends it, and a wait, at once', async () => {
    const own = await startTestServer()
    await defineSandwich(own)
    using follower = await follow(own.port, '/events/stream')
    const waiting = askServer({ port: own.port }, 'GET', '/events?wait=60', {})
    await new Promise((resolve) => setTimeout(resolve, 200))
    const begun = performance.now()
    const [{ status, json }] = await Promise.all([waiting, own[Symbol.asyncDispose]()])
    assert.deepEqual([status, json], [200, { events: [], next: 0 }])
    await follower.until((each) => each.isEnded(), 1_000)
    assert.ok(performance.now() - begun < 3_000)
    assert.deepEqual(own.faults(), [])
  })
})
