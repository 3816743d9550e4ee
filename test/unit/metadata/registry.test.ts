import assert from 'node:assert/strict'
import { test } from 'node:test'

import { type Code, ServiceError } from '../../../src/base/errors.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { printMetadataDocument } from '../../../src/metadata/documents/metadata-document.ts'
import { type Registry, openRegistry } from '../../../src/metadata/registry.ts'
import { type MemoryMetadata, memoryMetadata } from './memory-metadata.ts'
import { CONFIGURED, assertCode, assertRejects, infoOf, metadataOf, schemaOf, versionOf } from './samples.ts'

const NOW = new Date('2024-01-02T03:04:05.678Z')
const OPTIONS = { ...CONFIGURED, now: () => NOW }
const ONE = { entity: 'item', version: '1.0.0' }
const TWO = { entity: 'item', version: '2.0.0' }
const string = { type: 'string' }

async function open(): Promise<{ readonly registry: Registry; readonly store: MemoryMetadata }> {
  const store = memoryMetadata()
  return { store, registry: await openRegistry(store, OPTIONS) }
}

/** A registry that holds `item` 1.0.0, its default version. */
async function withItem(more: Parameters<typeof metadataOf>[1] = {}) {
  const opened = await open()
  const info = { defaultVersion: '1.0.0', ...more.info }
  await opened.registry.create('ann', ONE, metadataOf('item', { ...more, info }))
  return opened
}

function print(registry: Registry, entity: string, version: string): JsonObject {
  return printMetadataDocument(registry.infoOf(entity), registry.documentOf(entity, version))
}

test('registry: a created version is there, also for another process', async () => {
  const { registry, store } = await withItem()
  assert.equal(registry.schemaOf('item').version, '1.0.0')
  assert.equal(registry.schemaOf('item', '1.0.0'), registry.schemaOf('item'))
  const other = await openRegistry(store, OPTIONS)
  assert.deepEqual(print(other, 'item', '1.0.0'), print(registry, 'item', '1.0.0'))
})

test('registry: reload takes over what others changed and keeps what did not change', async () => {
  const { registry, store } = await withItem()
  const other = await openRegistry(store, OPTIONS)
  const schema = other.schemaOf('item')
  await registry.create('ann', { entity: 'b', version: '1.0.0' }, metadataOf('b'))
  assertCode(() => other.schemaOf('b', '1.0.0'), 'crud:UnknownEntity')
  await other.reload()
  assert.equal(other.schemaOf('b', '1.0.0').entity, 'b')
  assert.equal(other.schemaOf('item'), schema)
})

test('registry: data routes say what is missing', async () => {
  const { registry } = await withItem()
  await registry.create(
    'ann',
    TWO,
    metadataOf('item', { schema: { ...versionOf('2.0.0'), status: { value: 'disabled' } } }),
  )
  assertCode(() => registry.schemaOf('nobody'), 'crud:UnknownEntity')
  assertCode(() => registry.schemaOf('item', '9.0.0'), 'crud:UnknownEntity')
  assertCode(() => registry.schemaOf('item', '2.0.0'), 'crud:DisabledMetadataVersion')
  assertCode(() => registry.schemaOf('item'), 'crud:NoDefaultVersion')
})

test('create: what is read can be written again, which changes nothing', async () => {
  const { registry, store } = await withItem()
  await registry.create('bob', ONE, print(registry, 'item', '1.0.0'))
  assert.equal((await store.readMetadataHistory('item')).length, 1)
})

test('create: the same version with other content is refused, unless it is a snapshot', async () => {
  const { registry } = await withItem()
  await assertRejects(
    registry.create('bob', ONE, metadataOf('item', { fields: { other: string } })),
    'metadata:DuplicateSchema',
  )
  await assertRejects(registry.create('bob', ONE, metadataOf('item')), 'metadata:DuplicateSchema')
  const snapshot = { entity: 'item', version: '2.0.0-SNAPSHOT' }
  const schema = versionOf('2.0.0-SNAPSHOT')
  await registry.create('bob', snapshot, metadataOf('item', { schema }))
  await registry.create('bob', snapshot, metadataOf('item', { schema, fields: { other: string } }))
  assert.ok(registry.schemaOf('item', '2.0.0-SNAPSHOT').root.fields.has('other'))
})

test('create: another version replaces entity info with it, or nothing happens', async () => {
  const { registry, store } = await withItem()
  const next = metadataOf('item', { info: { note: 'new' }, schema: versionOf('2.0.0') })
  store.failWith(new ServiceError('metadata:InvalidIndex', 'duplicates'))
  await assertRejects(registry.create('bob', TWO, next), 'metadata:InvalidIndex')
  assert.equal(registry.infoOf('item').defaultVersion, '1.0.0')
  assertCode(() => registry.documentOf('item', '2.0.0'), 'metadata:MissingSchema')
  await registry.create('bob', TWO, next)
  assert.equal(registry.infoOf('item').defaultVersion, undefined)
  assert.deepEqual(
    registry.versionsOf('item').map(({ version }) => version.value),
    ['1.0.0', '2.0.0'],
  )
})

const CREATE_REFUSED: readonly [rule: string, body: Json, code: Code][] = [
  ['a scalar', 1, 'metadata:IllFormedMetadata'],
  ['no entity info', { schema: schemaOf({ a: string }) }, 'metadata:ParseMissingElement'],
  ['no schema', { entityInfo: infoOf() }, 'metadata:ParseMissingElement'],
  ['an unknown key', { ...metadataOf('item'), extra: 1 }, 'metadata:IllFormedMetadata'],
  ['no entity name', { entityInfo: {}, schema: schemaOf({ a: string }) }, 'metadata:NoEntityName'],
  ['another entity name', metadataOf('thing'), 'rest-metadata:NoNameMatch'],
  ['another schema name', metadataOf('item', { schema: { name: 'thing' } }), 'rest-metadata:NoNameMatch'],
  ['another version', metadataOf('item', { schema: versionOf('1.0.1') }), 'rest-metadata:NoVersionMatch'],
  [
    'a default version that does not exist',
    metadataOf('item', { info: { defaultVersion: '7.0.0' } }),
    'metadata:InvalidDefaultVersion',
  ],
  [
    'a default version that is disabled',
    metadataOf('item', { info: { defaultVersion: '1.0.0' }, schema: { status: { value: 'disabled' } } }),
    'metadata:DisabledDefaultVersion',
  ],
  [
    'an unknown enum',
    metadataOf('item', { fields: { a: { ...string, constraints: { enum: 'e' } } } }),
    'metadata:InvalidEnum',
  ],
  [
    'an unknown enum of items',
    metadataOf('item', {
      fields: { a: { type: 'array', items: { ...string, constraints: { enum: 'e' } } } },
    }),
    'metadata:InvalidEnum',
  ],
]
for (const [rule, body, code] of CREATE_REFUSED) {
  test(`create: ${rule} is ${code}`, async () => {
    const { registry } = await open()
    await assertRejects(registry.create('ann', ONE, body), code)
    assert.deepEqual(registry.names(), [])
  })
}

test('create: an entity may refer to itself, to others, and to what does not exist yet', async () => {
  const { registry } = await withItem()
  const fields = {
    self: { type: 'reference', entity: 'b', versionValue: '1.0.0' },
    item: { type: 'reference', entity: 'item', versionValue: '1.0.0' },
  }
  await registry.create('ann', { entity: 'b', version: '1.0.0' }, metadataOf('b', { fields }))
  const later = { item: { type: 'reference', entity: 'item', versionValue: '8.0.0' } }
  await registry.create('ann', { entity: 'c', version: '1.0.0' }, metadataOf('c', { fields: later }))
})

test('create: the store receives the collection, its indexes and every path', async () => {
  const id = { type: 'string', constraints: { identity: true } }
  const { registry, store } = await withItem({ fields: { code: id } })
  const { collection, indexes, paths } = store.prepared.get('item')!
  assert.deepEqual(collection, { datasource: 'main', name: 'item', entity: 'item' })
  assert.deepEqual(
    indexes.map(({ unique, fields }) => [unique, fields[0]!.path]),
    [[true, 'code']],
  )
  const forms = ['$text.code', '$text._id', '$text.objectType']
  assert.deepEqual(paths, ['code', '_id', 'objectType', ...forms, '$ordered'])
  assert.equal(registry.schemaOf('item').coversCollection, true)
})

test('createSchema: a version is added, bare or in a whole document, and info stays', async () => {
  const { registry, store } = await withItem()
  const id = { type: 'string', constraints: { identity: true } }
  await registry.createSchema('bob', TWO, schemaOf({ code: id }, versionOf('2.0.0')))
  assert.equal(registry.infoOf('item').defaultVersion, '1.0.0')
  assert.equal(store.prepared.get('item')!.indexes.length, 1)
  assert.equal(registry.schemaOf('item').coversCollection, false)
  const three = { entity: 'item', version: '3.0.0' }
  const body = metadataOf('item', { info: { note: 'ignored' }, schema: versionOf('3.0.0') })
  await registry.createSchema('bob', three, body)
  assert.deepEqual(registry.infoOf('item').properties, {})
})

test('createSchema: its refusals', async () => {
  const { registry } = await withItem()
  const schema = schemaOf({ a: string }, versionOf('2.0.0'))
  const nobody = { entity: 'nobody', version: '2.0.0' }
  await assertRejects(
    registry.createSchema('bob', nobody, { ...schema, name: 'nobody' }),
    'metadata:MissingEntityInfo',
  )
  await assertRejects(registry.createSchema('bob', nobody, schema), 'rest-metadata:NoNameMatch')
  await assertRejects(registry.createSchema('bob', ONE, schema), 'rest-metadata:NoVersionMatch')
  await assertRejects(registry.createSchema('bob', ONE, schemaOf({ z: string })), 'metadata:DuplicateSchema')
  await assertRejects(registry.createSchema('bob', TWO, { schema, entityInfo: {} }), 'metadata:NoEntityName')
})

test('updateInfo: entity info is replaced as a whole', async () => {
  const { registry } = await withItem({ info: { note: 1, hooks: [{ name: 'h', actions: ['insert'] }] } })
  await registry.updateInfo('bob', 'item', infoOf({ defaultVersion: '1.0.0', other: 2 }))
  const info = registry.infoOf('item')
  assert.deepEqual([info.properties, info.hooks], [{ other: 2 }, []])
})

test('updateInfo: its refusals', async () => {
  const fields = { a: { ...string, constraints: { enum: 'e' } } }
  const { registry } = await withItem({ info: { enums: [{ name: 'e', values: ['x'] }] }, fields })
  await assertRejects(registry.updateInfo('bob', 'item', {}), 'metadata:NoEntityName')
  await assertRejects(
    registry.updateInfo('bob', 'item', infoOf({ name: 'thing' })),
    'rest-metadata:NoNameMatch',
  )
  await assertRejects(
    registry.updateInfo('bob', 'nobody', infoOf({ name: 'nobody' })),
    'metadata:MissingEntityInfo',
  )
  await assertRejects(registry.updateInfo('bob', 'item', infoOf()), 'metadata:UpdateInvalidatesMetadata')
})

test('updateInfo: a disabled version does not hold back an enum, and cannot come back without it', async () => {
  const fields = { a: { ...string, constraints: { enum: 'e' } } }
  const { registry } = await withItem({
    info: { defaultVersion: null, enums: [{ name: 'e', values: ['x'] }] },
    fields,
  })
  await registry.setStatus('bob', ONE, { status: 'disabled' })
  await registry.updateInfo('bob', 'item', infoOf())
  await assertRejects(registry.setStatus('bob', ONE, { status: 'active' }), 'metadata:InvalidEnum')
})

test('setStatus: the log keeps what was left, when and why', async () => {
  const { registry } = await withItem()
  await registry.setStatus('bob', ONE, { status: 'deprecated', comment: 'old' })
  await registry.setStatus('bob', ONE, { status: 'deprecated' })
  const date = '20240102T03:04:05.678+0000'
  assert.deepEqual((print(registry, 'item', '1.0.0').schema as JsonObject).status, {
    value: 'deprecated',
    log: [
      { date, value: 'active', comment: 'old' },
      { date, value: 'deprecated' },
    ],
  })
})

test('setStatus: its refusals', async () => {
  const { registry } = await withItem()
  await assertRejects(
    registry.setStatus('bob', ONE, { status: 'disabled' }),
    'metadata:DisabledDefaultVersion',
  )
  await assertRejects(registry.setStatus('bob', ONE, { status: 'Active' }), 'metadata:ParseInvalidStatus')
  await assertRejects(registry.setStatus('bob', TWO, { status: 'active' }), 'metadata:MissingSchema')
  await assertRejects(
    registry.setStatus('bob', { entity: 'nobody', version: '1.0.0' }, { status: 'active' }),
    'metadata:MissingEntityInfo',
  )
})

test('setDefault: sets, clears, and refuses what cannot be the default', async () => {
  const { registry } = await withItem()
  await registry.setDefault('bob', 'item', undefined)
  assert.equal(registry.infoOf('item').defaultVersion, undefined)
  await registry.setStatus('bob', ONE, { status: 'disabled' })
  await assertRejects(registry.setDefault('bob', 'item', '1.0.0'), 'metadata:DisabledDefaultVersion')
  await assertRejects(registry.setDefault('bob', 'item', '9.0.0'), 'metadata:InvalidDefaultVersion')
  await assertRejects(registry.setDefault('bob', 'nobody', '1.0.0'), 'metadata:MissingEntityInfo')
})

test('remove: needs every version disabled, and keeps the history', async () => {
  const { registry, store } = await withItem()
  await assertRejects(registry.remove('bob', 'item'), 'metadata:CannotDeleteEntity')
  await assertRejects(registry.remove('bob', 'nobody'), 'metadata:MissingEntityInfo')
  await registry.setDefault('bob', 'item', undefined)
  await registry.setStatus('bob', ONE, { status: 'disabled' })
  await registry.remove('bob', 'item')
  assert.deepEqual(registry.names(), [])
  const actions = (await store.readMetadataHistory('item')).map(({ action }) => action)
  assert.deepEqual(actions, ['create', 'clearDefault', 'setStatus', 'remove'])
})

test('history: says who, when and what', async () => {
  const { registry } = await withItem()
  await registry.updateInfo('bob', 'item', infoOf({ defaultVersion: '1.0.0', note: 1 }))
  const [created, updated] = await registry.historyOf('item')
  assert.deepEqual(
    [created!.at, created!.principal, created!.version, created!.before],
    [NOW.toISOString(), 'ann', '1.0.0', null],
  )
  assert.deepEqual(Object.keys(JSON.parse(created!.after!)), ['entityInfo', 'schema'])
  assert.equal(JSON.parse(updated!.before!).entityInfo.note, undefined)
  assert.equal(JSON.parse(updated!.after!).entityInfo.note, 1)
})

test('changes: many at once are made one after the other, a failing one stops none', async () => {
  const { registry } = await withItem()
  const results = await Promise.allSettled([
    ...Array.from({ length: 8 }, (_, i) => {
      const version = `2.0.${i}`
      return registry.createSchema(
        'ann',
        { entity: 'item', version },
        schemaOf({ a: string }, versionOf(version)),
      )
    }),
    registry.remove('ann', 'item'),
    registry.createSchema('ann', TWO, schemaOf({ a: string }, versionOf('2.0.0'))),
  ])
  assert.deepEqual(results.map(({ status }) => status).filter((status) => status === 'rejected').length, 1)
  assert.equal(registry.versionsOf('item').length, 9)
})

test('registry: an entity has at most 50 hooks, but keeps those it had before', async () => {
  const hooks = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ name: `h${i}`, actions: ['insert'] }))
  const infoWith = (count: number) => infoOf({ name: 'item', defaultVersion: '1.0.0', hooks: hooks(count) })
  const { registry, store } = await withItem({ info: { hooks: hooks(50) } })
  await assertRejects(registry.updateInfo('ann', 'item', infoWith(51)), 'crud:LimitExceeded')
  await assertRejects(
    registry.create(
      'ann',
      { entity: 'b', version: '1.0.0' },
      metadataOf('b', { info: { hooks: hooks(51) } }),
    ),
    'crud:LimitExceeded',
  )
  const [change] = await store.readMetadataHistory('item')
  const written = { entity: 'item', info: JSON.stringify(infoWith(60)), schemas: [], history: change! }
  await store.changeMetadata({ entities: [written], expectedEpoch: await store.readEpoch() })
  await registry.reload()
  assert.equal(registry.infoOf('item').hooks.length, 60)
  await assertRejects(registry.updateInfo('ann', 'item', infoWith(61)), 'crud:LimitExceeded')
  await registry.create('ann', TWO, metadataOf('item', { info: infoWith(60), schema: versionOf('2.0.0') }))
  await registry.updateInfo('ann', 'item', infoWith(55))
  await assertRejects(registry.updateInfo('ann', 'item', infoWith(56)), 'crud:LimitExceeded')
})
