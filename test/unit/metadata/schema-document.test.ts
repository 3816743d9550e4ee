import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Code } from '../../../src/base/errors.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { printMetadataDocument } from '../../../src/metadata/documents/metadata-document.ts'
import { parseEntityInfo } from '../../../src/metadata/documents/entity-info.ts'
import { parseSchemaDocument, printSchemaDocument } from '../../../src/metadata/documents/schema-document.ts'
import { CONFIGURED, assertCode, json, schemaOf } from './samples.ts'

const parse = (value: Json) => parseSchemaDocument(value, '')
const print = (value: Json) => printSchemaDocument(parse(value))

test('metadata document: it is printed in the known shape and order', () => {
  const info = parseEntityInfo({ name: 'item', defaultVersion: '1.0.0' }, '', CONFIGURED)
  const schema = parse(
    schemaOf({ _id: { type: 'string', valueGenerator: { type: 'UUID' } }, label: { type: 'string' } }),
  )
  const expected =
    '{"entityInfo":{"name":"item","defaultVersion":"1.0.0",' +
    '"indexes":[{"name":null,"unique":true,"fields":[{"field":"_id","dir":"$asc","caseInsensitive":false}]}],' +
    '"datastore":{"datasource":"main","collection":"item","backend":"sqlite"},"_id":"item|"},' +
    '"schema":{"name":"item","version":{"value":"1.0.0","changelog":"first"},"status":{"value":"active"},' +
    '"access":{"insert":["anyone"],"update":["anyone"],"find":["anyone"],"delete":["anyone"]},' +
    '"fields":{"_id":{"type":"string","description":null,"valueGenerator":{"type":"UUID"}},' +
    '"label":{"type":"string","description":null},' +
    '"objectType":{"type":"string","description":null,"access":{"find":["anyone"],"update":["noone"]},' +
    '"constraints":{"required":true,"minLength":1}}},"_id":"item|1.0.0"}}'
  assert.equal(JSON.stringify(printMetadataDocument(info, schema)), expected)
})

test('schema: absent access is four empty lists', () => {
  const { access: _, ...bare } = schemaOf({ a: { type: 'string' } })
  assert.deepEqual(print(bare).access, { insert: [], update: [], find: [], delete: [] })
})

test('schema: each array has its size beside it, with the find roles of the array', () => {
  const fields = {
    tags: { type: 'array', items: { type: 'string' }, access: { find: ['hr'] } },
    sites: {
      type: 'array',
      items: { type: 'object', fields: { phones: { type: 'array', items: { type: 'string' } } } },
    },
    last: { type: 'string' },
  }
  const printed = print(schemaOf(fields)).fields as JsonObject
  assert.deepEqual(Object.keys(printed), ['tags', 'tags#', 'sites', 'sites#', 'last', '_id', 'objectType'])
  assert.deepEqual(printed['tags#'], { type: 'integer', description: null, access: { find: ['hr'] } })
  const inner = (printed.sites as { items: { fields: JsonObject } }).items.fields
  assert.deepEqual(inner['phones#'], { type: 'integer', description: null, access: { find: ['anyone'] } })
})

test('schema: objectType keeps what is declared and gains only what is missing', () => {
  const objectType = { type: 'string', access: { find: ['hr'] }, constraints: { minLength: 2 } }
  const printed = print(schemaOf({ objectType })).fields as JsonObject
  assert.deepEqual(printed.objectType, {
    type: 'string',
    description: null,
    access: { find: ['hr'], update: ['noone'] },
    constraints: { required: true, minLength: 2 },
  })
})

const EVERYTHING = json(`{
  "name": "item", "note": 1.10,
  "version": {"value": "1.0.0-SNAPSHOT", "changelog": "c", "extendVersions": ["0.9.0"], "by": "ann"},
  "status": {"value": "deprecated", "log": [{"date": "20160101T12:00:00.000-0500", "value": "active", "comment": "old"}]},
  "constraints": [],
  "fields": {
    "price": {"type": "bigdecimal", "constraints": {"minimum": 0.10, "maximum": 99999999999999999999.90}},
    "n": {"type": "integer", "valueGenerator": {"type": "IntSequence", "overwrite": true,
          "configuration": {"name": "seq", "initialValue": "50000000", "increment": 0}}},
    "when": {"type": "date", "valueGenerator": {"type": "CurrentTime"}},
    "code": {"type": "uid", "constraints": {"identity": true, "matches": "[a-z]+", "maxLength": 9, "enum": "codes"},
             "access": {"insert": ["w"], "find": [], "update": ["u", "v"]}, "ui": {"label": "Code"}},
    "o": {"type": "object", "description": "an object", "fields": {"x": {"type": "any"}, "e": {"type": "object"}}},
    "arr": {"type": "array", "constraints": {"minItems": 1, "maxItems": 3},
            "items": {"type": "object", "note": true, "fields": {"id": {"type": "string", "constraints": {"element-identity": true}},
                      "deep": {"type": "array", "items": {"type": "double", "constraints": {"minimum": -1e-3}}}}}},
    "ref": {"type": "reference", "entity": "other", "versionValue": "1.0.0",
            "query": {"field": "_id", "op": "=", "rfield": "$parent.code"},
            "projection": [{"field": "*", "recursive": true}], "sort": {"_id": "$asc"}},
    "meta": {"type": "object", "resultMetadata": true},
    "ver": {"type": "string", "documentVersion": true}
  }
}`)

test('schema: printing what was printed changes nothing, digit for digit', () => {
  const once = JSON.stringify(print(EVERYTHING))
  assert.equal(JSON.stringify(print(json(once))), once)
  for (const kept of [
    '"note":1.10',
    '"minimum":0.10',
    '"maximum":99999999999999999999.90',
    '"minimum":-1e-3',
    '"initialValue":"50000000"',
    '"date":"20160101T17:00:00.000+0000"',
    '"access":{"update":["u","v"],"insert":["w"]}',
    '"ui":{"label":"Code"}',
    '"resultMetadata":true',
  ]) {
    assert.ok(once.includes(kept), kept)
  }
})

const field = (document: Json) => schemaOf({ f: document })
const constrained = (type: string, constraints: Json) => field({ type, constraints })
const items = (document: Json) => field({ type: 'array', items: document })
const element = (document: Json) => items({ type: 'object', fields: { x: document } })
const generated = (type: string, valueGenerator: Json) => field({ type, valueGenerator })
const reference = (more: JsonObject) => field({ type: 'reference', entity: 'e', ...more })
const without = (key: string) => {
  const { [key]: _, ...rest } = schemaOf({ a: { type: 'string' } })
  return rest
}
const A = { a: { type: 'string' } }

const REFUSED: readonly [rule: string, document: Json, code: Code][] = [
  ['a list', [], 'metadata:IllFormedMetadata'],
  ['no name', without('name'), 'metadata:ParseMissingElement'],
  ['no version', without('version'), 'metadata:ParseMissingElement'],
  ['no status', without('status'), 'metadata:ParseMissingElement'],
  ['no fields', without('fields'), 'metadata:ParseMissingElement'],
  ['empty fields', schemaOf({}), 'metadata:MetadataWithNoFields'],
  ['a bad name', schemaOf(A, { name: 'a b' }), 'metadata:InvalidName'],
  ['no version value', schemaOf(A, { version: { changelog: 'c' } }), 'metadata:ParseMissingElement'],
  ['no changelog', schemaOf(A, { version: { value: '1.0.0' } }), 'metadata:ParseMissingElement'],
  [
    'a version of two parts',
    schemaOf(A, { version: { value: '1.0', changelog: 'c' } }),
    'metadata:InvalidVersionNumber',
  ],
  [
    'a version with an odd suffix',
    schemaOf(A, { version: { value: '1.0.0-a/b', changelog: 'c' } }),
    'metadata:InvalidVersionNumber',
  ],
  [
    'extendVersions of numbers',
    schemaOf(A, { version: { value: '1.0.0', changelog: 'c', extendVersions: [1] } }),
    'metadata:IllFormedMetadata',
  ],
  ['an unknown status', schemaOf(A, { status: { value: 'ACTIVE' } }), 'metadata:ParseInvalidStatus'],
  [
    'a bad date in the log',
    schemaOf(A, { status: { value: 'active', log: [{ date: 'x', value: 'active' }] } }),
    'metadata:IllFormedMetadata',
  ],
  [
    'a log entry without date',
    schemaOf(A, { status: { value: 'active', log: [{ value: 'active' }] } }),
    'metadata:ParseMissingElement',
  ],
  ['access that is null', schemaOf(A, { access: null }), 'metadata:IllFormedMetadata'],
  ['access to an unknown operation', schemaOf(A, { access: { save: [] } }), 'metadata:InvalidAccess'],
  ['access that is no list', schemaOf(A, { access: { find: 'anyone' } }), 'metadata:IllFormedMetadata'],
  ['access of a number', schemaOf(A, { access: { find: [1] } }), 'metadata:IllFormedMetadata'],
  ['access of a blank role', schemaOf(A, { access: { find: [''] } }), 'metadata:InvalidAccess'],
  ['field access to delete', field({ type: 'string', access: { delete: ['a'] } }), 'metadata:InvalidAccess'],
  ['constraints of the schema', schemaOf(A, { constraints: [{ unique: 1 }] }), 'metadata:InvalidConstraint'],
  ['a field that is no object', field('string'), 'metadata:IllFormedMetadata'],
  ['a field without type', field({}), 'metadata:ParseMissingElement'],
  ['an unknown type', field({ type: 'text' }), 'metadata:InvalidType'],
  ['a description that is no text', field({ type: 'string', description: 1 }), 'metadata:IllFormedMetadata'],
  ...['a.b', '', '$a', '*', '12', '-5', '+5', 'a#', 'constructor', 'prototype', 'a\0'].map(
    (name): [string, Json, Code] => [
      `the field name ${JSON.stringify(name)}`,
      schemaOf({ [name]: { type: 'string' } }),
      'metadata:InvalidName',
    ],
  ),
  [
    'the field name __proto__',
    schemaOf(JSON.parse('{"__proto__":{"type":"string"}}') as Json),
    'metadata:InvalidName',
  ],
  [
    'a bad name further down',
    field({ type: 'object', fields: { 'a.b': { type: 'string' } } }),
    'metadata:InvalidName',
  ],
  ['an array without items', field({ type: 'array' }), 'metadata:ParseMissingElement'],
  [
    'an array of arrays',
    items({ type: 'array', items: { type: 'string' } }),
    'metadata:InvalidArrayElementType',
  ],
  ['an array of references', items({ type: 'reference', entity: 'e' }), 'metadata:InvalidArrayElementType'],
  ['an array of an unknown type', items({ type: 'text' }), 'metadata:InvalidType'],
  ['object items without fields', items({ type: 'object' }), 'metadata:ParseMissingElement'],
  ['access of items', items({ type: 'string', access: { find: ['a'] } }), 'metadata:InvalidAccess'],
  [
    'a generator of items',
    items({ type: 'string', valueGenerator: { type: 'UUID' } }),
    'metadata:InvalidGenerator',
  ],
  [
    'a size of another type',
    schemaOf({ x: { type: 'array', items: { type: 'string' } }, 'x#': { type: 'string' } }),
    'metadata:FieldWrongType',
  ],
  ...['object', 'array', 'reference', 'any', 'binary', 'boolean'].map((type): [string, Json, Code] => [
    `_id of type ${type}`,
    schemaOf({ _id: { type, entity: 'e', items: { type: 'string' } } }),
    'metadata:FieldWrongType',
  ]),
  ['objectType of another type', schemaOf({ objectType: { type: 'integer' } }), 'metadata:FieldWrongType'],
  ['an unknown constraint', constrained('string', { unique: true }), 'metadata:InvalidConstraint'],
  [
    'a constraint named like a method',
    constrained('string', { toString: true }),
    'metadata:InvalidConstraint',
  ],
  ['constraints that are no object', constrained('string', []), 'metadata:IllFormedMetadata'],
  ['required that is no boolean', constrained('string', { required: 'true' }), 'metadata:IllFormedMetadata'],
  ['required on a reference', reference({ constraints: { required: true } }), 'metadata:InvalidConstraint'],
  ...['any', 'binary', 'object'].map((type): [string, Json, Code] => [
    `identity on ${type}`,
    constrained(type, { identity: true }),
    'metadata:InvalidConstraint',
  ]),
  [
    'identity inside an array',
    element({ type: 'string', constraints: { identity: true } }),
    'metadata:InvalidConstraint',
  ],
  [
    'element-identity outside arrays',
    constrained('string', { 'element-identity': true }),
    'metadata:InvalidConstraint',
  ],
  [
    'element-identity on items',
    items({ type: 'string', constraints: { 'element-identity': true } }),
    'metadata:InvalidConstraint',
  ],
  ['minLength on a number', constrained('integer', { minLength: 1 }), 'metadata:InvalidConstraint'],
  ['a negative minLength', constrained('string', { minLength: -1 }), 'metadata:IllFormedMetadata'],
  ['a fractional maxLength', constrained('string', { maxLength: 1.5 }), 'metadata:IllFormedMetadata'],
  [
    'minLength above maxLength',
    constrained('string', { minLength: 3, maxLength: 2 }),
    'metadata:InvalidConstraint',
  ],
  ['minimum on a string', constrained('string', { minimum: 1 }), 'metadata:InvalidConstraint'],
  ['minimum as text', constrained('integer', { minimum: '1' }), 'metadata:IllFormedMetadata'],
  [
    'minimum above maximum',
    constrained('bigdecimal', json('{"minimum":1.0000000000000000002,"maximum":1.0000000000000000001}')),
    'metadata:InvalidConstraint',
  ],
  ['minItems on a string', constrained('string', { minItems: 1 }), 'metadata:InvalidConstraint'],
  [
    'minItems above maxItems',
    field({ type: 'array', items: { type: 'string' }, constraints: { minItems: 2, maxItems: 1 } }),
    'metadata:InvalidConstraint',
  ],
  ['enum on a number', constrained('integer', { enum: 'e' }), 'metadata:InvalidConstraint'],
  ['enum that is no text', constrained('string', { enum: ['a'] }), 'metadata:IllFormedMetadata'],
  ['matches on a date', constrained('date', { matches: 'a' }), 'metadata:InvalidConstraint'],
  ['matches that is no pattern', constrained('string', { matches: '(' }), 'metadata:IllFormedMetadata'],
  ['matches that looks back', constrained('string', { matches: '(a)\\1' }), 'metadata:IllFormedMetadata'],
  [
    'matches that is too long',
    constrained('string', { matches: 'a'.repeat(1001) }),
    'metadata:IllFormedMetadata',
  ],
  [
    'a constraint on a virtual field',
    field({ type: 'string', documentVersion: true, constraints: { required: true } }),
    'metadata:InvalidConstraint',
  ],
  ['a generator without type', generated('string', {}), 'metadata:ParseMissingElement'],
  ['an unknown generator', generated('string', { type: 'uuid' }), 'metadata:InvalidGenerator'],
  ['UUID on a number', generated('integer', { type: 'UUID' }), 'metadata:InvalidGenerator'],
  ['CurrentTime on a number', generated('integer', { type: 'CurrentTime' }), 'metadata:InvalidGenerator'],
  [
    'IntSequence on a date',
    generated('date', { type: 'IntSequence', configuration: { name: 's' } }),
    'metadata:InvalidGenerator',
  ],
  ['IntSequence without name', generated('integer', { type: 'IntSequence' }), 'metadata:InvalidGenerator'],
  [
    'IntSequence from a fraction',
    generated('integer', { type: 'IntSequence', configuration: { name: 's', initialValue: 1.5 } }),
    'metadata:InvalidGenerator',
  ],
  [
    'IntSequence beyond 64 bits',
    generated('integer', {
      type: 'IntSequence',
      configuration: { name: 's', increment: '9223372036854775808' },
    }),
    'metadata:InvalidGenerator',
  ],
  [
    'a configuration of objects',
    generated('string', { type: 'UUID', configuration: { a: {} } }),
    'metadata:IllFormedMetadata',
  ],
  [
    'overwrite that is no boolean',
    generated('string', { type: 'UUID', overwrite: 2 }),
    'metadata:IllFormedMetadata',
  ],
  ['a generator on an object', generated('object', { type: 'UUID' }), 'metadata:InvalidGenerator'],
  [
    'a generator on a virtual field',
    field({ type: 'string', documentVersion: true, valueGenerator: { type: 'UUID' } }),
    'metadata:InvalidGenerator',
  ],
  ['a reference without entity', field({ type: 'reference' }), 'metadata:ParseMissingElement'],
  ['a reference with a bad query', reference({ query: { op: '=' } }), 'metadata:InvalidReference'],
  ['a reference with a bad projection', reference({ projection: 'a' }), 'metadata:InvalidReference'],
  ['a reference with a bad sort', reference({ sort: { a: 'up' } }), 'metadata:InvalidReference'],
  ['a reference version that is no text', reference({ versionValue: 1 }), 'metadata:IllFormedMetadata'],
  [
    'resultMetadata on a string',
    field({ type: 'string', resultMetadata: true }),
    'metadata:IllFormedMetadata',
  ],
  [
    'resultMetadata that is no boolean',
    field({ type: 'any', resultMetadata: 'yes' }),
    'metadata:IllFormedMetadata',
  ],
  [
    'documentVersion on a number',
    field({ type: 'integer', documentVersion: true }),
    'metadata:IllFormedMetadata',
  ],
  [
    'documentVersion inside an array',
    element({ type: 'string', documentVersion: true }),
    'metadata:IllFormedMetadata',
  ],
]
for (const [rule, document, code] of REFUSED) {
  test(`schema: ${rule} is ${code}`, () => assertCode(() => parse(document), code))
}

const ACCEPTED: readonly [rule: string, document: Json][] = [
  [
    'identity:false and element-identity:false',
    element({ type: 'string', constraints: { 'element-identity': false } }),
  ],
  ['required on a container', field({ type: 'object', constraints: { required: true } })],
  [
    'constraints of items',
    items({ type: 'string', constraints: { minLength: 1, matches: 'a*', enum: 'e' } }),
  ],
  ['equal bounds of different scale', constrained('bigdecimal', json('{"minimum":1.10,"maximum":1.1}'))],
  [
    'a name that ends like a size, beside its array',
    schemaOf({ x: { type: 'array', items: { type: 'string' } }, 'x#': { type: 'integer' } }),
  ],
  ['an _id of another comparable type', schemaOf({ _id: { type: 'integer' } })],
  [
    'field names with odd characters',
    schemaOf({ 'a b/c~d': { type: 'string' }, '#a': { type: 'string' }, ä$: { type: 'string' } }),
  ],
]
for (const [rule, document] of ACCEPTED) {
  test(`schema: ${rule} is accepted, and again when printed`, () => {
    const once = JSON.stringify(print(document))
    assert.equal(JSON.stringify(print(json(once))), once)
  })
}

test('schema: 0 and 1 are false and true', () => {
  const fields = {
    a: { type: 'string', constraints: { identity: 1, required: 0 } },
    v: { type: 'string', documentVersion: 1 },
    g: { type: 'string', valueGenerator: { type: 'UUID', overwrite: 1 } },
    list: {
      type: 'array',
      items: { type: 'object', fields: { k: { type: 'string', constraints: { 'element-identity': 1 } } } },
    },
  }
  const printed = JSON.stringify(print(schemaOf(fields)))
  for (const part of [
    '{"identity":true,"required":false}',
    '"documentVersion":true',
    '"overwrite":true',
    '{"element-identity":true}',
  ]) {
    assert.ok(printed.includes(part), `${part} in ${printed}`)
  }
})

test('schema: a problem names its place by pointer and by context', () => {
  assert.throws(
    () => parseSchemaDocument(field({ type: 'string', constraints: { minLength: 'x' } }), '/schema'),
    { context: 'fields/f/constraints/minLength', message: /\/schema\/fields\/f\/constraints\/minLength/ },
  )
})
