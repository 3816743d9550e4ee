import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Code } from '../../../src/base/errors.ts'
import { type Json, type JsonObject, member } from '../../../src/base/json/json.ts'
import { parseEntityInfo, printEntityInfo } from '../../../src/metadata/documents/entity-info.ts'
import { CONFIGURED, assertCode, infoOf } from './samples.ts'

const parse = (value: Json) => parseEntityInfo(value, '', CONFIGURED)
const print = (value: Json) => printEntityInfo(parse(value))
const ID_INDEX = { name: null, unique: true, fields: [{ field: '_id', dir: '$asc', caseInsensitive: false }] }

test('entity info: the least document is printed with all its defaults', () => {
  const expected = {
    name: 'item',
    indexes: [ID_INDEX],
    datastore: { datasource: 'main', collection: 'item', backend: 'sqlite' },
    _id: 'item|',
  }
  assert.equal(JSON.stringify(print({ name: 'item' })), JSON.stringify(expected))
})

test('entity info: everything is printed back in one order, unknown keys included', () => {
  const written = {
    _id: 'whatever',
    note: { a: [1, null] },
    hooks: [
      {
        configuration: {
          watchProjection: [{ field: 'a', include: true }],
          includeProjection: [],
          arrayOrderingSignificant: true,
        },
        actions: ['update', 'insert', 'insert'],
        name: 'watch',
        extra: 1,
      },
    ],
    enums: [
      { name: 'plain', values: ['a', 'b', 'a'] },
      { name: 'annotated', annotatedValues: [{ name: 'x', description: 'an x' }] },
    ],
    indexes: [{ fields: [{ field: 'a', dir: '$desc' }], partial: true }],
    datastore: { backend: 'postgres', datasource: 'wide', collection: 'things', hint: 1 },
    defaultVersion: '1.0.0',
    name: 'item',
  }
  const expected = {
    name: 'item',
    defaultVersion: '1.0.0',
    indexes: [
      {
        name: null,
        unique: false,
        fields: [{ field: 'a', dir: '$desc', caseInsensitive: false }],
        partial: true,
      },
      ID_INDEX,
    ],
    enums: [
      { name: 'plain', values: ['a', 'b'] },
      { name: 'annotated', values: ['x'], annotatedValues: [{ name: 'x', description: 'an x' }] },
    ],
    hooks: [
      {
        name: 'watch',
        actions: ['insert', 'update'],
        configuration: written.hooks[0]!.configuration,
        extra: 1,
      },
    ],
    datastore: { datasource: 'wide', collection: 'things', backend: 'postgres', hint: 1 },
    note: { a: [1, null] },
    _id: 'item|',
  }
  const printed = print(written)
  assert.equal(JSON.stringify(printed), JSON.stringify(expected))
  assert.equal(JSON.stringify(print(printed)), JSON.stringify(printed))
})

test('entity info: a null default version is none', () => {
  assert.equal(parse(infoOf({ defaultVersion: null })).defaultVersion, undefined)
})

const KINDS: readonly [rule: string, kind: string, hook: JsonObject][] = [
  ['without configuration', 'notification', { name: 'b' }],
  ['with an empty configuration', 'notification', { name: 'b', configuration: {} }],
  ['that watches something', 'notification', { name: 'b', configuration: { watchProjection: [], mode: 1 } }],
  ['whose configuration says so', 'audit', { name: 'b', configuration: { kind: 'audit' } }],
  ['named auditHook', 'audit', { name: 'auditHook' }],
  ['named auditHook, configured', 'audit', { name: 'auditHook', configuration: { mode: 'full' } }],
  [
    'with the entity that Lightblue wrote to',
    'audit',
    { name: 'b', configuration: { entityName: 'audit', version: '1.0.0' } },
  ],
  [
    'named auditHook that says otherwise',
    'notification',
    { name: 'auditHook', configuration: { kind: 'notification' } },
  ],
  [
    'with a configuration of its own',
    'inert',
    { name: 'publishHook', configuration: { eventConfigurations: [] } },
  ],
]
for (const [rule, kind, written] of KINDS) {
  test(`entity info: a hook ${rule} is of kind ${kind}, and printed as written`, () => {
    const info = parse(infoOf({ hooks: [{ actions: ['insert'], ...written }] }))
    assert.equal(info.hooks[0]!.kind, kind)
    assert.deepEqual(member(printEntityInfo(info), 'hooks'), [{ actions: ['insert'], ...written }])
  })
}

test('entity info: 0 and 1 are false and true', () => {
  const info = parse(
    infoOf({
      history: 1,
      indexes: [
        { unique: 1, fields: [{ field: 'a', caseInsensitive: 1 }] },
        { unique: 0, fields: [{ field: 'b', caseInsensitive: 0 }] },
      ],
      hooks: [{ name: 'h', actions: ['insert'], configuration: { arrayOrderingSignificant: 1 } }],
    }),
  )
  const printed = printEntityInfo(info)
  assert.equal(printed.history, true)
  assert.deepEqual(
    info.indexes.slice(0, 2).map(({ unique, fields }) => [unique, fields[0]!.caseInsensitive]),
    [
      [true, true],
      [false, false],
    ],
  )
  assert.deepEqual(printed.hooks, [
    { name: 'h', actions: ['insert'], configuration: { arrayOrderingSignificant: true } },
  ])
})

const STORED: readonly [rule: string, datastore: JsonObject, stored: JsonObject][] = [
  ['without anything', {}, { datasource: 'main', collection: 'item', backend: 'sqlite' }],
  [
    'with a datasource',
    { datasource: 'wide' },
    { datasource: 'wide', collection: 'item', backend: 'postgres' },
  ],
  ['with a backend', { backend: 'sqlite' }, { datasource: 'main', collection: 'item', backend: 'sqlite' }],
  ['with a hyphen', { collection: '_a-b' }, { datasource: 'main', collection: '_a-b', backend: 'sqlite' }],
]
for (const [rule, datastore, stored] of STORED) {
  test(`entity info: a datastore ${rule} is printed with all its defaults`, () => {
    assert.deepEqual(printEntityInfo(parse(infoOf({ datastore }))).datastore, stored)
  })
}

for (const name of ['a-b', '_a', '_', 'A-1_']) {
  test(`entity info: ${name} names an entity`, () => {
    assert.equal(parse(infoOf({ name })).name, name)
  })
}

const hook = (more: JsonObject) => infoOf({ hooks: [{ name: 'h', actions: ['insert'], ...more }] })
const index = (...fields: Json[]) => infoOf({ indexes: [{ fields }] })
const store = (datastore: Json) => infoOf({ datastore })

const REFUSED: readonly [rule: string, document: Json, code: Code][] = [
  ['a scalar', 5, 'metadata:IllFormedMetadata'],
  ['no name', {}, 'metadata:NoEntityName'],
  ['a blank name', { name: ' ' }, 'metadata:NoEntityName'],
  ['a name that is no text', { name: 5 }, 'metadata:IllFormedMetadata'],
  ['a name that begins with a digit', { name: '1a' }, 'metadata:InvalidName'],
  ['a name that begins with a hyphen', { name: '-a' }, 'metadata:InvalidName'],
  ['a name with a dot', { name: 'a.b' }, 'metadata:InvalidName'],
  ['a name that every object has', { name: '__proto__' }, 'metadata:InvalidName'],
  ['a name that is too long', { name: 'a'.repeat(129) }, 'metadata:InvalidName'],
  ['a name taken by a route', { name: 'roles' }, 'metadata:InvalidName'],
  ['another name taken by a route', { name: 'dependencies' }, 'metadata:InvalidName'],
  ['the name of the health route', { name: 'health' }, 'metadata:InvalidName'],
  ['a default version that is no text', infoOf({ defaultVersion: 1 }), 'metadata:IllFormedMetadata'],
  ['a datastore that is null', store(null), 'metadata:IllFormedMetadata'],
  ['a blank backend', store({ backend: ' ' }), 'metadata:ParseMissingElement'],
  ['2 for a boolean', infoOf({ history: 2 }), 'metadata:IllFormedMetadata'],
  ['an unknown backend', store({ backend: 'mongo' }), 'metadata:UnknownBackend'],
  ['an unknown datasource', store({ backend: 'sqlite', datasource: 'x' }), 'metadata:InvalidDatastore'],
  [
    'a datasource of another backend',
    store({ backend: 'sqlite', datasource: 'wide' }),
    'metadata:InvalidDatastore',
  ],
  ['a bad collection', store({ backend: 'sqlite', collection: 'a.b' }), 'metadata:InvalidDatastore'],
  ['a collection that is no text', store({ backend: 'sqlite', collection: 1 }), 'metadata:IllFormedMetadata'],
  ['indexes that are null', infoOf({ indexes: null }), 'metadata:IllFormedMetadata'],
  ['an index without fields', infoOf({ indexes: [{ name: 'x' }] }), 'metadata:ParseMissingElement'],
  ['an index with no field', index(), 'metadata:ParseMissingElement'],
  ['an index field without its field', index({ dir: '$asc' }), 'metadata:ParseMissingElement'],
  ['an unknown direction', index({ field: 'a', dir: 'asc' }), 'metadata:InvalidIndex'],
  [
    'a case flag that is no boolean',
    index({ field: 'a', caseInsensitive: 'no' }),
    'metadata:IllFormedMetadata',
  ],
  [
    'unique that is no boolean',
    infoOf({ indexes: [{ unique: 'true', fields: [{ field: 'a' }] }] }),
    'metadata:IllFormedMetadata',
  ],
  ['an index of _id that is not unique', index({ field: '_id' }), 'metadata:InvalidIndex'],
  [
    'two indexes of the same fields',
    infoOf({
      indexes: [{ fields: [{ field: 'a' }] }, { unique: true, fields: [{ field: 'a.*', dir: '$asc' }] }],
    }),
    'metadata:InvalidIndex',
  ],
  ['enums that are no list', infoOf({ enums: {} }), 'metadata:IllFormedMetadata'],
  ['an enum without name', infoOf({ enums: [{ values: ['a'] }] }), 'metadata:ParseMissingElement'],
  ['an enum without values', infoOf({ enums: [{ name: 'e' }] }), 'metadata:ParseMissingElement'],
  ['an enum with no value', infoOf({ enums: [{ name: 'e', values: [] }] }), 'metadata:ParseMissingElement'],
  ['an enum of numbers', infoOf({ enums: [{ name: 'e', values: [1] }] }), 'metadata:IllFormedMetadata'],
  [
    'an annotated value without description',
    infoOf({ enums: [{ name: 'e', annotatedValues: [{ name: 'a' }] }] }),
    'metadata:ParseMissingElement',
  ],
  [
    'values and annotated values that differ',
    infoOf({ enums: [{ name: 'e', values: ['b'], annotatedValues: [{ name: 'a', description: 'd' }] }] }),
    'metadata:IllFormedMetadata',
  ],
  [
    'two enums of one name',
    infoOf({
      enums: [
        { name: 'e', values: ['a'] },
        { name: 'e', values: ['b'] },
      ],
    }),
    'metadata:DuplicateEnum',
  ],
  ['a hook that is no object', infoOf({ hooks: [1] }), 'metadata:InvalidHook'],
  ['a hook without name', infoOf({ hooks: [{ actions: ['insert'] }] }), 'metadata:InvalidHook'],
  ['a hook without actions', infoOf({ hooks: [{ name: 'h' }] }), 'metadata:InvalidHook'],
  ['a hook on find', hook({ actions: ['find'] }), 'metadata:InvalidHook'],
  ['a hook on something unknown', hook({ actions: ['insert', 'save'] }), 'metadata:InvalidHook'],
  ['a hook configuration that is no object', hook({ configuration: [] }), 'metadata:InvalidHook'],
  ['an unknown kind of hook', hook({ configuration: { kind: 'webhook' } }), 'metadata:InvalidHook'],
  [
    'a bad watch projection',
    hook({ configuration: { watchProjection: [{ include: true }] } }),
    'metadata:InvalidHook',
  ],
  ['a bad include projection', hook({ configuration: { includeProjection: 'a' } }), 'metadata:InvalidHook'],
  ['a bad hook projection', hook({ projection: 'a' }), 'metadata:InvalidHook'],
  [
    'arrayOrderingSignificant that is no boolean',
    hook({ configuration: { arrayOrderingSignificant: 'no' } }),
    'metadata:InvalidHook',
  ],
]
for (const [rule, document, code] of REFUSED) {
  test(`entity info: ${rule} is ${code}`, () => assertCode(() => parse(document), code))
}
