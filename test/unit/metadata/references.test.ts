/** References in metadata: each holds when it is written, and goes on to hold while its version is in use. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Code, ServiceError } from '../../../src/base/errors.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { findingsIn } from '../../../src/service/metadata/access-reports.ts'
import { printMetadataDocument } from '../../../src/metadata/documents/metadata-document.ts'
import { type Registry, openRegistry } from '../../../src/metadata/registry.ts'
import { type MemoryMetadata, memoryMetadata } from './memory-metadata.ts'
import { CONFIGURED, assertRejects, infoOf, metadataOf, schemaOf, versionOf } from './samples.ts'

const OPTIONS = { ...CONFIGURED, now: () => new Date(0) }
const string = { type: 'string' }
const integer = { type: 'integer' }
const list = (fields: JsonObject): JsonObject => ({ type: 'array', items: { type: 'object', fields } })
const refersTo = (entity: string, more: JsonObject = {}): JsonObject => ({
  type: 'reference',
  entity,
  ...more,
})
const by = (query: Json, more: JsonObject = {}): JsonObject => refersTo('order', { query, ...more })
const equal = (field: string, rfield: string): JsonObject => ({ field, op: '=', rfield })

const ORDER: JsonObject = {
  number: integer,
  customer: string,
  placed: { type: 'date' },
  total: { type: 'bigdecimal' },
  note: { type: 'any' },
  tags: { type: 'array', items: string },
  lines: list({ sku: string, count: integer }),
  related: refersTo('order', { query: equal('number', '$parent.number') }),
}

interface Opened {
  readonly registry: Registry
  readonly store: MemoryMetadata
}

/** `order` has version 1.0.0, its default version, and a disabled 0.9.0; `draft` has no default version. */
async function open(): Promise<Opened> {
  const store = memoryMetadata()
  const registry = await openRegistry(store, OPTIONS)
  await define(registry, 'order', { fields: ORDER })
  const old = { ...versionOf('0.9.0'), name: 'order', status: { value: 'disabled' } }
  await registry.createSchema(
    'ann',
    { entity: 'order', version: '0.9.0' },
    schemaOf({ customer: string }, old),
  )
  await define(registry, 'draft', { info: { defaultVersion: null } })
  return { registry, store }
}

/** Version 1.0.0, unless another one is given, as the default version. */
function define(
  registry: Registry,
  entity: string,
  {
    version = '1.0.0',
    info = {},
    ...more
  }: { readonly version?: string; readonly info?: JsonObject; readonly fields?: Json } = {},
): Promise<unknown> {
  const schema = versionOf(version)
  const body = metadataOf(entity, { ...more, schema, info: { defaultVersion: version, ...info } })
  return registry.create('ann', { entity, version }, body)
}

async function refusalOf(work: Promise<unknown>, code: Code): Promise<ServiceError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ServiceError, String(error))
  assert.equal(error.code, code, error.message)
  return error
}

const HOLDER = {
  key: string,
  size: integer,
  keys: { type: 'array', items: string },
  flag: { type: 'boolean' },
}

const REFUSED: readonly [rule: string, reference: JsonObject, message: RegExp][] = [
  [
    'a disabled version',
    refersTo('order', { versionValue: '0.9.0' }),
    /version 0\.9\.0 is disabled; name one/,
  ],
  [
    'a query that names no field of the other entity',
    by(equal('buyer', '$parent.key')),
    /but there is no field "buyer" \(at \/query\/field\); plain names are fields of version 1\.0\.0 of "order"/,
  ],
  [
    'a query that names no field beside the reference',
    by(equal('customer', '$parent.name')),
    /there is no field "name" \(at \/query\/rfield\); .*"\$parent\.…" are those beside the reference/,
  ],
  ['a query that climbs too far', by(equal('customer', '$parent.$parent.key')), /climbs above the document/],
  ['types that do not compare', by(equal('number', '$parent.key')), /are of types that do not compare/],
  ['types of which one is no value', by(equal('note', '$parent.key')), /"note" is neither a simple value/],
  ['a value of another type', by({ field: 'number', op: '=', rvalue: 'x' }), /"number" is of type integer; /],
  [
    'the time of a request',
    by({ field: 'placed', op: '<', rvalue: { $now: true } }),
    /\{"\$now": true\} is the time of a request and stands only in requests; here compare "placed" with a date/,
  ],
  [
    'a list where a value is needed',
    by({ field: 'tags', op: '$in', rfield: '$parent.keys' }),
    /"tags" must be a simple value/,
  ],
  [
    'a list that is none',
    by({ field: 'customer', op: '$in', rfield: '$parent.key' }),
    /"\$parent\.key" is not an array/,
  ],
  [
    'an array without element',
    by(equal('lines.sku', '$parent.key')),
    /"lines" is an array; say which element/,
  ],
  [
    'a query through a reference of the other entity',
    by(equal('related.*.customer', '$parent.key')),
    /leads through the reference "related", and the definition of a reference follows none/,
  ],
  [
    'a query through itself',
    by(equal('customer', '$parent.r.*.customer')),
    /leads through the reference "r"/,
  ],
  [
    'a number of documents',
    by({ field: 'related#', op: '=', rvalue: 1 }),
    /leads through the reference "related"/,
  ],
  [
    'elements of a reference',
    by({ array: 'related', elemMatch: { field: 'customer', op: '=', rvalue: 'x' } }),
    /leads through the reference "related"/,
  ],
  [
    'a sort by no field',
    refersTo('order', { sort: { date: '$asc' } }),
    /no field "date" \(at \/sort\/date\)/,
  ],
  [
    'a sort by what has no order',
    refersTo('order', { sort: { note: '$asc' } }),
    /"note" has no order to sort by/,
  ],
  [
    'a sort by the holder',
    refersTo('order', { sort: [{ '$parent.key': '$asc' }] }),
    /climbs above the document/,
  ],
  [
    'a projection of elements of what is no array',
    refersTo('order', { projection: { field: 'customer', range: [0, 1] } }),
    /"customer" is not an array.*\(at \/projection\/field\)/,
  ],
  [
    'a projection that matches by an unknown field',
    refersTo('order', { projection: [{ field: 'lines', match: { field: 'x', op: '=', rvalue: 1 } }] }),
    /no field "x" \(at \/projection\/0\/match\/field\)/,
  ],
]
for (const [rule, reference, message] of REFUSED) {
  test(`create: a reference with ${rule} is metadata:InvalidReference`, async () => {
    const { registry } = await open()
    const work = define(registry, 'item', { fields: { ...HOLDER, r: reference } })
    const error = await refusalOf(work, 'metadata:InvalidReference')
    assert.match(error.message, message)
    assert.match(error.message, /^the field "r" refers to "/)
    assert.equal(error.context, 'fields/r')
    assert.ok(!registry.names().includes('item'))
  })
}

test('create: a problem of a reference in an element of an array names the whole way to it', async () => {
  const { registry } = await open()
  const fields = {
    box: { type: 'object', fields: { parts: list({ r: by(equal('customer', '$parent.key')) }) } },
  }
  const error = await refusalOf(define(registry, 'item', { fields }), 'metadata:InvalidReference')
  assert.equal(error.context, 'fields/box.parts.*.r')
  assert.match(error.message, /^the field "box\.parts\.\*\.r" refers to "order", but "\$parent\.key": /)
})

const UNDEFINED: readonly [
  rule: string,
  reference: JsonObject,
  define: (registry: Registry) => Promise<unknown>,
][] = [
  ['an unknown entity', refersTo('later'), (registry) => define(registry, 'later')],
  [
    'an unknown version',
    refersTo('order', { versionValue: '3.0.0' }),
    (registry) => define(registry, 'order', { version: '3.0.0', fields: ORDER }),
  ],
  [
    'an entity without default version',
    refersTo('draft'),
    (registry) => registry.setDefault('ann', 'draft', '1.0.0'),
  ],
  [
    'another version of itself that is unknown',
    refersTo('item', { versionValue: '3.0.0' }),
    (registry) => define(registry, 'item', { version: '3.0.0' }),
  ],
]
for (const [rule, reference, defineTarget] of UNDEFINED) {
  test(`create: a reference to ${rule} is accepted, and found by lint until it is defined`, async () => {
    const { registry } = await open()
    await define(registry, 'item', { fields: { ...HOLDER, r: reference } })
    const codes = (): readonly string[] => findingsIn(registry, 'item').map(({ code }) => code)
    assert.ok(codes().includes('undefined-reference'), codes().join())
    await defineTarget(registry)
    assert.ok(!codes().includes('undefined-reference'), codes().join())
  })
}

test('create: a target that does not fit is accepted, found by lint, and protected once another one fits', async () => {
  const { registry } = await open()
  const r = refersTo('later', { query: equal('owner', '$parent.key') })
  await define(registry, 'item', { fields: { ...HOLDER, r } })
  await define(registry, 'later', { fields: { name: string } })
  const codes = (): readonly string[] => findingsIn(registry, 'item').map(({ code }) => code)
  assert.ok(codes().includes('invalid-reference'), codes().join())
  await define(registry, 'later', { version: '2.0.0', fields: { owner: string } })
  assert.ok(!codes().includes('invalid-reference'), codes().join())
  await assertRejects(registry.setDefault('ann', 'later', '1.0.0'), 'metadata:UpdateInvalidatesMetadata')
})

const ACCEPTED: readonly [rule: string, fields: JsonObject][] = [
  ['no query at all', { r: refersTo('order') }],
  [
    'null for query, projection and sort',
    { r: refersTo('order', { query: null, projection: null, sort: null }) },
  ],
  ['the version named', { r: refersTo('draft', { versionValue: '1.0.0' }) }],
  ['fields of both sides', { r: by(equal('customer', '$parent.key')) }],
  ['numbers of two types', { r: by(equal('total', '$parent.size')) }],
  ['values that are converted without loss', { r: by({ field: 'number', op: '=', rvalue: '5' }) }],
  ['lists on either side', { a: by({ field: 'customer', op: '$in', rfield: '$parent.keys' }) }],
  ['elements', { r: by({ array: 'lines', elemMatch: equal('sku', '$parent.$parent.key') }) }],
  [
    'a place in an object: one $parent reaches it, two the document',
    {
      box: {
        type: 'object',
        fields: {
          inner: string,
          r: by({ $and: [equal('customer', '$parent.inner'), equal('customer', '$parent.$parent.key')] }),
        },
      },
    },
  ],
  [
    'a place in an element: one $parent reaches it, two the document',
    {
      parts: list({
        sku: string,
        r: by({ $or: [equal('lines.*.sku', '$parent.sku'), equal('customer', '$parent.$parent.key')] }),
      }),
    },
  ],
  ['a sort by several keys', { r: refersTo('order', { sort: [{ total: '$desc' }, { _id: '$asc' }] }) }],
  [
    'a projection with elements of arrays',
    {
      r: refersTo('order', {
        projection: [{ field: 'number' }, { field: 'lines', range: [0, 1], sort: { sku: '$asc' } }],
      }),
    },
  ],
]
for (const [rule, fields] of ACCEPTED) {
  test(`create: a reference is sound with ${rule}`, async () => {
    const { registry } = await open()
    await define(registry, 'item', { fields: { ...HOLDER, ...fields } })
    assert.ok(registry.names().includes('item'))
  })
}

test('create: an entity may refer to itself: without versionValue each version to its own', async () => {
  const { registry } = await open()
  const up = { up: string, r: refersTo('node', { query: equal('_id', '$parent.up') }) }
  await define(registry, 'node', { fields: up, info: { defaultVersion: null } })
  const below = { below: string, r: refersTo('node', { query: equal('_id', '$parent.below') }) }
  const info = { defaultVersion: '1.0.0' }
  await define(registry, 'node', { version: '2.0.0', fields: below, info })
  const third = {
    key: string,
    r: refersTo('node', { versionValue: '3.0.0', query: equal('key', '$parent.key') }),
  }
  await define(registry, 'node', { version: '3.0.0', fields: third, info })
  const wrong = { key: string, r: refersTo('node', { query: equal('up', '$parent.key') }) }
  await assertRejects(
    define(registry, 'node', { version: '4.0.0', fields: wrong, info }),
    'metadata:InvalidReference',
  )
})

const CUSTOMER = { key: string, orders: by(equal('customer', '$parent.key')) }

async function withCustomer(reference: JsonObject = {}): Promise<Opened> {
  const opened = await open()
  const fields = { ...CUSTOMER, orders: { ...CUSTOMER.orders, ...reference } }
  await define(opened.registry, 'customer', { fields })
  return opened
}

const orderOf = (version: string, fields: JsonObject, defaultVersion: string | null): JsonObject =>
  metadataOf('order', { fields, info: { defaultVersion }, schema: versionOf(version) })
const TWO = { entity: 'order', version: '2.0.0' }
const SNAPSHOT = { entity: 'order', version: '2.0.0-SNAPSHOT' }

const BREAKING: readonly [
  rule: string,
  reference: JsonObject,
  change: (registry: Registry) => Promise<unknown>,
][] = [
  [
    'setDefault: to have no default version',
    {},
    (registry) => registry.setDefault('bob', 'order', undefined),
  ],
  [
    'updateInfo: to leave out the default version',
    {},
    (registry) => registry.updateInfo('bob', 'order', infoOf({ name: 'order' })),
  ],
  [
    'create: a new version that takes the default away',
    {},
    (registry) => registry.create('bob', TWO, orderOf('2.0.0', ORDER, null)),
  ],
  [
    'create: a new default version without the field',
    {},
    (registry) => registry.create('bob', TWO, orderOf('2.0.0', { buyer: string }, '2.0.0')),
  ],
  [
    'create: a new default version with another type',
    {},
    (registry) => registry.create('bob', TWO, orderOf('2.0.0', { customer: integer }, '2.0.0')),
  ],
  [
    'create: a new default version that cannot be sorted so',
    { sort: { number: '$asc' } },
    (registry) => registry.create('bob', TWO, orderOf('2.0.0', { customer: string }, '2.0.0')),
  ],
  [
    'setDefault: a version without the field',
    {},
    async (registry) => {
      await registry.create('bob', TWO, orderOf('2.0.0', { buyer: string }, '1.0.0'))
      await registry.setDefault('bob', 'order', '2.0.0')
    },
  ],
  [
    'setStatus: to disable the version named',
    { versionValue: '1.0.0' },
    async (registry) => {
      await registry.setDefault('bob', 'order', undefined)
      await registry.setStatus('bob', { entity: 'order', version: '1.0.0' }, { status: 'disabled' })
    },
  ],
]
for (const [rule, reference, change] of BREAKING) {
  test(`${rule} is metadata:UpdateInvalidatesMetadata where a version in use refers to it`, async () => {
    const { registry } = await withCustomer(reference)
    const error = await refusalOf(change(registry), 'metadata:UpdateInvalidatesMetadata')
    assert.match(
      error.message,
      /^version 1\.0\.0 of "customer" is in use, and its field "orders" would refer to "order", /,
    )
    assert.equal(error.context, 'customer/1.0.0/fields/orders')
    assert.equal(registry.schemaOf('customer').version, '1.0.0')
  })

  test(`${rule} is done once the version that refers to it is disabled`, async () => {
    const { registry } = await withCustomer(reference)
    await registry.setDefault('ann', 'customer', undefined)
    const customer = { entity: 'customer', version: '1.0.0' }
    await registry.setStatus('ann', customer, { status: 'disabled' })
    await change(registry)
    const enabled = registry.setStatus('ann', customer, { status: 'active' })
    if (registry.infoOf('order').defaultVersion === undefined && reference.versionValue === undefined) {
      // The target is undefined now, which does not hold the reference back.
      await enabled
      return
    }
    const error = await refusalOf(enabled, 'metadata:InvalidReference')
    assert.equal(error.context, 'fields/orders')
  })
}

test('create: a snapshot is not replaced by one that a version in use cannot refer to', async () => {
  const { registry } = await open()
  const make = (fields: JsonObject) =>
    registry.create('ann', SNAPSHOT, orderOf(SNAPSHOT.version, fields, '1.0.0'))
  await make({ customer: string })
  const orders = { ...CUSTOMER.orders, versionValue: SNAPSHOT.version }
  await define(registry, 'customer', { fields: { ...CUSTOMER, orders } })
  await make({ customer: string, more: string })
  await assertRejects(make({ more: string }), 'metadata:UpdateInvalidatesMetadata')
  assert.ok(registry.schemaOf('order', SNAPSHOT.version).root.fields.has('customer'))
})

test('remove: an entity that a version in use refers to cannot be disabled, and so not be removed', async () => {
  const { registry } = await withCustomer()
  await assertRejects(registry.remove('ann', 'order'), 'metadata:CannotDeleteEntity')
  await assertRejects(registry.setDefault('ann', 'order', undefined), 'metadata:UpdateInvalidatesMetadata')
  await registry.setDefault('ann', 'customer', undefined)
  await registry.setStatus('ann', { entity: 'customer', version: '1.0.0' }, { status: 'disabled' })
  await registry.remove('ann', 'customer')
  await registry.setDefault('ann', 'order', undefined)
  await registry.setStatus('ann', { entity: 'order', version: '1.0.0' }, { status: 'disabled' })
  await registry.remove('ann', 'order')
  assert.deepEqual(registry.names(), ['draft'])
})

test('setDefault: another version that fits becomes the default one, and the first can be disabled', async () => {
  const { registry } = await withCustomer()
  await registry.create('bob', TWO, orderOf('2.0.0', { customer: string, more: string }, '1.0.0'))
  await registry.setDefault('bob', 'order', '2.0.0')
  await registry.setStatus('bob', { entity: 'order', version: '1.0.0' }, { status: 'disabled' })
  assert.equal(registry.schemaOf('order').version, '2.0.0')
})

test('create: entities that refer to each other are made by a later version, and taken apart by another', async () => {
  const { registry } = await withCustomer()
  const back = refersTo('customer', { query: equal('key', '$parent.customer') })
  await define(registry, 'order', { version: '2.0.0', fields: { ...ORDER, back } })
  await registry.setStatus('ann', { entity: 'order', version: '1.0.0' }, { status: 'disabled' })
  await assertRejects(registry.setDefault('ann', 'customer', undefined), 'metadata:UpdateInvalidatesMetadata')
  await assertRejects(registry.setDefault('ann', 'order', undefined), 'metadata:UpdateInvalidatesMetadata')
  await define(registry, 'order', { version: '3.0.0', fields: ORDER })
  await registry.setStatus('ann', TWO, { status: 'disabled' })
  await registry.setDefault('ann', 'customer', undefined)
})

test('create: what is read can be written again, also a snapshot whose reference holds no more', async () => {
  const { registry } = await open()
  const snapshot = { entity: 'customer', version: '1.0.0-SNAPSHOT' }
  const schema = versionOf(snapshot.version)
  await registry.create('ann', snapshot, metadataOf('customer', { fields: CUSTOMER, schema }))
  await registry.setStatus('ann', snapshot, { status: 'disabled' })
  await registry.setDefault('ann', 'order', undefined)
  await registry.setStatus('ann', { entity: 'order', version: '1.0.0' }, { status: 'disabled' })
  await registry.create('ann', TWO, orderOf('2.0.0', { buyer: string }, '2.0.0'))
  const document = registry.documentOf('customer', snapshot.version)
  await registry.create('ann', snapshot, printMetadataDocument(registry.infoOf('customer'), document))
  await assertRejects(registry.setStatus('ann', snapshot, { status: 'active' }), 'metadata:InvalidReference')
})

test('changes: a reference that did not hold before holds nothing back', async () => {
  const { registry, store } = await open()
  const { epoch } = await store.readMetadata()
  const fields = { key: string, r: refersTo('draft', { query: equal('nothing', '$parent.key') }) }
  const history = { principal: 'x', action: 'create', at: '', before: null, after: null }
  await store.changeMetadata({
    expectedEpoch: epoch,
    entities: [
      {
        entity: 'old',
        info: JSON.stringify(infoOf({ name: 'old' })),
        history,
        schemas: [{ version: '1.0.0', schema: JSON.stringify(schemaOf(fields, { name: 'old' })) }],
      },
    ],
  })
  await registry.setDefault('ann', 'draft', '1.0.0')
  await registry.setDefault('ann', 'draft', undefined)
  await registry.setStatus('ann', { entity: 'draft', version: '1.0.0' }, { status: 'disabled' })
  await registry.remove('ann', 'draft')
  assert.deepEqual(registry.names(), ['old', 'order'])
})
