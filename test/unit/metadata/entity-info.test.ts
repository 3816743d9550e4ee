import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Code } from '../../../src/base/errors.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
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
      { name: 'told', annotatedValues: [{ name: 'x', description: 'an x' }] },
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
      { name: 'told', values: ['x'], annotatedValues: [{ name: 'x', description: 'an x' }] },
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

test('entity info: a hook is a notification hook unless its configuration says audit', () => {
  const kinds = parse(
    infoOf({
      hooks: [
        { name: 'auditHook', actions: ['insert'] },
        { name: 'b', actions: ['delete'], configuration: { kind: 'audit' } },
      ],
    }),
  ).hooks.map(({ kind }) => kind)
  assert.deepEqual(kinds, ['notification', 'audit'])
})

const hook = (more: JsonObject) => infoOf({ hooks: [{ name: 'h', actions: ['insert'], ...more }] })
const index = (...fields: Json[]) => infoOf({ indexes: [{ fields }] })
const store = (datastore: Json) => infoOf({ datastore })

const REFUSED: readonly [rule: string, document: Json, code: Code][] = [
  ['a scalar', 5, 'metadata:IllFormedMetadata'],
  ['no name', {}, 'metadata:NoEntityName'],
  ['a blank name', { name: ' ' }, 'metadata:NoEntityName'],
  ['a name that is no text', { name: 5 }, 'metadata:IllFormedMetadata'],
  ['a name that begins with a digit', { name: '1a' }, 'metadata:InvalidName'],
  ['a name with a hyphen', { name: 'a-b' }, 'metadata:InvalidName'],
  ['a name that is too long', { name: 'a'.repeat(129) }, 'metadata:InvalidName'],
  ['a name taken by a route', { name: 'roles' }, 'metadata:InvalidName'],
  ['another name taken by a route', { name: 'dependencies' }, 'metadata:InvalidName'],
  ['the name of the health route', { name: 'health' }, 'metadata:InvalidName'],
  ['a default version that is no text', infoOf({ defaultVersion: 1 }), 'metadata:IllFormedMetadata'],
  ['a datastore that is null', store(null), 'metadata:IllFormedMetadata'],
  ['a datastore without backend', store({}), 'metadata:ParseMissingElement'],
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
  ['an unknown hook configuration', hook({ configuration: { watch: [] } }), 'metadata:InvalidHook'],
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
