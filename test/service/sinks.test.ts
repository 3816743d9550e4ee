/** Sinks of several datasources, of several processes, and what they keep from being trimmed. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { ServiceError } from '../../src/base/errors.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { deliveredUpTo } from '../../src/service/sinks/deliver.ts'
import { createSinkRendering } from '../../src/service/sinks/rendering.ts'
import { createSinkDatasources } from '../../src/service/sinks/sink-datasources.ts'
import { readSink } from '../../src/service/sinks/sink-settings.ts'
import { replaceSink, untilReplaced } from '../../src/service/sinks/sinks.ts'
import { trimAll } from '../../src/service/events/retention.ts'
import { openService } from '../../src/service/open.ts'
import type { Service } from '../../src/service/service.ts'
import { printDefinition } from '../../src/sinks/definition.ts'
import { openStore } from '../../src/store/open.ts'
import type { Database } from '../../src/store/database.ts'
import type { Seen } from './http/events-kitchen.ts'
import { NEARBY, eventually, sinkTo, taker } from './http/sinks-kitchen.ts'
import { keptEvent } from '../unit/sinks/delivery-model.ts'
import { SCHEMA, write } from '../store/contract.ts'
import { allEvents, insertion } from '../store/events.ts'
import { ADMIN, callerWith, failLoudly, metadataDocument, openServiceAt } from '../support/service.ts'
import { rowsOf } from '../support/postgres.ts'
import { directoryOf, freshPlace, onEveryStore, storeKind } from '../support/store-kind.ts'

async function openTwo() {
  await using opened = new AsyncDisposableStack()
  const [first, second] = [opened.use(await freshPlace()), opened.use(await freshPlace())]
  const datasources = [
    { name: 'default', location: first.location },
    { name: 'other', location: second.location },
  ]
  const options = { datasources, limits: DEFAULT_LIMITS, onInternalError: failLoudly, events: NEARBY }
  const service = opened.use(await openService(options))
  await define(service, 'here', 'default')
  await define(service, 'there', 'other')
  const owned = opened.move()
  return { service, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function define({ metadata }: Service, entity: string, datasource: string): Promise<void> {
  const hooks = [{ name: 'all', actions: ['insert'] }]
  const info = { hooks, datastore: { backend: storeKind(), datasource } }
  const body = metadataDocument(entity, { a: { type: 'string' } }, { info })
  await metadata.create(ADMIN, { entity, version: '1.0.0' }, body)
}

async function put({ data }: Service, entity: string, _id: string): Promise<void> {
  const response = await data.insert(ADMIN, { entity }, { data: { _id, a: 'x' } })
  assert.equal(response.status, 'COMPLETE')
}

async function create({ sinks }: Service, sink: JsonObject): Promise<Seen> {
  return await sinks.create(ADMIN, sink)
}

/** Of the only sink, with its secrets, which the service shows to nobody. */
async function storedDefinition(location: string): Promise<string> {
  if (storeKind() === 'postgres') {
    const [row] = await rowsOf(location, (schema) => `select definition from "${schema}".smalt_sink`)
    return String(row!['definition'])
  }
  using database = new DatabaseSync(join(directoryOf(location), 'smalt.db'), { readOnly: true })
  return String(database.prepare('select definition from smalt_sink').get()!['definition'])
}

function refusal(code: string, message: RegExp): (error: ServiceError) => boolean {
  return (error) => error.code === code && message.test(error.message)
}

onEveryStore(() => {
  test('sinks: a filter by an entity that does not exist has a warning until it exists', async () => {
    await using place = await freshPlace()
    await using service = await openService({
      datasources: [{ name: 'default', location: place.location }],
      limits: DEFAULT_LIMITS,
      onInternalError: failLoudly,
      events: NEARBY,
    })
    const sink = sinkTo('http://127.0.0.1:1/', { name: 'late', filter: { entity: 'later' } })
    const made = await create(service, sink)
    assert.deepEqual(made['warnings'], [
      {
        severity: 'warning',
        code: 'unknown-entity',
        at: '/filter/entity',
        msg: 'there is no entity "later": as long as there is none, the sink receives no events',
      },
    ])
    assert.deepEqual(await service.sinks.get(ADMIN, 'late'), made)
    await define(service, 'later', 'default')
    assert.equal(((await service.sinks.get(ADMIN, 'late')) as JsonObject)['warnings'], undefined)
  })

  test('sinks: one belongs to the datasource of its entity, else to the one it names, else to the default one', async () => {
    await using receiver = await taker()
    await using stage = await openTwo()
    const { service } = stage
    const at = (name: string, more: JsonObject): JsonObject => sinkTo(receiver.url, { name, ...more })
    assert.equal((await create(service, at('a', {}))).datasource, 'default')
    assert.equal((await create(service, at('b', { filter: { entity: 'there' } }))).datasource, 'other')
    assert.equal((await create(service, at('c', { datasource: 'other' }))).datasource, 'other')
    const both = at('d', { filter: { entity: 'there' }, datasource: 'default' })
    await assert.rejects(create(service, both), refusal('crud:InvalidRequest', /that of the entity/))
    const unknown = at('d', { filter: { entity: 'nowhere' } })
    await assert.rejects(create(service, unknown), refusal('metadata:MissingEntityInfo', /nowhere/))
    // the name is taken wherever it is
    await assert.rejects(create(service, at('b', {})), refusal('crud:DuplicateSink', /of this name/))
    const moved = service.sinks.replace(ADMIN, 'a', at('a', { datasource: 'other' }))
    await assert.rejects(moved, refusal('crud:InvalidRequest', /another datasource/))
    await put(service, 'here', '1')
    await put(service, 'there', '2')
    await eventually(
      () => receiver.taken.length === 2 && receiver.asked() === 3,
      'one event is delivered by two sinks',
    )
  })

  /** By kind of sink: the members with the nth secret, and that secret. */
  const ROTATIONS: Readonly<Record<string, (n: number) => readonly [JsonObject, string]>> = {
    webhook: (n) => {
      const secret = `whsec_${Buffer.alloc(24, n).toString('base64')}`
      return [{ secret }, secret]
    },
    nats: (n) => [{ credentials: { user: 'u', password: `password ${n}.` } }, `password ${n}.`],
  }
  for (const [kind, rotated] of Object.entries(ROTATIONS)) {
    test(`sinks: a new secret stays when a replacement without one overlaps (${kind})`, async () => {
      await using place = await freshPlace()
      const url = kind === 'nats' ? 'nats://127.0.0.1:1' : 'http://127.0.0.1:1/'
      const sink = { url, kind, ...(kind === 'nats' && { subject: 'events' }) }
      await using service = await openServiceAt(place.location, { events: NEARBY })
      await create(service, { ...sink, name: 'a', roles: ['x'], ...rotated(0)[0] })
      for (let n = 1; n <= 10; n++) {
        const [members, secret] = rotated(n)
        await Promise.all([
          service.sinks.replace(ADMIN, 'a', { ...sink, roles: ['x'], ...members }),
          service.sinks.replace(ADMIN, 'a', { ...sink, roles: ['x', `y${n}`] }),
        ])
        assert.ok((await storedDefinition(place.location)).includes(secret), `rotation ${n} was undone`)
      }
    })
  }

  test('sinks: one that others change again and again is not replaced', async () => {
    await using place = await freshPlace()
    await using store = await openStore(place.location, { onError: failLoudly })
    const definition = readSink(sinkTo('http://127.0.0.1:1/', { name: 'a' }), { allowPrivateAddresses: true })
    await store.sinks.create({ name: 'a', definition: '{}', position: 0 })
    const replaceOvertaken = async (times: number): Promise<number> => {
      let reads = 0
      const read = async (name: string) => {
        const record = (await store.sinks.read(name))!
        if (reads++ < times) await store.sinks.replace(record, `{"change":${reads}}`)
        return record
      }
      const places = createSinkDatasources({
        stores: new Map([['default', { ...store, sinks: { ...store.sinks, read } }]]),
        datasourceOf: () => 'default',
      })
      await untilReplaced(async () => replaceSink(places, (await places.find('a'))!, definition))
      return reads
    }
    assert.equal(await replaceOvertaken(3), 4)
    assert.equal((await store.sinks.read('a'))!.definition, printDefinition(definition.definition))
    await assert.rejects(replaceOvertaken(4), refusal('store-crud:ConcurrentUpdate', /at the same time/))
    assert.equal((await store.sinks.read('a'))!.definition, '{"change":4}')
  })

  test('sinks: nothing of them can be done without the permission', async () => {
    await using place = await freshPlace()
    await using service = await openServiceAt(place.location)
    const { sinks } = service
    const nobody = { ...callerWith('admin'), permissions: new Set<never>() }
    const all = [
      () => sinks.create(nobody, {}),
      () => sinks.list(nobody),
      () => sinks.get(nobody, 'x'),
      () => sinks.replace(nobody, 'x', {}),
      () => sinks.remove(nobody, 'x'),
      () => sinks.dead(nobody, 'x', { parameters: new URLSearchParams() }),
      () => sinks.inspect(nobody, 'x', { eventId: 'y' }),
      () => sinks.redrive(nobody, 'x'),
      () => sinks.discard(nobody, 'x', 'y'),
    ]
    for (const each of all) await assert.rejects(each, refusal('crud:NoAccess', /events\.manage/))
  })

  test('sinks: an entity that is not known yet is waited for, one that is gone is not', async () => {
    const steps: string[] = []
    const answers = [false, false, true]
    const { renderEvent } = createSinkRendering({
      schemaOf() {
        steps.push('asked for the schema')
        throw new ServiceError('crud:UnknownEntity', 'there is none')
      },
      async isInStep() {
        const isInStep = answers.shift()!
        steps.push(isInStep ? 'in step' : 'not in step')
        return isInStep
      },
    })
    const details = '{"entityVersion":"1.0.0","principal":"","date":"","hook":{}}'
    const { signal } = new AbortController()
    const event = { ...keptEvent(1, 'd'), details }
    assert.equal(await renderEvent(event, callerWith('cook'), signal), 'invisible')
    assert.deepEqual(
      steps.filter((step) => step !== 'asked for the schema'),
      ['not in step', 'not in step', 'in step'],
    )
    // what is said of it counts after it was in step
    assert.equal(steps.at(-1), 'asked for the schema')
  })

  /** Makes so many events, and waits until they can be read. */
  async function makeEvents(store: Database, count: number): Promise<readonly number[]> {
    await write(store, insertion(Array.from({ length: count }, (_, i) => ({ _id: `d${i}` }))))
    await eventually(async () => (await allEvents(store)).length === count, 'they can be read')
    return (await allEvents(store)).map(({ seq }) => seq)
  }

  test('retention: a sink holds back events that it has yet to receive; a disabled one not for ever', async () => {
    await using place = await freshPlace()
    await using store = await openStore(place.location, { onError: failLoudly })
    await store.metadata.prepareCollection({ collection: SCHEMA.collection, indexes: [], paths: [] })
    const numbers = await makeEvents(store, 10)
    const warned: unknown[] = []
    const left = async (days: number): Promise<readonly number[]> => {
      await trimAll({
        stores: new Map([['default', store]]),
        keeping: { keepDays: 7, keepCount: 3, abandonDays: 20 },
        deliveredUpTo: () => deliveredUpTo(store, { areDisabledCounted: true }),
        enabledDeliveredUpTo: () => deliveredUpTo(store, { areDisabledCounted: false }),
        now: () => new Date(Date.now() + days * 86_400_000),
        onInternalError: (error) => void warned.push(error),
      })
      return (await allEvents(store)).map(({ seq }) => seq)
    }
    await store.sinks.create({ name: 'slow', definition: '{}', position: numbers[1]! })
    await store.sinks.create({ name: 'quick', definition: '{}', position: numbers[5]! })
    assert.deepEqual(await left(1_000), numbers.slice(2))
    const holder = { name: 'slow', owner: 'me' }
    assert.ok(await store.sinks.hold({ ...holder, ttlMs: 60_000 }))
    const progress = { position: numbers[1]!, isDisabled: true, failures: 1, retryAt: 0 }
    assert.ok(
      await store.sinks.recordResults(holder, {
        version: 1,
        progress,
        entered: [],
        changed: [],
        removed: [],
      }),
    )
    assert.deepEqual(await left(19), numbers.slice(2))
    assert.deepEqual(warned, [])
    assert.deepEqual(await left(21), numbers.slice(6))
    assert.match(String(warned), /4 events of the datasource default, older than 20 days, were removed/)
    await store.sinks.remove('slow')
    await store.sinks.remove('quick')
    assert.deepEqual(await left(1), numbers.slice(7))
  })
})
