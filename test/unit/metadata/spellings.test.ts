/** Spellings of Lightblue: how each is stored, and the warning it comes with. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { printMetadataDocument } from '../../../src/metadata/documents/metadata-document.ts'
import { openRegistry } from '../../../src/metadata/registry.ts'
import { memoryMetadata } from './memory-metadata.ts'
import { CONFIGURED, assertRejects, infoOf, metadataOf, schemaOf, versionOf } from './samples.ts'

const ONE = { entity: 'item', version: '1.0.0' }
const string = { type: 'string' }
const list = (fields: JsonObject): JsonObject => ({ type: 'array', items: { type: 'object', fields } })
const open = () => openRegistry(memoryMetadata(), { ...CONFIGURED, now: () => new Date(0) })

const FIELDS: readonly [
  rule: string,
  written: JsonObject,
  stored: JsonObject,
  warnings: readonly string[],
][] = [
  [
    'constraints as an array',
    { a: { ...string, constraints: [{ required: 1 }, { maxLength: 5 }] } },
    { a: { ...string, constraints: { required: true, maxLength: 5 } } },
    ['/schema/fields/a/constraints'],
  ],
  [
    'no constraints, as an array',
    { a: { ...string, constraints: [] } },
    { a: string },
    ['/schema/fields/a/constraints'],
  ],
  [
    'constraints of items as an array',
    { a: { type: 'array', items: { ...string, constraints: [{ minLength: 1 }] } } },
    { a: { type: 'array', items: { ...string, constraints: { minLength: 1 } } } },
    ['/schema/fields/a/items/constraints'],
  ],
  [
    'identity in an element, in an object in it, as an array',
    {
      a: list({
        k: { ...string, constraints: [{ identity: 1 }] },
        o: { type: 'object', fields: { x: { ...string, constraints: { identity: true } } } },
      }),
    },
    {
      a: list({
        k: { ...string, constraints: { 'element-identity': true } },
        o: { type: 'object', fields: { x: { ...string, constraints: { 'element-identity': true } } } },
      }),
    },
    [
      '/schema/fields/a/items/fields/k/constraints',
      '/schema/fields/a/items/fields/k/constraints/identity',
      '/schema/fields/a/items/fields/o/fields/x/constraints/identity',
    ],
  ],
  [
    'identity outside of arrays stays',
    { a: { ...string, constraints: { identity: 1 } } },
    { a: { ...string, constraints: { identity: true } } },
    [],
  ],
  [
    'a sequence without name',
    {
      a: { type: 'integer', valueGenerator: { type: 'IntSequence' } },
      o: {
        type: 'object',
        fields: {
          b: { type: 'integer', valueGenerator: { type: 'IntSequence', configuration: { initialValue: 7 } } },
        },
      },
    },
    {
      a: { type: 'integer', valueGenerator: { type: 'IntSequence', configuration: { name: 'item.a' } } },
      o: {
        type: 'object',
        fields: {
          b: {
            type: 'integer',
            valueGenerator: { type: 'IntSequence', configuration: { name: 'item.o.b', initialValue: 7 } },
          },
        },
      },
    },
    ['/schema/fields/a/valueGenerator', '/schema/fields/o/fields/b/valueGenerator'],
  ],
]
for (const [rule, written, stored, places] of FIELDS) {
  test(`spellings: ${rule}: stored in one form, with a warning each time`, async () => {
    const registry = await open()
    const body = metadataOf('item', { fields: written })
    const warnings = await registry.create('ann', ONE, body)
    assert.deepEqual(
      warnings.map(({ at }) => at),
      places,
    )
    for (const { code, severity, version, msg } of warnings) {
      assert.deepEqual([code, severity, version], ['lightblue-spelling', 'warning', '1.0.0'])
      assert.match(msg, /stored as/)
    }
    const plain = await open()
    assert.deepEqual(await plain.create('ann', ONE, metadataOf('item', { fields: stored })), [])
    const read = printMetadataDocument(registry.infoOf('item'), registry.documentOf('item', '1.0.0'))
    assert.deepEqual(read, printMetadataDocument(plain.infoOf('item'), plain.documentOf('item', '1.0.0')))
    const epoch = registry.epoch()
    assert.equal((await registry.create('ann', ONE, body)).length, places.length)
    assert.deepEqual(await registry.createSchema('ann', ONE, read['schema'] as Json), [])
    assert.equal(registry.epoch(), epoch, 'the same in either spelling')
  })
}

const INDEXED = {
  a: list({ b: string, c: list({ d: string }) }),
  s: { type: 'array', items: string },
  p: string,
}
const INDEXES: readonly [written: string, stored: string][] = [
  ['a.b', 'a.*.b'],
  ['a.*.b', 'a.*.b'],
  ['a.c.d', 'a.*.c.*.d'],
  ['a.*.c.d', 'a.*.c.*.d'],
  ['a.c.*.d', 'a.*.c.*.d'],
  ['s', 's'],
  ['s.*', 's.*'],
  ['p', 'p'],
  ['later.b', 'later.b'],
]
for (const [written, stored] of INDEXES) {
  test(`spellings: the index path ${written} is stored as ${stored}`, async () => {
    const registry = await open()
    const indexes = [{ fields: [{ field: written }] }]
    const body = metadataOf('item', { fields: INDEXED, info: { indexes } })
    const warnings = await registry.create('ann', ONE, body)
    const expected = written === stored ? [] : ['/entityInfo/indexes/0/fields/0/field']
    assert.deepEqual(
      warnings.map(({ at }) => at),
      expected,
    )
    assert.equal(registry.infoOf('item').indexes[0]!.fields[0]!.field, stored)
    const epoch = registry.epoch()
    await registry.create('ann', ONE, body)
    await registry.updateInfo('ann', 'item', infoOf({ indexes }))
    assert.equal(registry.epoch(), epoch, 'the same in either spelling')
  })
}

test('spellings: an index waits for its field, and then learns of the array', async () => {
  const registry = await open()
  const indexes = [{ name: 'x', unique: true, fields: [{ field: 'later.b' }] }]
  await registry.create('ann', ONE, metadataOf('item', { info: { indexes } }))
  const two = schemaOf({ later: list({ b: string }) }, versionOf('2.0.0'))
  const warnings = await registry.createSchema('ann', { entity: 'item', version: '2.0.0' }, two)
  assert.equal(warnings.length, 1)
  assert.equal(registry.infoOf('item').indexes[0]!.fields[0]!.field, 'later.*.b')
})

const REFUSED: readonly [
  rule: string,
  body: JsonObject,
  code: 'metadata:InvalidConstraint' | 'metadata:IllFormedMetadata' | 'metadata:InvalidIndex',
][] = [
  [
    'a constraint twice',
    metadataOf('item', {
      fields: { a: { ...string, constraints: [{ required: true }, { required: false }] } },
    }),
    'metadata:InvalidConstraint',
  ],
  [
    'an array of names',
    metadataOf('item', { fields: { a: { ...string, constraints: ['required'] } } }),
    'metadata:IllFormedMetadata',
  ],
  [
    'an unknown constraint in an array',
    metadataOf('item', { fields: { a: { ...string, constraints: [{ requird: true }] } } }),
    'metadata:InvalidConstraint',
  ],
  [
    'identity and element-identity at odds',
    metadataOf('item', {
      fields: { a: list({ k: { ...string, constraints: { identity: true, 'element-identity': false } } }) },
    }),
    'metadata:InvalidConstraint',
  ],
  [
    'identity of the elements themselves',
    metadataOf('item', {
      fields: { a: { type: 'array', items: { ...string, constraints: { identity: true } } } },
    }),
    'metadata:InvalidConstraint',
  ],
  [
    'one index in two spellings',
    metadataOf('item', {
      fields: INDEXED,
      info: { indexes: [{ fields: [{ field: 'a.b' }] }, { fields: [{ field: 'a.*.b' }] }] },
    }),
    'metadata:InvalidIndex',
  ],
]
for (const [rule, body, code] of REFUSED) {
  test(`spellings: ${rule} is ${code}`, async () => {
    await assertRejects((await open()).create('ann', ONE, body), code)
  })
}

const FULL = {
  defaultVersion: '1.0.0',
  datastore: { collection: 'things' },
  indexes: [
    { name: 'plain', fields: [{ field: 'label' }] },
    { name: 'only', unique: true, fields: [{ field: 'label', dir: '$desc' }] },
  ],
  hooks: [
    { name: 'h', actions: ['insert'] },
    { name: 'h', actions: ['update'] },
    { name: 'g', actions: ['delete'] },
  ],
}
const DROPPED: readonly [rule: string, change: JsonObject, codes: readonly string[]][] = [
  ['nothing', {}, []],
  ['an index', { indexes: FULL.indexes.slice(1) }, ['dropped-index']],
  ['a unique index', { indexes: FULL.indexes.slice(0, 1) }, ['dropped-index']],
  [
    'the word unique',
    { indexes: [FULL.indexes[0]!, { ...FULL.indexes[1], unique: false }] },
    ['dropped-index'],
  ],
  ['one of two hooks of a name', { hooks: FULL.hooks.slice(1) }, ['dropped-hook']],
  ['all hooks', { hooks: [] }, ['dropped-hook', 'dropped-hook', 'dropped-hook']],
  ['the default version', { defaultVersion: null }, ['dropped-default-version']],
  ['the collection', { datastore: {} }, ['dropped-collection']],
  ['the name of an index only', { indexes: FULL.indexes.map((each) => ({ ...each, name: null })) }, []],
]
for (const [rule, change, codes] of DROPPED) {
  test(`updateInfo: to drop ${rule} is said in warnings`, async () => {
    const registry = await open()
    await registry.create('ann', ONE, metadataOf('item', { info: FULL }))
    const warnings = await registry.updateInfo('ann', 'item', infoOf({ ...FULL, ...change }))
    assert.deepEqual(
      warnings.map(({ code }) => code),
      codes,
    )
    for (const { msg, at } of warnings) assert.ok(msg !== '' && at.startsWith('/entityInfo/'))
  })
}
