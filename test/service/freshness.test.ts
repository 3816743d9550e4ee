import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../../src/base/errors.ts'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { openRegistry } from '../../src/metadata/registry.ts'
import { openService } from '../../src/service/open.ts'
import { printResponse } from '../../src/service/response.ts'
import type { Service } from '../../src/service/service.ts'
import { attachSqliteStore } from '../../src/store/sqlite/attached-store.ts'
import { freshDatabase } from '../support/postgres.ts'
import {
  ADMIN,
  ANYONE,
  callerWith,
  codeOf,
  failLoudly,
  metadataDocument,
  openServiceAt,
  openTestService,
} from '../support/service.ts'
import { directoryOf } from '../support/store-kind.ts'

/** Services that share a database, as processes do. */
async function openSeveral(t: TestContext, count: number): Promise<readonly Service[]> {
  const opened = new AsyncDisposableStack()
  // In reverse: the schema goes when nobody asks it any more.
  t.after(() => opened.disposeAsync())
  const { url } = opened.use(await freshDatabase())
  const services = await Promise.all(Array.from({ length: count }, () => openServiceAt(url)))
  for (const service of services) opened.use(service)
  return services
}

function itemWith(fields: Json, version = '1.0.0'): Json {
  return {
    entityInfo: { name: 'item', defaultVersion: version, datastore: { backend: 'postgres' } },
    schema: {
      name: 'item',
      version: { value: version, changelog: 'made' },
      status: { value: 'active' },
      access: ANYONE,
      fields,
    },
  }
}

/** How long it takes until the check holds, in milliseconds. */
async function timeUntil(check: () => boolean | Promise<boolean>): Promise<number> {
  const start = performance.now()
  while (!(await check())) {
    assert.ok(performance.now() - start < 30_000, 'it never comes true')
    await sleep(5)
  }
  return performance.now() - start
}

test('start: several services begin on an empty database at once', async (t) => {
  const services = await openSeveral(t, 4)
  await Promise.all(services.map((service) => service.ready()))
  for (const service of services) {
    assert.deepEqual(service.metadata.names(ADMIN, undefined), { entities: ['savedSearch'] })
    assert.equal(((await service.metadata.history(ADMIN, 'savedSearch')) as readonly Json[]).length, 1)
  }
})

test('metadata: what one service changes, another one sees within a second', async (t) => {
  const [first, second] = (await openSeveral(t, 2)) as [Service, Service]
  const string = { type: 'string' }
  await first.metadata.create(ADMIN, { entity: 'item', version: '1.0.0' }, itemWith({ name: string }))
  const isKnown = (version: string) => (): boolean => {
    try {
      return second.metadata.get(ADMIN, 'item', version) !== undefined
    } catch (error) {
      if (error instanceof ServiceError && error.code.startsWith('metadata:Missing')) return false
      throw error
    }
  }
  const times = [await timeUntil(isKnown('1.0.0'))]
  const next = itemWith({ name: string, more: string }, '2.0.0')
  await first.metadata.create(ADMIN, { entity: 'item', version: '2.0.0' }, next)
  times.push(await timeUntil(isKnown('2.0.0')))
  const inserted = await second.data.insert(ADMIN, { entity: 'item' }, { data: { name: 'a', more: 'b' } })
  assert.equal(inserted.status, 'COMPLETE')
  await first.metadata.setStatus(ADMIN, { entity: 'item', version: '1.0.0' }, { status: 'disabled' })
  times.push(
    await timeUntil(async () => {
      const found = await second.data.find(ADMIN, { entity: 'item', version: '1.0.0' }, EVERYTHING)
      return found.status === 'ERROR' && codeOf(found) === 'crud:DisabledMetadataVersion'
    }),
  )
  for (const ms of times) assert.ok(ms < 1_000, times.join(', '))
})

test('metadata: what a thread changed before it was ended is seen, too', async () => {
  await using tester = await openTestService()
  const { service, location } = tester
  await using thread = attachSqliteStore({
    directory: directoryOf(location),
    borrow: () => service.lendWriter('default'),
  })
  const configured = { backends: ['sqlite'], datasources: ['default'], backendOf: () => 'sqlite' } as const
  const registry = await openRegistry(thread.metadata, { ...configured, now: () => new Date() })
  const item = metadataDocument('item', { name: { type: 'string' } })
  await registry.create('tester', { entity: 'item', version: '1.0.0' }, item)
  const names = (): Json => (service.metadata.names(ADMIN, undefined) as JsonObject)['entities']!
  await timeUntil(() => (names() as Json[]).includes('item'))
})

const EVERYTHING = { query: { field: '_id', op: '!=', rvalue: '' }, projection: { field: '*' } }

test('metadata: services that share two databases agree about the second one, too', async (t) => {
  const databases = [await freshDatabase(), await freshDatabase()]
  t.after(() => Promise.all(databases.map((database) => database[Symbol.asyncDispose]())))
  const datasources = ['default', 'archive'].map((name, i) => ({ name, location: databases[i]!.url }))
  const open = () => openService({ datasources, limits: DEFAULT_LIMITS, onInternalError: failLoudly })
  await using first = await open()
  await using second = await open()
  const far = (indexes: Json) => ({
    name: 'item',
    defaultVersion: '1.0.0',
    datastore: { backend: 'postgres', datasource: 'archive' },
    indexes,
  })
  const { schema } = itemWith({ name: { type: 'string' } }) as { schema: Json }
  await first.metadata.create(ADMIN, { entity: 'item', version: '1.0.0' }, { entityInfo: far([]), schema })
  await timeUntil(() => (second.metadata.names(ADMIN, undefined) as { entities: Json[] }).entities.length > 1)
  const insert = async (service: Service, name: string) =>
    printResponse(await service.data.insert(ADMIN, { entity: 'item' }, { data: { name } }))
  assert.match(await insert(second, 'a'), /"COMPLETE"/)
  assert.match(await insert(first, 'b'), /"COMPLETE"/)
  assert.equal((await second.data.find(ADMIN, { entity: 'item' }, EVERYTHING)).matchCount, 2)
  const unique = [{ name: 'byName', unique: true, fields: [{ field: 'name' }] }]
  await second.metadata.updateInfo(ADMIN, 'item', far(unique))
  assert.match(await insert(first, 'a'), /"store-crud:Duplicate"/)
  await first.metadata.updateInfo(ADMIN, 'item', far([]))
  assert.match(await insert(second, 'a'), /"COMPLETE"/)
})

test('documentVersion: the mark of a hidden _id means the same to every service', async (t) => {
  const [first, second] = (await openSeveral(t, 2)) as [Service, Service]
  const clerk = callerWith('clerk')
  const fields = { _id: { type: 'string', access: { find: ['admin'] } }, name: { type: 'string' } }
  await first.metadata.create(ADMIN, { entity: 'item', version: '1.0.0' }, itemWith(fields))
  await timeUntil(() => (second.metadata.names(ADMIN, undefined) as { entities: Json[] }).entities.length > 1)
  await first.data.insert(ADMIN, { entity: 'item' }, { data: { _id: 'secret', name: 'a' } })
  const query = { field: 'name', op: '=', rvalue: 'a' }
  const find = { query, projection: { field: 'name' } }
  const { resultMetadata } = await first.data.find(clerk, { entity: 'item' }, find)
  const { documentVersion } = JSON.parse(resultMetadata![0]!) as { documentVersion: string }
  assert.ok(!documentVersion.includes('secret'))
  const update = {
    query,
    update: { $set: { name: 'b' } },
    onlyIfCurrent: true,
    documentVersions: [documentVersion],
  }
  assert.equal((await second.data.update(clerk, { entity: 'item' }, update)).modifiedCount, 1)
})
