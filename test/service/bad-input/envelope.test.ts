/** Requests that are JSON but make no sense: every key with every wrong type, limits, names that bite. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { startTestServer } from '../../support/server.ts'
import { metadataDocument } from '../../support/service.ts'
import { storeKind } from '../../support/store-kind.ts'
import { countryInfo, ONE, type Refusal, badInput } from './fixture.ts'

const { server, refused } = badInput()

const ALL = { field: '*', include: true, recursive: true }
const BY_ID = { field: '_id', op: '=', rvalue: '1' }

/** A sound body for each operation, to which the bad part is added. */
const OPERATIONS: readonly [operation: string, method: string, body: JsonObject][] = [
  ['find', 'POST', { query: BY_ID, projection: ALL }],
  ['explain', 'POST', { query: BY_ID, projection: ALL }],
  ['insert', 'PUT', { data: { iso2Code: 'XX' } }],
  ['save', 'POST', { data: { _id: '9', iso2Code: 'XX' }, upsert: true }],
  ['update', 'POST', { query: BY_ID, update: { $set: { name: 'changed' } } }],
  ['delete', 'POST', { query: BY_ID }],
]

/** Each of null's siblings that is not of the kinds named. */
function othersThan(...kinds: readonly string[]): readonly Json[] {
  const values: Record<string, Json> = {
    string: 'x',
    integer: 5,
    fraction: 1.5,
    boolean: true,
    array: [],
    object: {},
  }
  return Object.entries(values)
    .filter(([kind]) => !kinds.includes(kind))
    .map(([, value]) => value)
}

const KEYS: readonly [key: string, values: readonly Json[]][] = [
  ['objectType', othersThan('string')],
  ['version', othersThan('string')],
  ['entity', othersThan('string')],
  ['entityVersion', othersThan('string')],
  ['range', [...othersThan('array'), [], [1], [1, 2, 3], ['0', 1], [0.5, 1], [{}, 1], [true, false]]],
  ['from', othersThan('integer')],
  ['to', othersThan('integer')],
  ['maxResults', othersThan('integer')],
  ['upsert', [...othersThan('boolean'), 'yes', 'true', '1', 2, -1]],
  ['onlyIfCurrent', [...othersThan('boolean'), 'true']],
  ['documentVersions', [...othersThan('array'), [1], [null], ['a', {}]]],
  [
    'execution',
    [
      ...othersThan('object'),
      { atomic: 'yes' },
      { count: 'some' },
      { maxTimeMs: 'x' },
      { maxTimeMs: 0 },
      { maxTimeMs: -1 },
      { maxQueryTimeMS: 'soon' },
      { maxQueryTimeMS: 0 },
      { maxQueryTimeMS: '0' },
      { maxQueryTimeMS: 5, maxTimeMs: 6 },
      { atomic: 2 },
      { unknown: 1 },
    ],
  ],
]
for (const [key, values] of KEYS) {
  test(`envelope: ${key} of a wrong type is refused by every operation, naming the key`, async () => {
    for (const [operation, method, body] of OPERATIONS) {
      for (const value of values) {
        const request = { method, path: `/data/${operation}/country`, body: { ...body, [key]: value } }
        await refused(request, { status: 400, code: 'crud:InvalidRequest', place: new RegExp(`/${key}`) })
      }
    }
  })
}

const UNKNOWN = [
  'projections',
  'Query',
  'where',
  '',
  ' ',
  '$where',
  'constructor',
  'prototype',
  'toString',
  'a/b~c',
]
for (const key of UNKNOWN) {
  test(`envelope: the unknown key ${JSON.stringify(key)} is refused by every operation, naming it`, async () => {
    const place = { place: new RegExp(`"${key.replaceAll(/[$/]/g, String.raw`\$&`)}"`) }
    for (const [operation, method, body] of OPERATIONS) {
      const request = { method, path: `/data/${operation}/country`, body: { ...body, [key]: {} } }
      await refused(request, { status: 400, code: 'crud:InvalidRequest', ...place })
    }
    await refused(
      { method: 'POST', path: '/data/bulk', body: { requests: [], [key]: 1 } },
      { status: 400, code: 'crud:InvalidRequest', ...place },
    )
  })
}

const NUMBERS: readonly [rule: string, body: string][] = [
  ['1e400', '{"projection":{"field":"*"},"from":1e400}'],
  ['1e+300', '{"projection":{"field":"*"},"from":1e+300}'],
  ['-1e+300', '{"projection":{"field":"*"},"range":[0,-1e+300]}'],
  ['400 digits', `{"projection":{"field":"*"},"maxResults":${'9'.repeat(400)}}`],
  ['2^53', '{"projection":{"field":"*"},"to":9007199254740992}'],
  ['a fraction', '{"projection":{"field":"*"},"to":0.1}'],
]
for (const [rule, body] of NUMBERS) {
  test(`envelope: ${rule} is no integer for a range`, async () => {
    await refused(
      { method: 'POST', path: '/data/find/country', body },
      { status: 400, code: 'crud:InvalidRequest' },
    )
    await refused(
      { method: 'POST', path: '/data/explain/country', body },
      { status: 400, code: 'crud:InvalidRequest' },
    )
  })
}

test('envelope: a body that names another entity or version than the path is refused', async () => {
  for (const [operation, method, body] of OPERATIONS) {
    const path = `/data/${operation}/country/1.0.0`
    for (const key of ['entity', 'objectType'])
      await refused(
        { method, path, body: { ...body, [key]: 'staff' } },
        { status: 400, code: 'rest-crud:NoEntityMatch' },
      )
    for (const key of ['version', 'entityVersion'])
      await refused(
        { method, path, body: { ...body, [key]: '1.1.0' } },
        { status: 400, code: 'rest-crud:NoVersionMatch' },
      )
    for (const [first, second] of [
      ['entity', 'objectType'],
      ['entityVersion', 'version'],
    ] as const) {
      const both = { ...body, [first]: 'country', [second]: 'other' }
      await refused(
        { method, path, body: both },
        { status: 400, code: 'crud:InvalidRequest', place: /must agree/ },
      )
    }
  }
})

const query = (query: Json): JsonObject => ({ query, projection: ALL })
const invalidQuery = (place: RegExp): Refusal => ({ status: 400, code: 'query-api:InvalidQuery', place })
const unknownField = (place: RegExp): Refusal => ({
  status: 400,
  code: 'metadata:InvalidFieldReference',
  place,
})
const exceeded = (place: RegExp): Refusal => ({ status: 400, code: 'crud:LimitExceeded', place })
const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'constructor.prototype',
  '__proto__.polluted',
]

const FINDS: readonly [rule: string, body: JsonObject, refusal: Refusal][] = [
  ...othersThan('object').map((value): [string, JsonObject, Refusal] => [
    `query ${JSON.stringify(value)}`,
    query(value),
    invalidQuery(/\/query/),
  ]),
  ['query without anything', query({}), invalidQuery(/\/query/)],
  ['two operators', query({ $and: [], $or: [] }), invalidQuery(/\/query/)],
  ['$and of no array', query({ $and: {} }), invalidQuery(/\/query\/\$and/)],
  [
    'an operator for a value',
    query({ field: 'name', op: '=', rvalue: { $gt: '' } }),
    { status: 400, code: 'metadata:IncompatibleValue' },
  ],
  [
    'an array for a value',
    query({ field: 'name', op: '=', rvalue: ['x'] }),
    { status: 400, code: 'metadata:IncompatibleValue' },
  ],
  ['a number for a field', query({ field: 1, op: '=', rvalue: 1 }), invalidQuery(/\/query\/field/)],
  ['an object for an operator', query({ field: 'name', op: {}, rvalue: 1 }), invalidQuery(/\/query\/op/)],
  [
    'the operator constructor',
    query({ field: 'name', op: 'constructor', rvalue: 1 }),
    invalidQuery(/\/query\/op/),
  ],
  ['$in without values', query({ field: 'name', op: '$in' }), invalidQuery(/\/query\/values/)],
  ['$where', query({ $where: '1' }), invalidQuery(/\/query/)],
  ['less than null', query({ field: 'name', op: '<', rvalue: null }), invalidQuery(/\/query\/rvalue/)],
  [
    'a value out of range',
    query({ field: 'population', op: '=', rvalue: JSON.rawJSON('9223372036854775808') }),
    { status: 400, code: 'metadata:IncompatibleValue' },
  ],
  [
    '1e400 for an integer',
    query({ field: 'population', op: '=', rvalue: JSON.rawJSON('1e400') }),
    { status: 400, code: 'metadata:IncompatibleValue' },
  ],
  [
    '400 digits for an integer',
    query({ field: 'population', op: '=', rvalue: JSON.rawJSON('1'.repeat(400)) }),
    { status: 400, code: 'metadata:IncompatibleValue' },
  ],
  [
    '1e999999999 for an integer',
    query({ field: 'population', op: '=', rvalue: JSON.rawJSON('1e999999999') }),
    { status: 400, code: 'metadata:IncompatibleValue' },
  ],
  ...NAMES.flatMap((name): [string, JsonObject, Refusal][] => [
    [
      `the field ${name} in a query`,
      query({ field: name, op: '=', rvalue: 1 }),
      unknownField(/\/query\/field/),
    ],
    [
      `the field ${name} on the right`,
      query({ field: 'name', op: '=', rfield: name }),
      unknownField(/\/query\/rfield/),
    ],
    [
      `the array ${name}`,
      query({ array: name, contains: '$any', values: [] }),
      unknownField(/\/query\/array/),
    ],
    [
      `the field ${name} within elements`,
      query({ array: 'places', elemMatch: { field: name, op: '=', rvalue: 1 } }),
      unknownField(/\/query\/elemMatch\/field/),
    ],
  ]),
  [
    'constructor in a sort',
    { projection: ALL, sort: { constructor: '$asc' } },
    unknownField(/\/sort\/constructor/),
  ],
  [
    'toString as a direction',
    { projection: ALL, sort: { name: 'toString' } },
    { status: 400, code: 'query-api:InvalidSort', place: /\/sort\/name/ },
  ],
  [
    'a sort with two keys',
    { projection: ALL, sort: { name: '$asc', _id: '$asc' } },
    { status: 400, code: 'query-api:InvalidSort', place: /\/sort/ },
  ],
  [
    'a sort that is text',
    { projection: ALL, sort: 'name' },
    { status: 400, code: 'query-api:InvalidSort', place: /\/sort/ },
  ],
  [
    'a quote in a field',
    query({ field: 'name\'"; drop table x; --', op: '=', rvalue: 1 }),
    unknownField(/\/query\/field/),
  ],
  [
    'a SQL arrow in a field',
    query({ field: "name->>'$'", op: '=', rvalue: 1 }),
    unknownField(/\/query\/field/),
  ],
  ['an empty step', query({ field: 'places..name', op: '=', rvalue: 1 }), unknownField(/\/query\/field/)],
  [
    'an index out of reach',
    query({ field: 'places.99999999999999999999.name', op: '=', rvalue: 1 }),
    unknownField(/\/query\/field/),
  ],
  [
    'a path of 10,000 steps',
    query({ field: Array.from({ length: 10_000 }, () => 'a').join('.'), op: '=', rvalue: 1 }),
    unknownField(/\/query\/field/),
  ],
  [
    'a climb above the root',
    query({ field: '$parent.$parent.name', op: '=', rvalue: 1 }),
    unknownField(/\/query\/field/),
  ],
  ...othersThan('object', 'array').map((value): [string, JsonObject, Refusal] => [
    `projection ${JSON.stringify(value)}`,
    { projection: value },
    { status: 400, code: 'query-api:InvalidProjection', place: /\/projection/ },
  ]),
  [
    '"yes" for recursive',
    { projection: { field: '*', recursive: 'yes' } },
    { status: 400, code: 'query-api:InvalidProjection', place: /\/projection\/recursive/ },
  ],
  [
    '2 for include',
    { projection: { field: '*', include: 2 } },
    { status: 400, code: 'query-api:InvalidProjection', place: /\/projection\/include/ },
  ],
  [
    '10,001 values for $in',
    query({ field: 'name', op: '$in', values: Array.from({ length: 10_001 }, () => 'x') }),
    exceeded(/10000.*\/query\/values/),
  ],
  [
    '10,001 values for contains',
    query({ array: 'neighbours', contains: '$any', values: Array.from({ length: 10_001 }, () => 'x') }),
    exceeded(/10000.*\/query\/values/),
  ],
  [
    '1,001 query nodes',
    query({ $or: Array.from({ length: 1_000 }, () => BY_ID) }),
    exceeded(/1000.*\/query\/\$or/),
  ],
  [
    'a regex of 1,001 characters',
    query({ field: 'name', regex: 'x'.repeat(1_001) }),
    exceeded(/1000.*\/query\/regex/),
  ],
  ['an invalid regex', query({ field: 'name', regex: '(' }), invalidQuery(/\/query\/regex/)],
  ['a backreference', query({ field: 'name', regex: String.raw`(a)\1` }), invalidQuery(/\/query\/regex/)],
  ['a lookahead', query({ field: 'name', regex: '(?=a)' }), invalidQuery(/\/query\/regex/)],
  [
    'a regex of too many repetitions',
    query({ field: 'name', regex: 'a{1001}' }),
    invalidQuery(/\/query\/regex/),
  ],
  [
    'a regex that explodes when compiled',
    query({ field: 'name', regex: '((((a{1,100}){1,100}){1,100}){1,100}){1,100}' }),
    invalidQuery(/\/query\/regex/),
  ],
  ['a regex on a number', query({ field: 'population', regex: '1' }), invalidQuery(/population|\/query/)],
  [
    'an unknown regex option',
    query({ field: 'name', regex: 'a', options: 'g' }),
    invalidQuery(/\/query\/options/),
  ],
]
for (const [rule, body, refusal] of FINDS) {
  test(`find, explain: ${rule} is refused`, async () => {
    for (const operation of ['find', 'explain'])
      await refused({ method: 'POST', path: `/data/${operation}/country`, body }, refusal)
  })
}

test('find: 10,000 values for $in, and 1,000 query nodes, are allowed', async () => {
  const values = Array.from({ length: 10_000 }, (_, i) => String(i))
  const nodes = Array.from({ length: 999 }, () => BY_ID)
  for (const sound of [{ field: '_id', op: '$in', values }, { $or: nodes }, { $and: nodes }]) {
    const answer = await server().ask('POST', '/data/find/country', { body: query(sound) })
    assert.equal(answer.json.matchCount, 1, answer.text)
  }
})

const EXPLOSIVE = [
  '^(a+)+$',
  '^(a|a)*$',
  '^(a|aa)+$',
  '^(.*a){20}$',
  '^([a-zA-Z]+)*$',
  '^(a?){50}a{50}$',
  '(x+x+)+y',
]
test('find: regexes built to explode are answered like others', async () => {
  await using own = await startTestServer()
  await own.define('texts', { text: { type: 'string' } })
  await own.ask('PUT', '/data/insert/texts', { body: { data: { text: `${'a'.repeat(50_000)}!` } } })
  for (const regex of EXPLOSIVE) {
    const answer = await own.ask('POST', '/data/find/texts', { body: query({ field: 'text', regex }) })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.json.matchCount, 0, regex)
  }
})

test('find: a projection of names that bite returns nothing for them', async () => {
  for (const field of ['constructor', 'prototype', 'toString', '__proto__', 'constructor.name']) {
    const answer = await server().ask('POST', '/data/find/country', { body: { projection: { field } } })
    assert.equal(answer.text.includes('"processed":[{}]'), true, answer.text)
  }
})

const bulkOf = (count: number): JsonObject => ({
  requests: Array.from({ length: count }, (_, seq) => ({ seq, op: 'find', request: {} })),
})
const BULKS: readonly [rule: string, body: JsonObject, refusal: Refusal][] = [
  ['1,001 entries', bulkOf(1_001), exceeded(/1000.*\/requests/)],
  [
    'a seq of 1e400',
    { requests: [{ seq: JSON.rawJSON('1e400'), op: 'find', request: {} }] },
    { status: 400, code: 'crud:InvalidRequest', place: /\/requests\/0\/seq/ },
  ],
  [
    'a seq of 2^53',
    { requests: [{ seq: 2 ** 53, op: 'find', request: {} }] },
    { status: 400, code: 'crud:InvalidRequest', place: /\/requests\/0\/seq/ },
  ],
  [
    'an entry that is no object',
    { requests: [1] },
    { status: 400, code: 'crud:InvalidRequest', place: /\/requests\/0/ },
  ],
]
for (const [rule, body, refusal] of BULKS) {
  test(`bulk: ${rule} is refused`, async () => {
    await refused({ method: 'POST', path: '/data/bulk', body }, refusal)
  })
}

const UPDATES: readonly [rule: string, update: Json, code: string][] = [
  ['no operator', {}, 'query-api:InvalidUpdate'],
  ['text', '$remove', 'query-api:InvalidUpdate'],
  ['an unknown operator', { $rename: { name: 'x' } }, 'query-api:InvalidUpdate'],
  ['constructor as operator', { constructor: { name: 'x' } }, 'query-api:InvalidUpdate'],
  ['an update of _id', { $set: { _id: '7' } }, 'query-api:InvalidUpdate'],
  ['an unknown field', { $set: { 'constructor.prototype': 1 } }, 'metadata:InvalidFieldReference'],
  [
    '$valueof of an unknown field',
    { $set: { name: { $valueof: 'toString' } } },
    'metadata:InvalidFieldReference',
  ],
  ['$add of text', { $add: { name: 1 } }, 'query-api:InvalidUpdate'],
  ['$add of null', { $add: { population: null } }, 'query-api:InvalidUpdate'],
  ['a wrong literal', { $set: { population: 'many' } }, 'metadata:IncompatibleValue'],
]
for (const [rule, update, code] of UPDATES) {
  test(`update: ${rule} is refused`, async () => {
    const request = { method: 'POST', path: '/data/update/country', body: { query: BY_ID, update } }
    await refused(request, { status: 400, code })
  })
}

test('update, delete: without a query is store-crud:NullQuery', async () => {
  for (const none of [{}, { query: null }]) {
    const body = { ...none, update: { $set: { name: 'x' } } }
    await refused(
      { method: 'POST', path: '/data/update/country', body },
      { status: 400, code: 'store-crud:NullQuery' },
    )
    await refused(
      { method: 'POST', path: '/data/delete/country', body: none },
      { status: 400, code: 'store-crud:NullQuery' },
    )
  }
})

const DOCUMENTS: readonly [rule: string, document: Json, code: string][] = [
  ['constructor', { ...ONE, constructor: 1 }, 'metadata:InvalidFieldReference'],
  ['prototype', { ...ONE, prototype: {} }, 'metadata:InvalidFieldReference'],
  ['toString', { ...ONE, toString: 'x' }, 'metadata:InvalidFieldReference'],
  ['a dotted name', { ...ONE, 'places.0.name': 'x' }, 'metadata:InvalidFieldReference'],
  ['an operator', { ...ONE, name: { $gt: '' } }, 'metadata:IncompatibleValue'],
  ['1e400 for an integer', { ...ONE, population: JSON.rawJSON('1e400') }, 'metadata:IncompatibleValue'],
  [
    '400 digits for an integer',
    { ...ONE, population: JSON.rawJSON('1'.repeat(400)) },
    'metadata:IncompatibleValue',
  ],
  [
    '1e999999999 for an integer',
    { ...ONE, population: JSON.rawJSON('1e999999999') },
    'metadata:IncompatibleValue',
  ],
  ['a fraction for an integer', { ...ONE, population: 0.5 }, 'metadata:IncompatibleValue'],
  ['an array of arrays', { ...ONE, neighbours: [['x']] }, 'metadata:IncompatibleValue'],
  ['null as a document', null, 'metadata:IncompatibleValue'],
  ['text as a document', 'x', 'metadata:IncompatibleValue'],
  ['an array as a document', [], 'metadata:IncompatibleValue'],
]
for (const [rule, document, code] of DOCUMENTS) {
  test(`insert, save: ${rule} fails its document, and nothing is stored`, async () => {
    for (const [method, operation] of [
      ['PUT', 'insert'],
      ['POST', 'save'],
    ] as const) {
      const body = { data: [document], upsert: true }
      const answer = await server().ask(method, `/data/${operation}/country`, { body })
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.json.status, 'ERROR', answer.text)
      const codes = answer.json.dataErrors[0].errors.map(({ errorCode }: JsonObject) => errorCode)
      assert.ok(codes.includes(code), answer.text)
      const { processed } = (await server().ask('GET', '/data/find/country?P=population:1,name:1')).json
      assert.deepEqual(processed, [{ name: 'Switzerland', population: 9 }])
    }
  })
}

test('insert: -0 is the integer 0, and 1e2 the integer 100', async () => {
  for (const [written, stored] of [
    ['-0', 0],
    ['1e2', 100],
    ['7.00', 7],
  ] as const) {
    const body = `{"data":{"_id":"n","iso2Code":"NN","population":${written}},"projection":{"field":"population"}}`
    const answer = await server().ask('PUT', '/data/insert/country', { body })
    assert.deepEqual(answer.json.processed, [{ population: stored }], answer.text)
    await server().ask('POST', '/data/delete/country', { body: { query: { ...BY_ID, rvalue: 'n' } } })
  }
})

const invalidName: Refusal = { status: 422, code: 'metadata:InvalidName' }
for (const name of [
  'constructor',
  'prototype',
  '__proto__',
  'a"b',
  "a'b",
  'a;b',
  'a b',
  'ä',
  '',
  'x'.repeat(129),
]) {
  const isFine = /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/.test(name) && name !== '__proto__'
  if (isFine) {
    test(`metadata: the entity ${name} is one like others`, async () => {
      const { ask } = server()
      assert.equal((await ask('GET', `/data/find/${name}`)).status, 404)
      assert.equal((await ask('GET', `/metadata/${name}/roles`)).status, 404)
      assert.equal((await ask('GET', `/metadata/${name}/1.0.0`)).status, 404)
      assert.equal((await ask('GET', `/data/find/country/${name}`)).status, 404)
    })
  } else {
    test(`metadata: the entity name ${JSON.stringify(name.slice(0, 20))} is refused`, async () => {
      const path = `/metadata/${encodeURIComponent(name) || 'x'}/1.0.0`
      const body = metadataDocument(name, { a: { type: 'string' } })
      await refused(
        { method: 'PUT', path, body },
        name === '' ? { status: 400, code: 'metadata:NoEntityName' } : invalidName,
      )
    })
  }
}

const METADATA: readonly [rule: string, change: JsonObject, code: string][] = [
  ['hooks that are no array', { hooks: {} }, 'metadata:IllFormedMetadata'],
  ['indexes that are no array', { indexes: 'x' }, 'metadata:IllFormedMetadata'],
  ['a datastore that is no object', { datastore: [] }, 'metadata:IllFormedMetadata'],
  ['a default version that is no text', { defaultVersion: 1 }, 'metadata:IllFormedMetadata'],
  [
    'a collection with a quote',
    { datastore: { backend: storeKind(), collection: 'a"b' } },
    'metadata:InvalidDatastore',
  ],
  ['the backend constructor', { datastore: { backend: 'constructor' } }, 'metadata:UnknownBackend'],
  [
    'the datasource __proto__',
    { datastore: { backend: storeKind(), datasource: '__proto__' } },
    'metadata:InvalidDatastore',
  ],
  [
    'an index of an array of objects',
    { indexes: [{ name: 'x', fields: [{ field: 'places', dir: '$asc' }] }] },
    'metadata:InvalidIndex',
  ],
]
for (const [rule, change, code] of METADATA) {
  test(`update of entity info: ${rule} is refused`, async () => {
    const body = { ...countryInfo(), ...change }
    await refused({ method: 'PUT', path: '/metadata/country', body }, { status: 422, code })
  })
}
