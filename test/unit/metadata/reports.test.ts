import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Caller, Permission } from '../../../src/access/caller.ts'
import { PERMISSIONS } from '../../../src/access/caller.ts'
import { dependencyTrees } from '../../../src/metadata/dependencies.ts'
import { parseSchemaDocument } from '../../../src/metadata/documents/schema-document.ts'
import { type Code, ServiceError } from '../../../src/base/errors.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { diffJson } from '../../../src/metadata/diff.ts'
import { openRegistry } from '../../../src/metadata/registry.ts'
import { metadataService } from '../../../src/service/metadata/metadata.ts'
import type { MetadataService } from '../../../src/service/service.ts'
import { memoryMetadata } from './memory-metadata.ts'
import {
  ANYONE,
  CONFIGURED,
  assertCode,
  assertRejects,
  infoOf,
  metadataOf,
  schemaOf,
  versionOf,
} from './samples.ts'

const ANN = caller(PERMISSIONS)
const string = { type: 'string' }

function caller(permissions: readonly Permission[]): Caller {
  return { principal: 'ann', roles: new Set(), permissions: new Set(permissions), claims: {} }
}

type Definition = Parameters<typeof metadataOf>[1]

async function serviceWith(entities: Readonly<Record<string, Definition>>): Promise<MetadataService> {
  const registry = await openRegistry(memoryMetadata(), { ...CONFIGURED, now: () => new Date(0) })
  const service = metadataService(registry, CONFIGURED)
  for (const [entity, definition] of Object.entries(entities)) {
    const info = { defaultVersion: '1.0.0', ...definition?.info }
    await service.create(ANN, { entity, version: '1.0.0' }, metadataOf(entity, { ...definition, info }))
  }
  return service
}

const refersTo = (...entities: readonly string[]): Definition => ({
  fields: Object.fromEntries(entities.map((entity) => [`to_${entity}`, { type: 'reference', entity }])),
})

test('names: sorted, and filtered by the statuses of their versions', async () => {
  const service = await serviceWith({
    b: {},
    a: { info: { defaultVersion: null }, schema: { status: { value: 'disabled' } } },
    c: { schema: { status: { value: 'deprecated' } } },
  })
  const names = (statuses?: string) => (service.names(ANN, statuses) as { entities: Json }).entities
  assert.deepEqual(names(), ['a', 'b', 'c'])
  assert.deepEqual(names('active'), ['b'])
  assert.deepEqual(names('active, deprecated'), ['b', 'c'])
  assert.deepEqual(names('disabled;active:deprecated'), ['a', 'b', 'c'])
  assertCode(() => names('active,retired'), 'metadata:ParseInvalidStatus')
})

test('versions: one record each, in the order they were made', async () => {
  const service = await serviceWith({ a: {} })
  const version = { value: '0.9.0', changelog: 'older', extendVersions: ['0.8.0'] }
  await service.createSchema(
    ANN,
    { entity: 'a', version: '0.9.0' },
    schemaOf({ x: string }, { name: 'a', version }),
  )
  assert.deepEqual(service.versions(ANN, 'a'), [
    { version: '1.0.0', changelog: 'first', extendsVersions: [], status: 'active', defaultVersion: true },
    {
      version: '0.9.0',
      changelog: 'older',
      extendsVersions: ['0.8.0'],
      status: 'active',
      defaultVersion: false,
    },
  ])
  assertCode(() => service.versions(ANN, 'nobody'), 'metadata:MissingEntityInfo')
})

test('get: a version, or the default one', async () => {
  const service = await serviceWith({ a: {}, b: { info: { defaultVersion: null } } })
  assert.deepEqual(service.get(ANN, 'a', 'default'), service.get(ANN, 'a', '1.0.0'))
  assertCode(() => service.get(ANN, 'b', 'default'), 'ERR_NO_METADATA')
  assertCode(() => service.get(ANN, 'a', '2.0.0'), 'metadata:MissingSchema')
  assertCode(() => service.get(ANN, 'nobody', '2.0.0'), 'metadata:MissingEntityInfo')
})

test('diff: modifications, additions as one node, bookkeeping last', async () => {
  const service = await serviceWith({ country: {} })
  const next = schemaOf(
    { label: string, elementx: string },
    { name: 'country', version: { value: '1.1.0', changelog: 'first' } },
  )
  await service.createSchema(ANN, { entity: 'country', version: '1.1.0' }, next)
  assert.deepEqual(service.diff(ANN, 'country', ['1.0.0', '1.1.0']), [
    { '-schema.version.value': '1.0.0', '+schema.version.value': '1.1.0' },
    { '+schema.fields.elementx': { type: 'string', description: null } },
    { '-schema._id': 'country|1.0.0', '+schema._id': 'country|1.1.0' },
  ])
})

test('diff: arrays go by index, kinds that differ are a modification', () => {
  assert.deepEqual(diffJson({ a: [1, 2, 3], b: {}, c: 1 }, { a: [1, 5], b: [], c: 1 }), [
    { '-a.1': 2, '+a.1': 5 },
    { '-a.2': 3 },
    { '-b': {}, '+b': [] },
  ])
})

test('roles: the lists as declared, sorted by role', async () => {
  const service = await serviceWith({ country: {} })
  assert.deepEqual(service.roles(ANN, 'country'), [
    {
      role: 'anyone',
      insert: ['country'],
      find: ['country', 'country.objectType'],
      update: ['country'],
      delete: ['country'],
    },
    { role: 'noone', update: ['country.objectType'] },
  ])
})

test('roles: fields at every depth, arrays with *', async () => {
  const city = { type: 'string', access: { find: ['geo'], insert: ['geo'] } }
  const sites = { type: 'array', items: { type: 'object', fields: { city } } }
  const service = await serviceWith({ user: { fields: { sites }, schema: { access: {} } } })
  const records = service.roles(ANN, 'user', '1.0.0') as JsonObject[]
  assert.deepEqual(
    records.find(({ role }) => role === 'geo'),
    {
      role: 'geo',
      insert: ['user.sites.*.city'],
      find: ['user.sites.*.city'],
    },
  )
  assert.deepEqual(
    records.find(({ role }) => role === 'anyone'),
    { role: 'anyone', find: ['user.sites#', 'user.objectType'] },
  )
})

test('roles: all entities together; those without default version stand as errors at the end', async () => {
  const service = await serviceWith({ a: {}, b: { info: { defaultVersion: null } }, c: {} })
  const records = service.roles(ANN) as JsonObject[]
  assert.deepEqual(records[0]!.insert, ['a', 'c'])
  const { objectType, errorCode, context, msg } = records.at(-1)!
  assert.deepEqual(
    [objectType, errorCode, typeof context, typeof msg],
    ['error', 'ERR_NO_METADATA', 'string', 'string'],
  )
  assertCode(() => service.roles(ANN, 'b'), 'ERR_NO_METADATA')
  assertCode(() => service.roles(ANN, 'nobody'), 'metadata:MissingEntityInfo')
  assertCode(() => service.roles(ANN, 'a', '9.0.0'), 'metadata:MissingSchema')
})

test('dependencies: a cycle ends where an entity stands again below itself', async () => {
  const service = await serviceWith({ baz: {}, bar: {}, foo: refersTo('bar') })
  const bar = metadataOf('bar', {
    ...refersTo('baz', 'foo'),
    info: { defaultVersion: '2.0.0' },
    schema: versionOf('2.0.0'),
  })
  await service.create(ANN, { entity: 'bar', version: '2.0.0' }, bar)
  const foo = {
    name: 'foo',
    dependencies: [{ name: 'bar', dependencies: [{ name: 'baz' }, { name: 'foo' }] }],
  }
  assert.deepEqual(service.dependencies(ANN, 'foo'), [foo])
  assert.deepEqual(service.dependencies(ANN, 'bar', '1.0.0'), [{ name: 'bar' }])
  assert.deepEqual(
    (service.dependencies(ANN) as JsonObject[]).map(({ name }) => name),
    ['bar', 'baz', 'foo'],
  )
})

test('dependencies: an entity without default version is left out, and a leaf below others', async () => {
  const toA = { to: { type: 'reference', entity: 'a', versionValue: '1.0.0' } }
  const service = await serviceWith({ a: { info: { defaultVersion: null } }, b: { fields: toA } })
  assert.deepEqual(service.dependencies(ANN, 'a'), [])
  assert.deepEqual(service.dependencies(ANN), [{ name: 'b', dependencies: [{ name: 'a' }] }])
  assertCode(() => service.dependencies(ANN, 'nobody'), 'metadata:MissingEntityInfo')
  assertCode(() => service.dependencies(ANN, 'a', '9.0.0'), 'metadata:MissingSchema')
})

test('dependencies: what is not defined is marked, also in a cycle', async () => {
  const to = (entity: string, versionValue?: string): JsonObject => ({
    type: 'reference',
    entity,
    ...(versionValue === undefined ? {} : { versionValue }),
  })
  const service = await serviceWith({
    bare: { info: { defaultVersion: null } },
    a: {
      fields: {
        self: to('a'),
        next: to('b'),
        none: to('none'),
        bare: to('bare'),
        named: to('bare', '1.0.0'),
      },
    },
    b: { fields: { back: to('a'), late: to('a', '9.0.0'), other: to('b', '9.0.0') } },
  })
  const dependencies = [
    { name: 'a' },
    {
      name: 'b',
      dependencies: [
        { name: 'a', undefined: true },
        { name: 'b', undefined: true },
      ],
    },
    { name: 'none', undefined: true },
    { name: 'bare', undefined: true },
  ]
  assert.deepEqual(service.dependencies(ANN, 'a'), [{ name: 'a', dependencies }])
})

test('dependencies: references in objects and in elements of arrays count, each entity once', async () => {
  const to = (entity: string): JsonObject => ({ type: 'reference', entity })
  const inside = { deep: { type: 'object', fields: { second: to('b'), again: to('a') } } }
  const fields = {
    list: { type: 'array', items: { type: 'object', fields: { first: to('a'), ...inside } } },
    last: to('c'),
    once: to('b'),
  }
  const service = await serviceWith({ a: {}, b: {}, c: {}, top: { fields } })
  const dependencies = [{ name: 'a' }, { name: 'b' }, { name: 'c' }]
  assert.deepEqual(service.dependencies(ANN, 'top'), [{ name: 'top', dependencies }])
})

test('dependencies: an entity that refers to itself stands below itself once', async () => {
  const service = await serviceWith({ node: refersTo('node') })
  const node = [{ name: 'node', dependencies: [{ name: 'node' }] }]
  assert.deepEqual(service.dependencies(ANN, 'node'), node)
  assert.deepEqual(service.dependencies(ANN, 'node', '1.0.0'), node)
})

test('dependencies: an entity that two others refer to is followed below each of them', async () => {
  const service = await serviceWith({
    end: {},
    shared: refersTo('end'),
    left: refersTo('shared'),
    right: refersTo('shared'),
    top: refersTo('left', 'right'),
  })
  const shared = [{ name: 'shared', dependencies: [{ name: 'end' }] }]
  const dependencies = [
    { name: 'left', dependencies: shared },
    { name: 'right', dependencies: shared },
  ]
  assert.deepEqual(service.dependencies(ANN, 'top'), [{ name: 'top', dependencies }])
})

test('lint: what a reference leads to is looked at in the other entity', async () => {
  const query = { field: 'label', op: '=', rfield: '$parent.label' }
  const fields = { label: string, other: { type: 'reference', entity: 'b', query } }
  const service = await serviceWith({ b: {}, a: { fields } })
  const hints = () =>
    (service.lint(ANN, 'a') as { findings: JsonObject[] }).findings
      .filter(({ code }) => code === 'reference-without-index')
      .map(({ at, msg }) => [at, /index of "(.)"/.exec(msg as string)?.[1]])
  assert.deepEqual(hints(), [
    ['/schema/fields/other/query', 'b'],
    ['/schema/fields/other/query', 'a'],
  ])
  const indexes = [{ fields: [{ field: 'label' }] }]
  await service.updateInfo(ANN, 'b', infoOf({ name: 'b', defaultVersion: '1.0.0', indexes }))
  assert.deepEqual(hints(), [['/schema/fields/other/query', 'a']])
})

test('dependencies: a graph with endless ways through it is refused', async () => {
  const names = Array.from({ length: 10 }, (_, i) => `e${i}`)
  const service = await serviceWith(Object.fromEntries(names.map((name) => [name, {}])))
  for (const name of names) {
    const body = metadataOf(name, {
      ...refersTo(...names),
      info: { defaultVersion: '2.0.0' },
      schema: versionOf('2.0.0'),
    })
    await service.create(ANN, { entity: name, version: '2.0.0' }, body)
  }
  assertCode(() => service.dependencies(ANN), 'crud:LimitExceeded')
})

test('dependencies: a chain that is longer than anybody follows is refused', () => {
  const nameOf = (i: number): string => `e${i}`
  const schema = (i: number) =>
    parseSchemaDocument(
      { ...schemaOf({ r: { type: 'reference', entity: nameOf(i + 1) } }), name: nameOf(i) },
      '',
    )
  const trees = (length: number) =>
    dependencyTrees([schema(0)], {
      schemaOf: (name) => {
        const i = Number(name.slice(1))
        return i < length ? schema(i) : undefined
      },
      hasVersion: () => false,
    })
  assert.equal(trees(500).length, 1)
  assert.throws(() => trees(20_000), { code: 'crud:LimitExceeded' })
})

test('updateInfo: answers the document of the default version, or entity info alone', async () => {
  const service = await serviceWith({ item: {} })
  const withDefault = (await service.updateInfo(
    ANN,
    'item',
    infoOf({ defaultVersion: '1.0.0' }),
  )) as JsonObject
  assert.deepEqual(Object.keys(withDefault), ['entityInfo', 'schema'])
  const without = (await service.updateInfo(ANN, 'item', infoOf())) as JsonObject
  assert.deepEqual(Object.keys(without), ['entityInfo', 'warnings'])
  assert.deepEqual(
    (without.warnings as JsonObject[]).map(({ code }) => code),
    ['dropped-default-version'],
  )
})

test('clearDefault and remove: answer entity info, and an empty object', async () => {
  const service = await serviceWith({ a: {} })
  assert.equal(
    ((await service.setDefault(ANN, { entity: 'a', version: '1.0.0' })) as { entityInfo: JsonObject })
      .entityInfo.defaultVersion,
    '1.0.0',
  )
  assert.equal(((await service.clearDefault(ANN, 'a')) as JsonObject)._id, 'a|')
  await service.setStatus(ANN, { entity: 'a', version: '1.0.0' }, { status: 'disabled', comment: 'done' })
  assert.deepEqual(await service.remove(ANN, 'a'), {})
  const history = (await service.history(ANN, 'a')) as JsonObject[]
  assert.deepEqual(
    history.map(({ action }) => action),
    ['create', 'clearDefault', 'setStatus', 'remove'],
  )
  await assertRejects(service.history(ANN, 'nobody'), 'metadata:MissingEntityInfo')
})

test('errors: the context leads from the operation to the field', async () => {
  const service = await serviceWith({})
  const body = metadataOf('country', { fields: { name: { type: 'text' } }, schema: { access: ANYONE } })
  await assert.rejects(service.create(ANN, { entity: 'country', version: '1.0.0' }, body), (error) => {
    assert.ok(error instanceof ServiceError)
    assert.equal(error.context, 'createMetadata(country:1.0.0)/fields/name/type')
    return true
  })
})

const CALLS: readonly [
  permission: Permission,
  call: (service: MetadataService, caller: Caller) => unknown,
][] = [
  ['metadata.find', (service, who) => service.names(who, undefined)],
  ['metadata.find', (service, who) => service.versions(who, 'a')],
  ['metadata.find', (service, who) => service.get(who, 'a', '1.0.0')],
  ['metadata.find', (service, who) => service.diff(who, 'a', ['1.0.0', '1.0.0'])],
  ['metadata.find', (service, who) => service.roles(who)],
  ['metadata.find', (service, who) => service.dependencies(who)],
  ['metadata.find', (service, who) => service.history(who, 'a')],
  ['metadata.find', (service, who) => service.access(who, 'a')],
  ['metadata.find', (service, who) => service.lint(who, 'a')],
  ['metadata.find', (service, who) => service.explainAccess(who, { roles: [], entity: 'a', op: 'find' })],
  ['metadata.insert', (service, who) => service.create(who, { entity: 'a', version: '1.0.0' }, undefined)],
  [
    'metadata.insert',
    (service, who) => service.createSchema(who, { entity: 'a', version: '1.0.0' }, undefined),
  ],
  ['metadata.update', (service, who) => service.updateInfo(who, 'a', undefined)],
  [
    'metadata.update',
    (service, who) => service.setStatus(who, { entity: 'a', version: '1.0.0' }, { status: 'active' }),
  ],
  ['metadata.update', (service, who) => service.setDefault(who, { entity: 'a', version: '1.0.0' })],
  ['metadata.update', (service, who) => service.clearDefault(who, 'a')],
  ['metadata.delete', (service, who) => service.remove(who, 'a')],
]
for (const [i, [permission, call]] of CALLS.entries()) {
  test(`permissions: operation ${i} needs ${permission} and no other`, async () => {
    const service = await serviceWith({ a: {} })
    const others = caller(PERMISSIONS.filter((each) => each !== permission))
    await assertRejects((async () => await call(service, others))(), 'crud:NoAccess')
    const allowed = await outcome(() => call(service, caller([permission])))
    assert.notEqual(allowed, 'crud:NoAccess')
  })
}

test('bodies: a missing one is a bad request', async () => {
  const service = await serviceWith({ a: {} })
  await assertRejects(
    service.create(ANN, { entity: 'a', version: '1.0.0' }, undefined),
    'crud:InvalidRequest',
  )
  await assertRejects(
    service.createSchema(ANN, { entity: 'a', version: '1.0.0' }, undefined),
    'crud:InvalidRequest',
  )
  await assertRejects(service.updateInfo(ANN, 'a', undefined), 'crud:InvalidRequest')
})

async function outcome(work: () => unknown): Promise<Code | 'done'> {
  try {
    await work()
    return 'done'
  } catch (error) {
    assert.ok(error instanceof ServiceError)
    return error.code
  }
}
