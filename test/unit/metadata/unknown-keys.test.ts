/** Keys without a meaning: kept, listed in every response to a write, and refused by strict writes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../../src/access/caller.ts'
import { type Json, type JsonObject, member } from '../../../src/base/json/json.ts'
import { openRegistry } from '../../../src/metadata/registry.ts'
import { metadataService } from '../../../src/service/metadata/metadata.ts'
import { memoryMetadata } from './memory-metadata.ts'
import { CONFIGURED, assertRejects, metadataOf, versionOf } from './samples.ts'

const ANN: Caller = {
  principal: 'ann',
  roles: new Set(),
  permissions: new Set(['metadata.find', 'metadata.insert', 'metadata.update']),
  claims: {},
}
const ONE = { entity: 'item', version: '1.0.0' }
const string = { type: 'string' }

async function open() {
  const registry = await openRegistry(memoryMetadata(), { ...CONFIGURED, now: () => new Date(0) })
  return metadataService(registry, CONFIGURED)
}

interface Warning {
  readonly code: string
  readonly at: string
  readonly msg: string
}

const unknownIn = (answer: Json): readonly Warning[] =>
  ((member(answer, 'warnings') ?? []) as unknown as Warning[]).filter(({ code }) => code === 'unknown-key')

const field = (more: JsonObject): JsonObject => metadataOf('item', { fields: { a: { ...string, ...more } } })
const info = (more: JsonObject): JsonObject => metadataOf('item', { info: more })

const UNKNOWN: readonly [body: JsonObject, at: string, intent: RegExp][] = [
  [
    field({ required: true }),
    '/schema/fields/a/required',
    /^"required" beside "type": did you mean "constraints": \{"required": true\}\? It is kept and has no effect$/,
  ],
  [field({ maxLength: 5 }), '/schema/fields/a/maxLength', /did you mean "constraints": \{"maxLength": 5\}\?/],
  [field({ constraint: {} }), '/schema/fields/a/constraint', /did you mean "constraints"\?/],
  [field({ valuegenerator: {} }), '/schema/fields/a/valuegenerator', /did you mean "valueGenerator"\?/],
  [
    field({ 'x/y': 1 }),
    '/schema/fields/a/x~1y',
    /a simple field has no key "x\/y"; it has type, description,/,
  ],
  [
    field({ valueGenerator: { type: 'UUID', overwite: true } }),
    '/schema/fields/a/valueGenerator/overwite',
    /did you mean "overwrite"\?/,
  ],
  [
    metadataOf('item', { fields: { l: { type: 'array', items: { ...string, minLength: 1 } } } }),
    '/schema/fields/l/items/minLength',
    /did you mean "constraints": \{"minLength": 1\}\?/,
  ],
  [
    metadataOf('item', {
      fields: { l: { type: 'array', items: { type: 'object', fields: { k: { ...string, indentity: 1 } } } } },
    }),
    '/schema/fields/l/items/fields/k/indentity',
    /a simple field has no key "indentity"/,
  ],
  [
    metadataOf('item', { fields: { r: { type: 'reference', entity: 'item', version: '1.0.0' } } }),
    '/schema/fields/r/version',
    /did you mean "versionValue"\?|a reference has no key "version"/,
  ],
  [metadataOf('item', { schema: { indexes: [] } }), '/schema/indexes', /it belongs to "entityInfo"/],
  [metadataOf('item', { schema: { acess: {} } }), '/schema/acess', /did you mean "access"\?/],
  [
    metadataOf('item', { schema: { status: { value: 'active', reason: 'x' } } }),
    '/schema/status/reason',
    /a status has no key "reason"; it has value, log/,
  ],
  [
    metadataOf('item', { schema: { version: { value: '1.0.0', changelog: 'x', extendsVersions: [] } } }),
    '/schema/version/extendsVersions',
    /did you mean "extendVersions"\?/,
  ],
  [info({ access: {} }), '/entityInfo/access', /it belongs to "schema"/],
  [info({ manageIndexes: false }), '/entityInfo/manageIndexes', /always makes the indexes that are declared/],
  [info({ datastore: { database: 'x' } }), '/entityInfo/datastore/database', /did you mean "datasource"/],
  [
    info({ indexes: [{ fields: [{ field: 'label' }], sparse: 1 }] }),
    '/entityInfo/indexes/0/sparse',
    /ignores documents that lack all of its fields/,
  ],
  [
    info({ indexes: [{ fields: [{ field: 'label', direction: '$asc' }] }] }),
    '/entityInfo/indexes/0/fields/0/direction',
    /a field of an index has no key "direction"/,
  ],
  [
    info({ enums: [{ name: 'e', values: ['a'], vals: [] }] }),
    '/entityInfo/enums/0/vals',
    /did you mean "values"\?/,
  ],
  [
    info({ hooks: [{ name: 'h', actions: ['insert'], watchProjection: [] }] }),
    '/entityInfo/hooks/0/watchProjection',
    /it belongs to "configuration"/,
  ],
  [
    info({
      hooks: [{ name: 'h', actions: ['insert'], configuration: { kind: 'audit', includeProjections: [] } }],
    }),
    '/entityInfo/hooks/0/configuration/includeProjections',
    /did you mean "includeProjection"\?/,
  ],
]
for (const [body, at, intent] of UNKNOWN) {
  test(`create: the unknown key at ${at} is kept, warned about, and refused when strict`, async () => {
    const service = await open()
    await assertRejects(service.create(ANN, ONE, body, { isStrict: true }), 'metadata:IllFormedMetadata')
    assert.deepEqual(service.names(ANN, undefined), { entities: [] })
    const answer = await service.create(ANN, ONE, body)
    const [warning] = unknownIn(answer)
    assert.equal(warning?.at, at)
    assert.match(warning.msg, intent)
    assert.deepEqual(
      unknownIn(await service.create(ANN, ONE, answer)),
      [warning],
      'an answer is accepted again',
    )
    const findings = (member(service.lint(ANN, 'item'), 'findings') ?? []) as unknown as Warning[]
    assert.ok(findings.some((each) => each.code === 'unknown-key' && each.at === at))
  })
}

test('every change of the default version, also its removal, lists unknown keys', async () => {
  const service = await open()
  await service.create(ANN, ONE, field({ required: true }))
  for (const answer of [await service.setDefault(ANN, ONE), await service.clearDefault(ANN, 'item')]) {
    assert.deepEqual(
      unknownIn(answer).map(({ at }) => at),
      ['/schema/fields/a/required'],
    )
  }
})

const KNOWN: readonly JsonObject[] = [
  field({
    description: 'd',
    access: { find: ['x'] },
    constraints: { required: true },
    documentVersion: false,
  }),
  info({
    description: 'd',
    _id: 'item|',
    history: true,
    enums: [{ name: 'e', values: ['a'], description: 'd' }],
  }),
  info({
    hooks: [{ name: 'auditHook', actions: ['insert'], configuration: { entityName: 'audit', version: '1' } }],
  }),
]
test('create: known keys and descriptions pass strict writes, also as they are returned', async () => {
  for (const body of KNOWN) {
    const service = await open()
    const answer = await service.create(ANN, ONE, body, { isStrict: true })
    assert.deepEqual(unknownIn(answer), [])
    await service.create(ANN, ONE, answer, { isStrict: true })
  }
})

test('strict: entity info and schemas alone are checked as well, and errors point into the body', async () => {
  const service = await open()
  await service.create(ANN, ONE, metadataOf('item'))
  const { entityInfo, schema } = metadataOf('item', {
    info: { hook: [] },
    schema: { ...versionOf('2.0.0'), feilds: {} },
  }) as { entityInfo: JsonObject; schema: JsonObject }
  const two = { entity: 'item', version: '2.0.0' }
  const strict = { isStrict: true }
  await assert.rejects(
    service.updateInfo(ANN, 'item', entityInfo, strict),
    /did you mean "hooks".*\(at \/hook\)/,
  )
  await assert.rejects(
    service.createSchema(ANN, two, schema, strict),
    /did you mean "fields".*\(at \/feilds\)/,
  )
  const whole = { entityInfo, schema }
  await assert.rejects(service.createSchema(ANN, two, whole, strict), /\(at \/schema\/feilds\)/)
  await assert.rejects(
    service.createAll(ANN, [metadataOf('b'), whole], strict),
    /\(at \/1\/entityInfo\/hook\)/,
  )
  assert.equal(unknownIn(await service.updateInfo(ANN, 'item', entityInfo)).length, 1)
  assert.equal(unknownIn(await service.createSchema(ANN, two, schema)).length, 2)
  assert.equal(unknownIn(await service.setStatus(ANN, two, { status: 'deprecated' })).length, 2)
  assert.equal(unknownIn(await service.setDefault(ANN, two)).length, 2)
})
