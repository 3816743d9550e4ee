/** Limits of metadata: told when it is written, and not held against what is stored. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ServiceError } from '../../../src/base/errors.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { openRegistry } from '../../../src/metadata/registry.ts'
import { metadataService } from '../../../src/service/metadata/metadata.ts'
import { callerWith } from '../../support/service.ts'
import { memoryMetadata } from '../../unit/metadata/memory-metadata.ts'
import { ANYONE, CONFIGURED, infoOf, metadataOf, schemaOf, versionOf } from '../../unit/metadata/samples.ts'

const ONE = { entity: 'item', version: '1.0.0' }
const OPTIONS = { ...CONFIGURED, now: () => new Date(0) }
const string = { type: 'string' }
const SMALL = {
  versionFields: 4,
  versionRoles: 3,
  entityVersions: 2,
  entityCharacters: 1_000,
  entityIndexes: 2,
  indexFields: 2,
}

const fields = (count: number, field: JsonObject = string): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, field]))
const keys = (count: number): Json => Array.from({ length: count }, (_, i) => ({ field: `f${i}` }))
const indexes = (count: number): readonly JsonObject[] =>
  Array.from({ length: count }, (_, i) => ({ fields: [{ field: `f${i}` }] }))
const inside = (count: number): JsonObject => ({ f: { type: 'object', fields: fields(count - 1) } })
const elements = (count: number): JsonObject => ({
  f: { type: 'array', items: { type: 'object', fields: fields(count - 1) } },
})
const ID_INDEX = { unique: true, fields: [{ field: '_id' }] }

const rolesInFields = (count: number): JsonObject =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`f${i}`, { ...string, access: { find: [`r${i}`, 'anyone'] } }]),
  )

const CASES: readonly (readonly [what: string, limit: keyof typeof SMALL, make: (count: number) => Json])[] =
  [
    ['fields', 'versionFields', (count) => metadataOf('item', { fields: fields(count) })],
    ['fields in objects', 'versionFields', (count) => metadataOf('item', { fields: inside(count) })],
    ['fields in array elements', 'versionFields', (count) => metadataOf('item', { fields: elements(count) })],
    [
      'declared ones beside predefined ones',
      'versionFields',
      (count) => metadataOf('item', { fields: { ...fields(count), _id: string, objectType: string } }),
    ],
    ['roles of fields', 'versionRoles', (count) => metadataOf('item', { fields: rolesInFields(count) })],
    [
      'roles of the entity and of row rules',
      'versionRoles',
      (count) => {
        const rule = (i: number): JsonObject => ({ role: `r${i}`, where: { $and: [] } })
        const find = ['anyone', 'r0', ...Array.from({ length: count }, (_, i) => rule(i))]
        return metadataOf('item', { schema: { access: { ...ANYONE, find } } })
      },
    ],
    [
      'indexes',
      'entityIndexes',
      (count) => metadataOf('item', { fields: fields(3), info: { indexes: [ID_INDEX, ...indexes(count)] } }),
    ],
    [
      'fields of an index',
      'indexFields',
      (count) => metadataOf('item', { fields: fields(3), info: { indexes: [{ fields: keys(count) }] } }),
    ],
    [
      'identity fields',
      'indexFields',
      (count) =>
        metadataOf('item', { fields: fields(count, { ...string, constraints: { identity: true } }) }),
    ],
  ]

for (const [what, limit, make] of CASES) {
  test(`metadata: ${what} have a limit, which is named with the count`, async () => {
    const registry = await openRegistry(memoryMetadata(), { ...OPTIONS, limits: SMALL })
    const count = SMALL[limit]
    await assert.rejects(registry.create('ann', ONE, make(count + 1)), (error) => {
      assert.ok(error instanceof ServiceError)
      assert.equal(error.code, 'crud:LimitExceeded')
      assert.match(
        error.message,
        new RegExp(`at most ${count} .*there are ${count + 1}\\b.*limits\\.${limit}`),
      )
      return true
    })
    await registry.create('ann', ONE, make(count))
    assert.equal(registry.schemaOf('item', '1.0.0').entity, 'item')
  })
}

test('metadata: versions of an entity have a limit', async () => {
  const registry = await openRegistry(memoryMetadata(), { ...OPTIONS, limits: SMALL })
  const add = (version: string): Promise<unknown> =>
    registry.create('ann', { entity: 'item', version }, metadataOf('item', { schema: versionOf(version) }))
  await add('1.0.0')
  await add('2.0.0-SNAPSHOT')
  await assert.rejects(add('3.0.0'), { code: 'crud:LimitExceeded' })
  await assert.rejects(
    registry.createSchema(
      'ann',
      { entity: 'item', version: '3.0.0' },
      schemaOf(fields(1), versionOf('3.0.0')),
    ),
    { code: 'crud:LimitExceeded' },
  )
  const replaced = metadataOf('item', { schema: versionOf('2.0.0-SNAPSHOT'), fields: fields(2) })
  await registry.create('ann', { entity: 'item', version: '2.0.0-SNAPSHOT' }, replaced)
})

test('metadata: versions that are too long together admit no further one', async () => {
  const registry = await openRegistry(memoryMetadata(), { ...OPTIONS, limits: SMALL })
  await registry.create('ann', ONE, metadataOf('item', { fields: { ['x'.repeat(1_000)]: string } }))
  const further = schemaOf(fields(1), versionOf('2.0.0'))
  const problem =
    /at most 1000 characters in all versions of "item", and there are \d+; .*limits.entityCharacters/
  await assert.rejects(registry.createSchema('ann', { entity: 'item', version: '2.0.0' }, further), {
    code: 'crud:LimitExceeded',
    message: problem,
  })
  await registry.setStatus('ann', ONE, { status: 'deprecated' })
})

test('metadata: what is stored beyond a limit goes on to be served and changed otherwise', async () => {
  const store = memoryMetadata()
  const before = await openRegistry(store, OPTIONS)
  const info = { defaultVersion: '1.0.0', indexes: indexes(5) }
  await before.create('ann', ONE, metadataOf('item', { fields: fields(10), info }))
  const registry = await openRegistry(store, { ...OPTIONS, limits: SMALL })
  assert.equal(registry.schemaOf('item').root.fields.size, 12)
  await registry.setDefault('ann', 'item', undefined)
  await registry.setStatus('ann', ONE, { status: 'deprecated' })
  await assert.rejects(registry.updateInfo('ann', 'item', infoOf({ indexes: indexes(3) })), {
    code: 'crud:LimitExceeded',
  })
  await registry.updateInfo('ann', 'item', infoOf({ indexes: indexes(2) }))
})

test('metadata: limits are told before a document is parsed, whoever sends it', async () => {
  const registry = await openRegistry(memoryMetadata(), { ...OPTIONS, limits: SMALL })
  const service = metadataService(registry, CONFIGURED, { ...DEFAULT_LIMITS, ...SMALL })
  const caller = { ...callerWith('clerk'), permissions: new Set(['metadata.insert'] as const) }
  const unsound = metadataOf('item', { fields: fields(5, { type: 'nonsense' }) })
  await assert.rejects(async () => service.create(caller, ONE, unsound), { code: 'crud:LimitExceeded' })
})

test('metadata: the limits are those of the documentation', () => {
  const { versionFields, versionRoles, entityVersions, entityCharacters, entityIndexes, indexFields } =
    DEFAULT_LIMITS
  assert.deepEqual(
    [versionFields, versionRoles, entityVersions, entityCharacters, entityIndexes, indexFields],
    [2_000, 500, 1_000, 16_000_000, 100, 32],
  )
})
