import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { openService } from '../../src/service/open.ts'
import { printResponse } from '../../src/service/response.ts'
import type { Service } from '../../src/service/service.ts'
import type { StoreKind } from '../../src/store/store.ts'
import { ADMIN, ANYONE, EVERYTHING, callerWith, documentsOf, failLoudly } from '../support/service.ts'
import { freshPlace } from '../support/store-kind.ts'
import { openTwoDatasources } from '../support/two-datasources.ts'

const KINDS: readonly (readonly [first: StoreKind, second: StoreKind])[] = [
  ['sqlite', 'sqlite'],
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
  ['postgres', 'postgres'],
]

/** Opens a service on the same two stores each time. */
type Open = () => Promise<Service>

/** A test for every pair of kinds of stores, the default one and the datasource `archive`. */
function testOn(name: string, work: (open: Open, backends: Backends) => Promise<void>): void {
  for (const kinds of KINDS) {
    test(`${name} (${kinds.join(', ')})`, async () => {
      await using first = await freshPlace(kinds[0])
      await using second = await freshPlace(kinds[1])
      const datasources = [
        { name: 'default', location: first.location },
        { name: 'archive', location: second.location },
      ]
      await work(() => openService({ datasources, limits: DEFAULT_LIMITS, onInternalError: failLoudly }), {
        near: { backend: kinds[0], datasource: 'default' },
        far: { backend: kinds[1], datasource: 'archive' },
      })
    })
  }
}

/** How metadata names the two stores. */
type Backends = Readonly<Record<'near' | 'far', JsonObject>>

const string = { type: 'string' }
const NUMBERED: JsonObject = {
  name: string,
  no: {
    type: 'integer',
    constraints: { required: true },
    valueGenerator: { type: 'IntSequence', configuration: { name: 'numbers' } },
  },
}

interface Definition {
  readonly datastore: JsonObject
  readonly info?: JsonObject
  readonly version?: string
  readonly access?: JsonObject
}

function define(service: Service, entity: string, fields: Json, more: Definition): Promise<Json> {
  const { datastore, info = {}, version = '1.0.0', access = ANYONE } = more
  return service.metadata.create(
    ADMIN,
    { entity, version },
    {
      entityInfo: {
        name: entity,
        defaultVersion: version,
        datastore,
        ...info,
      },
      schema: {
        name: entity,
        version: { value: version, changelog: 'made' },
        status: { value: 'active' },
        access,
        fields,
      },
    },
  )
}

async function insert(service: Service, entity: string, data: Json): Promise<readonly JsonObject[]> {
  const response = await service.data.insert(ADMIN, { entity }, { data, projection: EVERYTHING })
  assert.equal(response.status, 'COMPLETE', printResponse(response))
  return documentsOf(response)
}

const ALL = { query: { field: 'name', op: '!=', rvalue: '' }, projection: EVERYTHING }

testOn(
  'datasources: documents live where their entity says, and are found again after a restart',
  async (open, { near, far }) => {
    {
      await using service = await open()
      await define(service, 'near', { name: string }, { datastore: near })
      await define(service, 'far', { name: string }, { datastore: far })
      await insert(service, 'near', { _id: '1', name: 'a' })
      await insert(service, 'far', [
        { _id: '1', name: 'b' },
        { _id: '2', name: 'c' },
      ])
    }
    await using service = await open()
    const names = async (entity: string): Promise<readonly Json[]> =>
      documentsOf(await service.data.find(ADMIN, { entity }, { ...ALL, sort: { name: '$asc' } })).map(
        ({ name }) => name!,
      )
    assert.deepEqual([await names('near'), await names('far')], [['a'], ['b', 'c']])
    const lines: string[] = []
    const stream = await service.data.stream(ADMIN, { entity: 'far' }, ALL)
    assert.ok(Symbol.asyncIterator in stream)
    for await (const line of stream) lines.push(line)
    assert.equal(lines.length, 4)
  },
)

testOn('datasources: a datasource that is not configured is refused', async (open, { near }) => {
  await using service = await open()
  await assert.rejects(
    define(service, 'x', { name: string }, { datastore: { ...near, datasource: 'nowhere' } }),
    {
      code: 'metadata:InvalidDatastore',
    },
  )
})

const UNIQUE = { indexes: [{ name: 'byName', unique: true, fields: [{ field: 'name' }] }] }

testOn(
  'datasources: an index of another datasource is kept, and one that cannot be built refuses the change',
  async (open, { far }) => {
    await using service = await open()
    const at = { datastore: far }
    await define(service, 'far', { name: string }, at)
    await insert(service, 'far', [{ name: 'a' }, { name: 'a' }])
    const info = { name: 'far', defaultVersion: '1.0.0', ...at, ...UNIQUE }
    await assert.rejects(service.metadata.updateInfo(ADMIN, 'far', info), { code: 'metadata:InvalidIndex' })
    // the refused index holds nobody up
    await insert(service, 'far', { name: 'a' })

    await define(service, 'single', { name: string }, { ...at, info: UNIQUE })
    await insert(service, 'single', { name: 'a' })
    const again = () => service.data.insert(ADMIN, { entity: 'single' }, { data: { name: 'a' } })
    assert.equal((await again()).dataErrors?.[0]?.errors[0]?.errorCode, 'store-crud:Duplicate')
    const without = { ...info, name: 'single', indexes: [] }
    await service.metadata.updateInfo(ADMIN, 'single', without)
    assert.equal((await again()).status, 'COMPLETE')
  },
)

testOn(
  'datasources: a version of another datasource hides what only other versions store',
  async (open, { far }) => {
    {
      await using service = await open()
      await define(service, 'far', { name: string }, { datastore: far })
      await define(service, 'far', { name: string, more: string }, { datastore: far, version: '2.0.0' })
      await insert(service, 'far', { _id: '1', name: 'a', more: 'b' })
    }
    await using service = await open()
    const first = await service.data.find(ADMIN, { entity: 'far', version: '1.0.0' }, ALL)
    assert.deepEqual(documentsOf(first), [{ _id: '1', objectType: 'far', name: 'a' }])
  },
)

testOn(
  'datasources: entities of several datasources share a sequence and no value of it',
  async (open, { near, far }) => {
    await using service = await open()
    await define(service, 'near', NUMBERED, { datastore: near })
    await define(service, 'far', NUMBERED, { datastore: far })
    const numbers: Json[] = []
    const draw = async (entity: string, response: ReturnType<Service['data']['save']>): Promise<void> => {
      const settled = await response
      assert.equal(settled.status, 'COMPLETE', printResponse(settled))
      const documents = documentsOf(settled)
      assert.ok(documents.length > 0, entity)
      numbers.push(...documents.map(({ no }) => no!))
    }
    for (const entity of ['far', 'near', 'far']) {
      const named = Array.from({ length: 20 }, (_, i) => ({ _id: `${numbers.length}-${i}`, name: 'x' }))
      const body = { upsert: true, data: named, projection: EVERYTHING }
      await draw(entity, service.data.save(ADMIN, { entity }, body))
      await draw(
        entity,
        service.data.insert(ADMIN, { entity }, { data: [{ name: 'y' }], projection: EVERYTHING }),
      )
      // taken away, the number is made anew
      const fresh = { query: { field: 'name', op: '=', rvalue: 'x' }, update: { $unset: 'no' } }
      await draw(entity, service.data.update(ADMIN, { entity }, { ...fresh, projection: EVERYTHING }))
      numbers.push(
        ...(await service.data.generate(ADMIN, { entity }, 'no', '3')).processed!.map((text) =>
          JSON.parse(text),
        ),
      )
    }
    assert.equal(new Set(numbers).size, numbers.length)
  },
)

testOn(
  'datasources: an atomic bulk elsewhere draws from the shared sequence, and changes each document once',
  async (open, { near, far }) => {
    await using service = await open()
    await define(service, 'near', NUMBERED, { datastore: near })
    await define(service, 'far', { ...NUMBERED, times: { type: 'integer' } }, { datastore: far })
    const [taken] = await insert(service, 'near', { name: 'n' })
    await insert(service, 'far', { _id: '0', name: 'a', times: 0 })
    const query = { field: '_id', op: '=', rvalue: '0' }
    const data = Array.from({ length: 40 }, (_, i) => ({ _id: `s${i}`, name: 'b' }))
    const requests = [
      { seq: 1, op: 'update', request: { entity: 'far', query, update: { $add: { times: 1 } } } },
      { seq: 2, op: 'save', request: { entity: 'far', upsert: true, data, projection: EVERYTHING } },
      { seq: 3, op: 'insert', request: { entity: 'far', data: [{ name: 'c' }], projection: EVERYTHING } },
    ]
    const { responses } = JSON.parse(await service.data.bulk(ADMIN, { atomic: true, requests }))
    const written = [...responses[1].response.processed, ...responses[2].response.processed]
    const numbers = written.map(({ no }: JsonObject) => no)
    assert.equal(new Set([taken!['no'], ...numbers]).size, 42)
    const found = await service.data.find(ADMIN, { entity: 'far' }, { query, projection: EVERYTHING })
    assert.equal(documentsOf(found)[0]!['times'], 1)
  },
)

testOn(
  'bulk: an atomic one over two datasources is refused before anything runs',
  async (open, { near, far }) => {
    await using service = await open()
    await define(service, 'near', { name: string }, { datastore: near })
    await define(service, 'far', { name: string }, { datastore: far })
    const requests = ['near', 'far', 'near'].map((entity, i) => ({
      seq: i,
      op: 'insert',
      request: { entity, data: { name: 'a' } },
    }))
    const codes = async (atomic: boolean) => {
      const { responses } = JSON.parse(await service.data.bulk(ADMIN, { atomic, requests }))
      return responses.map(({ response }: JsonObject) => {
        const { errors = [] } = response as { errors?: { errorCode: string; msg: string }[] }
        return errors.map(({ errorCode, msg }) => (errorCode === 'crud:InvalidRequest' ? msg : errorCode))
      })
    }
    const [[first], [second], [third]] = await codes(true)
    assert.deepEqual([first, third], ['crud:Rolledback', 'crud:Rolledback'])
    assert.match(second, /must stay within one datasource, and this entry needs documents of another/)
    const counts = async () =>
      Promise.all(
        ['near', 'far'].map(async (entity) => (await service.data.find(ADMIN, { entity }, ALL)).matchCount),
      )
    assert.deepEqual(await counts(), [0, 0])
    assert.deepEqual(await codes(false), [[], [], []])
    assert.deepEqual(await counts(), [2, 1])
  },
)

testOn('bulk: an atomic one within another datasource is taken back there', async (open, { far }) => {
  await using service = await open()
  await define(service, 'far', { name: string }, { datastore: far })
  const requests = ['1', '2', '1'].map((_id, i) => ({
    seq: i,
    op: 'insert',
    request: { entity: 'far', data: { _id, name: 'a' } },
  }))
  await service.data.bulk(ADMIN, { atomic: true, requests })
  assert.equal((await service.data.find(ADMIN, { entity: 'far' }, ALL)).matchCount, 0)
  await service.data.bulk(ADMIN, { atomic: true, requests: requests.slice(0, 2) })
  assert.equal((await service.data.find(ADMIN, { entity: 'far' }, ALL)).matchCount, 2)
})

testOn('documentVersion: the mark of a hidden _id is good after a restart', async (open, { far }) => {
  const clerk = callerWith('clerk')
  const fields = { _id: { ...string, access: { find: ['admin'] } }, name: string }
  const version = async (service: Service): Promise<string> => {
    const { resultMetadata } = await service.data.find(clerk, { entity: 'e' }, ALL)
    return (JSON.parse(resultMetadata![0]!) as { documentVersion: string }).documentVersion
  }
  let before: string
  {
    await using service = await open()
    await define(service, 'e', fields, { datastore: far })
    await insert(service, 'e', { _id: 'secret', name: 'a' })
    before = await version(service)
    assert.ok(!before.includes('secret'))
  }
  await using service = await open()
  assert.equal(await version(service), before)
  const body = {
    query: ALL.query,
    update: { $set: { name: 'b' } },
    onlyIfCurrent: true,
    documentVersions: [before],
  }
  assert.equal((await service.data.update(clerk, { entity: 'e' }, body)).modifiedCount, 1)
})

test('datasources: one out of reach stops its own entities only', async () => {
  await using place = await freshPlace('sqlite')
  // nobody listens on the first port of all
  const datasources = [
    { name: 'default', location: place.location },
    { name: 'archive', location: 'postgres://nobody@127.0.0.1:1/nothing' },
  ]
  await using service = await openService({
    datasources,
    limits: DEFAULT_LIMITS,
    onInternalError: failLoudly,
  })
  await assert.rejects(service.ready(), { code: 'crud:Unavailable' })
  await define(service, 'near', { name: string }, { datastore: { backend: 'sqlite' } })
  await insert(service, 'near', { name: 'a' })
  assert.equal((await service.data.find(ADMIN, { entity: 'near' }, ALL)).matchCount, 1)
  const far = { backend: 'postgres', datasource: 'archive' }
  await assert.rejects(define(service, 'far', { name: string }, { datastore: far }), {
    code: 'crud:Unavailable',
  })
})

test('datasources: a transaction that runs again, for values of another store, counts its response once', async () => {
  await using service = await openTwoDatasources({ limits: { resultBytes: 10_000 } })
  await service.define('page', 'far', { text: { type: 'string' } })
  await service.define('numbered', 'far', {
    n: {
      type: 'integer',
      constraints: { required: true },
      valueGenerator: { type: 'IntSequence', configuration: { name: 'numbers' } },
    },
  })
  await service.store('page', [{ _id: '1', text: 'x'.repeat(6_000) }])
  const requests = [
    { seq: 1, op: 'find', request: { entity: 'page', query: { $and: [] }, projection: EVERYTHING } },
    {
      seq: 2,
      op: 'save',
      request: { entity: 'numbered', data: [{ _id: 'a' }], upsert: true, projection: EVERYTHING },
    },
  ]
  const parts = await service.service.data.bulk(ADMIN, { atomic: true, requests })
  assert.equal(parts.match(/"status":"COMPLETE"/g)?.length, 2)
})
