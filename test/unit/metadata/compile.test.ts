import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Code } from '../../../src/base/errors.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { compileSchema, pathsStored } from '../../../src/metadata/compile.ts'
import { parseEntityInfo } from '../../../src/metadata/documents/entity-info.ts'
import { indexDefinitions } from '../../../src/metadata/index-definitions.ts'
import { parseSchemaDocument } from '../../../src/metadata/documents/schema-document.ts'
import { type Schema, allFields } from '../../../src/schema/schema.ts'
import { CONFIGURED, assertCode, infoOf, schemaOf, versionOf } from './samples.ts'

function compile(fields: Json, { info = {}, schema = {}, stored = [] as readonly string[] } = {}): Schema {
  const entityInfo = parseEntityInfo(infoOf(info), '', CONFIGURED)
  return compileSchema(entityInfo, parseSchemaDocument(schemaOf(fields, schema), ''), stored)
}

const NESTED = {
  top: { type: 'string', access: { find: ['t'] } },
  sites: {
    type: 'array',
    access: { find: ['s'], update: ['u'] },
    items: {
      type: 'object',
      fields: {
        city: { type: 'string', access: { find: ['c'] } },
        phones: { type: 'array', items: { type: 'string' } },
      },
    },
  },
  o: {
    type: 'object',
    access: { insert: ['i'] },
    fields: { x: { type: 'integer', access: { insert: ['j'] } } },
  },
  ref: { type: 'reference', entity: 'other', query: { field: 'a', op: '=', rvalue: 1 } },
  ver: { type: 'string', documentVersion: true },
}

test('compile: each field has its path, with * for elements', () => {
  const schema = compile(NESTED)
  const paths = [...allFields(schema.root.fields)].map(({ path }) => path)
  assert.deepEqual(paths, [
    'top',
    'sites',
    'sites.*.city',
    'sites.*.phones',
    'sites.*.phones#',
    'sites#',
    'o',
    'o.x',
    'ref',
    'ver',
    '_id',
    'objectType',
  ])
  const sites = schema.root.fields.get('sites')
  assert.ok(sites?.kind === 'array')
  assert.deepEqual([sites.element.name, sites.element.path], ['*', 'sites.*'])
})

test('compile: the roles of a field are every non-empty list on the way down', () => {
  const fields = new Map(
    [...allFields(compile(NESTED).root.fields)].map((field) => [field.path, field.roles]),
  )
  assert.deepEqual(fields.get('sites.*.city'), { find: [['s'], ['c']], insert: [], update: [['u']] })
  assert.deepEqual(fields.get('sites.*.phones'), { find: [['s']], insert: [], update: [['u']] })
  assert.deepEqual(fields.get('o.x'), { find: [], insert: [['i'], ['j']], update: [] })
})

test('compile: the size of an array is guarded like the array, whatever it declares itself', () => {
  const array = { type: 'array', items: { type: 'string' }, access: { find: ['hr'] } }
  const { root } = compile({ 'x#': { type: 'integer', access: { find: ['anyone'] } }, x: array })
  assert.deepEqual(root.fields.get('x#')?.roles.find, [['hr'], ['anyone']])
})

test('compile: identity is the declared fields by path, else _id', () => {
  const id = { type: 'string', constraints: { identity: true } }
  const paths = (fields: Json) => compile(fields).identity.map(({ path }) => path)
  assert.deepEqual(paths({ z: id, o: { type: 'object', fields: { b: id } }, a: { type: 'string' } }), [
    'o.b',
    'z',
  ])
  assert.deepEqual(paths({ a: { type: 'string', constraints: { identity: false } } }), ['_id'])
})

test('compile: a virtual resultMetadata object is a field of type any', () => {
  const field = compile({ meta: { type: 'object', resultMetadata: true } }).root.fields.get('meta')
  assert.ok(field?.kind === 'simple')
  assert.deepEqual([field.type.name, field.virtual], ['any', 'resultMetadata'])
})

test('compile: enums become sets of values, sequences have 64-bit numbers', () => {
  const { root } = compile(
    {
      e: { type: 'string', constraints: { enum: 'colours' } },
      n: {
        type: 'integer',
        valueGenerator: {
          type: 'IntSequence',
          configuration: { name: 's', initialValue: '9007199254740993' },
        },
      },
    },
    { info: { enums: [{ name: 'colours', values: ['red'] }] } },
  )
  assert.deepEqual(root.fields.get('e')?.constraints.enum, { name: 'colours', values: new Set(['red']) })
  const n = root.fields.get('n')
  assert.ok(n?.kind === 'simple')
  assert.deepEqual(n.generator?.sequence, { name: 's', initialValue: 9007199254740993n, increment: 1n })
})

test('compile: a schema covers its collection when it knows every path ever stored', () => {
  const fields = { a: { type: 'string' }, v: { type: 'string', documentVersion: true } }
  assert.equal(compile(fields, { stored: ['a', '_id', 'objectType'] }).coversCollection, true)
  assert.equal(compile(fields, { stored: ['a', 'b'] }).coversCollection, false)
  assert.equal(compile(fields, { stored: ['v'] }).coversCollection, false)
})

test('compile: references and virtual fields are not stored', () => {
  const paths = pathsStored(compile(NESTED).root.fields)
  assert.ok(!paths.includes('ref') && !paths.includes('ver') && paths.includes('sites.*.city'))
})

const string = { type: 'string' }
const V2 = versionOf('2.0.0')
const index = (...fields: Json[]): JsonObject => ({ indexes: [{ fields }] })

function define(info: JsonObject, ...schemas: Schema[]) {
  return indexDefinitions(parseEntityInfo(infoOf(info), '', CONFIGURED), schemas)
}

test('indexes: the plain index of _id is the store’s own', () => {
  assert.deepEqual(define({}, compile({ a: string })), [])
})

test('indexes: both ways to name the elements of a simple array mean them', () => {
  const schema = compile({ a: { type: 'array', items: string } })
  for (const field of ['a', 'a.*']) {
    const [definition] = define(index({ field, caseInsensitive: true, dir: '$desc' }), schema)
    assert.deepEqual(definition, {
      unique: false,
      fields: [{ path: 'a.*', type: 'string', descending: true, caseInsensitive: true }],
    })
  }
})

test('indexes: identities of versions in use are unique, once each', () => {
  const id = { type: 'string', constraints: { identity: true } }
  const disabled = { ...versionOf('3.0.0'), status: { value: 'disabled' } }
  const schemas = [
    compile({ a: id, b: id }),
    compile({ a: id, b: id }, { schema: V2 }),
    compile({ c: id }, { schema: disabled }),
  ]
  const plain = (path: string) => ({ path, type: 'string', descending: false, caseInsensitive: false })
  assert.deepEqual(define({}, ...schemas), [{ unique: true, fields: [plain('a'), plain('b')] }])
})

test('indexes: a declared unique index over the identity serves it', () => {
  const schema = compile({ a: { type: 'string', constraints: { identity: true } } })
  assert.equal(
    define({ indexes: [{ unique: true, fields: [{ field: 'a', dir: '$desc' }] }] }, schema).length,
    1,
  )
})

test('indexes: a field that only a disabled version has keeps its index', () => {
  const gone = compile({ a: string }, { schema: { status: { value: 'disabled' } } })
  assert.equal(define(index({ field: 'a' }), gone, compile({ b: string }, { schema: V2 })).length, 1)
})

for (const field of ['z', 'sites.city', 'sites.0.city', 'plain.x']) {
  test(`indexes: one on ${field}, which no version has, is not built`, () => {
    assert.deepEqual(define(index({ field }), compile(NESTED)), [])
    assert.deepEqual(define(index({ field: 'sites.*.city' }, { field }), compile(NESTED)), [])
  })
}

test('indexes: one is built when a version defines its fields', () => {
  const later = compile({ z: string }, { schema: V2 })
  assert.equal(define(index({ field: 'z' }), compile({ a: string }), later).length, 1)
})

const REFUSED: readonly [rule: string, info: JsonObject, schemas: readonly Schema[]][] = [
  ['an object', index({ field: 'o' }), [compile({ o: { type: 'object' } })]],
  ['any', index({ field: 'a' }), [compile({ a: { type: 'any' } })]],
  ['binary', index({ field: 'a' }), [compile({ a: { type: 'binary' } })]],
  ['a reference', index({ field: 'ref' }), [compile(NESTED)]],
  ['a virtual field', index({ field: 'ver' }), [compile(NESTED)]],
  ['an array of objects', index({ field: 'sites' }), [compile(NESTED)]],
  [
    'the case of a number',
    index({ field: 'a', caseInsensitive: true }),
    [compile({ a: { type: 'integer' } })],
  ],
  [
    'types that differ',
    index({ field: 'a' }),
    [compile({ a: string }), compile({ a: { type: 'integer' } }, { schema: V2 })],
  ],
  [
    'kinds that differ',
    index({ field: 'a' }),
    [compile({ a: string }), compile({ a: { type: 'object' } }, { schema: V2 })],
  ],
  [
    'an identity of differing types',
    {},
    [
      compile({ a: { type: 'string', constraints: { identity: true } } }),
      compile({ a: { type: 'integer', constraints: { identity: true } } }, { schema: V2 }),
    ],
  ],
]
const CODE: Code = 'metadata:InvalidIndex'
for (const [rule, info, schemas] of REFUSED) {
  test(`indexes: ${rule} is refused`, () => assertCode(() => define(info, ...schemas), CODE))
}

test('compile: the unique keys are those of unique indexes, of _id and of the identity', () => {
  const unique = (...fields: readonly string[]): Json => ({
    name: fields.join(),
    unique: true,
    fields: fields.map((field) => ({ field })),
  })
  const indexes = [unique('b'), unique('c', 'd'), { name: 'a', fields: [{ field: 'a' }] }]
  const string = { type: 'string' }
  const fields = { a: { ...string, constraints: { identity: true } }, b: string, c: string, d: string }
  assert.deepEqual(compile(fields, { info: { indexes } }).uniqueKeys, [['b'], ['c', 'd'], ['_id'], ['a']])
})
