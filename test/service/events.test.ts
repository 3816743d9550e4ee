/** Events of several datasources, and of a service that ends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServiceError } from '../../src/base/errors.ts'
import type { Json } from '../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import type { EventKeeping } from '../../src/service/events/retention.ts'
import { openService } from '../../src/service/open.ts'
import type { EventPage, Service } from '../../src/service/service.ts'
import { eventually } from './auth/harness.ts'
import { ADMIN, failLoudly, metadataDocument, openTestService } from '../support/service.ts'
import { freshPlace, onEveryStore, storeKind } from '../support/store-kind.ts'

const HOOKS = [{ name: 'all', actions: ['insert'] }]

async function openTwo(events?: EventKeeping) {
  await using opened = new AsyncDisposableStack()
  const [first, second] = [opened.use(await freshPlace()), opened.use(await freshPlace())]
  const datasources = [
    { name: 'default', location: first.location },
    { name: 'other', location: second.location },
  ]
  const service = opened.use(
    await openService({
      datasources,
      limits: DEFAULT_LIMITS,
      onInternalError: failLoudly,
      ...(events && { events }),
    }),
  )
  for (const [entity, datasource] of [
    ['here', 'default'],
    ['there', 'other'],
  ] as const) {
    const info = { hooks: HOOKS, datastore: { backend: storeKind(), datasource } }
    const body = metadataDocument(entity, { a: { type: 'string' } }, { info })
    await service.metadata.create(ADMIN, { entity, version: '1.0.0' }, body)
  }
  const owned = opened.move()
  return { service, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function put(service: Service, entity: string, _id: string): Promise<void> {
  const data: Json = { _id, a: 'x' }
  assert.equal((await service.data.insert(ADMIN, { entity }, { data })).status, 'COMPLETE')
}

function read({ events }: Service, query: string): Promise<EventPage> {
  return events.read(ADMIN, new URLSearchParams(query))
}

/** Of which documents the first events are. */
async function idsOf(service: Service, count: number, query: string): Promise<readonly Json[]> {
  const ids: Json[] = []
  for (let next = 0; ids.length < count;) {
    const page = await read(service, `wait=5&since=${next}&${query}`)
    assert.ok(page.events.length > 0, `only ${JSON.stringify(ids)}`)
    ids.push(...page.events.map((text) => (JSON.parse(text) as { documentId: string }).documentId))
    next = page.next
  }
  return ids
}

onEveryStore(() => {
  test('events: each datasource has its own; the entity decides which one, else the default one is meant', async () => {
    await using opened = await openTwo()
    const { service } = opened
    await put(service, 'here', 'h1')
    await put(service, 'there', 't1')
    await put(service, 'there', 't2')
    assert.deepEqual(await idsOf(service, 1, ''), ['h1'])
    for (const query of ['entity=there', 'datasource=other', 'datasource=other&entity=there'])
      assert.deepEqual(await idsOf(service, 2, query), ['t1', 't2'])
    await assert.rejects(
      read(service, 'datasource=default&entity=there'),
      /"datasource" must be that of the entity/,
    )
    await assert.rejects(read(service, 'datasource=third'), /"datasource" must be one of default, other/)
  })

  test('events: those of one change come in the order of the hooks in entity info', async () => {
    await using tester = await openTestService()
    const names = ['m', 'z', 'a', 'y', 'b']
    const hooks = names.map((name) => ({ name, actions: ['insert', 'update', 'delete'] }))
    await tester.define('thing', { n: { type: 'integer' } }, { info: { hooks } })
    const query = { field: '_id', op: '$in', values: ['1', '2', '3'] }
    const { data } = tester.service
    const target = { entity: 'thing' }
    await data.insert(ADMIN, target, { data: ['1', '2', '3'].map((_id) => ({ _id, n: 1 })) })
    await data.update(ADMIN, target, { query, update: { $set: { n: 2 } } })
    await data.update(ADMIN, target, { query: { ...query, values: ['1'] }, update: { $set: { n: 3 } } })
    await data.save(ADMIN, target, { data: { _id: '2', n: 4 } })
    await data.delete(ADMIN, target, { query })
    const changes = 3 + 3 + 1 + 1 + 3
    const found: { hook: string; documentId: string }[] = []
    for (let next = 0; found.length < changes * names.length;) {
      const page = await read(tester.service, `wait=5&since=${next}`)
      assert.ok(page.events.length > 0, JSON.stringify(found))
      found.push(...page.events.map((text) => JSON.parse(text)))
      next = page.next
    }
    for (let i = 0; i < found.length; i += names.length) {
      const change = found.slice(i, i + names.length)
      assert.deepEqual(
        change.map(({ hook, documentId }) => [hook, documentId]),
        names.map((hook) => [hook, change[0]!.documentId]),
      )
    }
  })

  test('events: a wait and an iteration end with the service', async () => {
    const opened = await openTwo()
    const { service } = opened
    const parameters = new URLSearchParams()
    const ending = new AbortController().signal
    const followed = await service.events.follow(ADMIN, { parameters, lastEventId: undefined, ending })
    const positions: number[] = []
    const following = (async () => {
      for await (const { position } of followed) positions.push(position)
    })()
    const waiting = service.events.read(ADMIN, new URLSearchParams('wait=60'))
    await new Promise((resolve) => setTimeout(resolve, 100))
    await opened[Symbol.asyncDispose]()
    await following
    assert.deepEqual(positions, [0])
    assert.deepEqual(await waiting, { events: [], next: 0 })
  })

  test('events: an iteration that is too slow for what is kept fails, and says where to go on', async () => {
    await using opened = await openTwo({ keepDays: 7, keepCount: 10, roundMs: 50 })
    const { service } = opened
    const parameters = new URLSearchParams('since=0')
    const ending = new AbortController().signal
    const followed = await service.events.follow(ADMIN, { parameters, lastEventId: undefined, ending })
    const iteration = followed[Symbol.asyncIterator]()
    assert.deepEqual((await iteration.next()).value, { events: [], position: 0 })
    const data = Array.from({ length: 3_000 }, (_, i) => ({ _id: `d${i}` }))
    await service.data.insert(ADMIN, { entity: 'here' }, { data })
    await eventually(async () => {
      const { events, next } = await read(service, 'limit=1000')
      return next === 3_000 && events.length === 10
    }, 'the oldest are gone')
    await assert.rejects(iteration.next(), (error: ServiceError) => {
      return error.code === 'crud:EventsGone' && error.message.includes('since=2990 ')
    })
  })
})
