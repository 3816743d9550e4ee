import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../../src/base/errors.ts'
import { type Registry, openRegistry } from '../../../src/metadata/registry.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Collection } from '../../../src/schema/schema.ts'
import type { CollectionDefinition } from '../../../src/store/metadata-records.ts'
import type { Database } from '../../../src/store/database.ts'
import { freshPlace } from '../../support/store-kind.ts'
import { type MemoryMetadata, memoryMetadata } from '../../unit/metadata/memory-metadata.ts'

interface Fixture extends AsyncDisposable {
  readonly registry: Registry
  readonly metadata: MemoryMetadata
  /** How many indexes the other store was asked for, each time. */
  readonly asked: readonly number[]
  readonly other: { isAway: boolean }
}

/** Metadata in memory, whose changes can be made to fail, and documents in a real store beside it. */
async function open(): Promise<Fixture> {
  const place = await freshPlace('sqlite')
  const store: Database = await openStore(place.location)
  const metadata = memoryMetadata()
  const asked: number[] = []
  const state = { isAway: false }
  const check = (): void => {
    if (state.isAway) throw new ServiceError('crud:Unavailable', 'away')
  }
  const other = {
    async readMetadata() {
      check()
      return await store.metadata.readMetadata()
    },
    async prepareCollection(definition: CollectionDefinition) {
      check()
      asked.push(definition.indexes.length)
      await store.metadata.prepareCollection(definition)
    },
    hasDocuments: (collection: Collection) => store.metadata.hasDocuments(collection),
    dropCollection: (collection: Collection) => store.metadata.dropCollection(collection),
  }
  const registry = await openRegistry(metadata, {
    backends: ['sqlite'],
    datasources: ['default', 'archive'],
    backendOf: () => 'sqlite',
    others: new Map([['archive', other]]),
    now: () => new Date(0),
  })
  return {
    registry,
    metadata,
    asked,
    other: state,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
  }
}

const INDEX = { name: 'byName', unique: true, fields: [{ field: 'name' }] }
const OTHER_INDEX = { name: 'byId', unique: false, fields: [{ field: 'objectType' }] }

function infoWith(indexes: readonly object[]) {
  const datastore = { backend: 'sqlite', datasource: 'archive' }
  return JSON.parse(JSON.stringify({ name: 'far', defaultVersion: '1.0.0', datastore, indexes }))
}

async function create({ registry }: Fixture, indexes: readonly object[] = []): Promise<void> {
  const schema = {
    name: 'far',
    version: { value: '1.0.0', changelog: 'made' },
    status: { value: 'active' },
    access: {},
    fields: { name: { type: 'string' } },
  }
  const body = { entityInfo: infoWith(indexes), schema }
  await registry.create('tester', { entity: 'far', version: '1.0.0' }, body)
}

test('registry: indexes elsewhere are added before metadata changes and dropped after it', async () => {
  await using fixture = await open()
  await create(fixture, [INDEX])
  const made = fixture.asked.at(-1)!
  fixture.metadata.prepared.clear()
  await fixture.registry.updateInfo('tester', 'far', infoWith([OTHER_INDEX]))
  const [before, after] = fixture.asked.slice(-2)
  assert.ok(before! > made, `${before} > ${made}`)
  assert.equal(after, made)
  // the store of the metadata has nothing to do with the collection
  assert.equal(fixture.metadata.prepared.size, 0)
})

test('registry: what was prepared elsewhere for a change that failed is taken back', async () => {
  await using fixture = await open()
  await create(fixture)
  const made = fixture.asked.at(-1)!
  fixture.metadata.failWith(new Error('disk full'))
  await assert.rejects(fixture.registry.updateInfo('tester', 'far', infoWith([INDEX])), /disk full/)
  assert.deepEqual(fixture.asked.slice(-2), [made + 1, made])
})

test('registry: a datasource out of reach hides no entity, and a version covers it only once that is known', async () => {
  await using fixture = await open()
  await create(fixture)
  const { registry } = fixture
  assert.equal(registry.schemaOf('far').coversCollection, true)
  fixture.other.isAway = true
  await assert.rejects(registry.updateInfo('tester', 'far', infoWith([INDEX])), { code: 'crud:Unavailable' })
  await registry.create('tester', { entity: 'near', version: '1.0.0' }, near())
  assert.deepEqual([registry.isPartial(), registry.schemaOf('far').coversCollection], [true, false])
  assert.equal(registry.schemaOf('near').coversCollection, true)
  fixture.other.isAway = false
  await registry.reload()
  assert.deepEqual([registry.isPartial(), registry.schemaOf('far').coversCollection], [false, true])
})

function near() {
  return {
    entityInfo: { name: 'near', defaultVersion: '1.0.0', datastore: { backend: 'sqlite' } },
    schema: {
      name: 'near',
      version: { value: '1.0.0', changelog: 'made' },
      status: { value: 'active' },
      access: {},
      fields: { name: { type: 'string' } },
    },
  }
}
