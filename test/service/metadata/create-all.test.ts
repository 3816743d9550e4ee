/** `PUT /metadata`: a list of metadata documents, written in one transaction. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Caller, PERMISSIONS } from '../../../src/access/caller.ts'
import { ServiceError } from '../../../src/base/errors.ts'
import { type Json, type JsonObject, member } from '../../../src/base/json/json.ts'
import { ADMIN, EVERYTHING, documentsOf, metadataDocument, openTestService } from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const STRING = { type: 'string' }
const versioned = (value: string): JsonObject => ({ version: { value, changelog: 'made' } })
/** The tables are made once for all kinds of store, so they name none. */
const ANYWHERE = { datastore: {} }
const refersTo = (entity: string, field = 'key'): JsonObject => ({
  type: 'reference',
  entity,
  query: { field, op: '=', rfield: '$parent.key' },
})
const one = (entity: string, fields: JsonObject = {}, info: JsonObject = {}): JsonObject =>
  metadataDocument(entity, { _id: STRING, key: STRING, ...fields }, { info: { ...ANYWHERE, ...info } })
const version = (entity: string, value: string, info: JsonObject, fields: JsonObject = {}): JsonObject =>
  metadataDocument(
    entity,
    { key: STRING, ...fields },
    {
      info: { ...ANYWHERE, ...info },
      schema: versioned(value),
    },
  )

const LISTS: readonly [rule: string, list: readonly JsonObject[], names: readonly string[]][] = [
  ['one document', [one('a')], ['a']],
  [
    'entities that refer to each other',
    [one('a', { b: refersTo('b') }), one('b', { a: refersTo('a') })],
    ['a', 'b'],
  ],
  [
    'versions of one entity, the default one last',
    [version('a', '1.0.0', { defaultVersion: '2.0.0' }), version('a', '2.0.0', { defaultVersion: '2.0.0' })],
    ['a'],
  ],
  [
    'an index that a later document gives its field',
    [
      version('a', '1.0.0', { indexes: [{ fields: [{ field: 'list.x' }] }] }),
      version(
        'a',
        '2.0.0',
        { indexes: [{ fields: [{ field: 'list.x' }] }] },
        { list: { type: 'array', items: { type: 'object', fields: { x: STRING } } } },
      ),
    ],
    ['a'],
  ],
]

const REFUSED: readonly [rule: string, list: Json, code: string, message: RegExp][] = [
  ['no list', one('a'), 'crud:InvalidRequest', /must be a list of metadata documents/],
  ['an empty list', [], 'crud:InvalidRequest', /must be a list of metadata documents/],
  ['too many', Array.from({ length: 1_001 }, () => ({})), 'crud:LimitExceeded', /at most 1000/],
  ['a malformed one', [one('a'), 5], 'metadata:IllFormedMetadata', /\(at \/1\)/],
  [
    'a bad field in one',
    [one('a'), one('b', { x: { type: 'strng' } })],
    'metadata:InvalidType',
    /\(at \/1\/schema\/fields\/x\/type\)/,
  ],
  [
    'two names in one',
    [{ ...one('a'), schema: one('b')['schema']! }],
    'rest-metadata:NoNameMatch',
    /of the entity "b", the path of "a"|"b"/,
  ],
  [
    'a reference that does not fit its target in the list',
    [one('a', { b: refersTo('b', 'nothing') }), one('b')],
    'metadata:InvalidReference',
    /no field "nothing"/,
  ],
  [
    'a default version that nothing defines',
    [one('a'), one('b', {}, { defaultVersion: '9.0.0' })],
    'metadata:InvalidDefaultVersion',
    /9\.0\.0/,
  ],
  [
    'one version twice',
    [one('a'), one('a')],
    'metadata:DuplicateSchema',
    /twice; leave one of the documents out \(at \/1\)/,
  ],
  [
    'other content for a version that exists',
    [one('b'), one('there', { more: STRING })],
    'metadata:DuplicateSchema',
    /exists with other content/,
  ],
  [
    'a unique index that stored documents violate',
    [one('b'), version('there', '2.0.0', { indexes: [{ unique: true, fields: [{ field: 'key' }] }] })],
    'metadata:InvalidIndex',
    /key/,
  ],
]

onEveryStore(() => {
  for (const [rule, list, names] of LISTS) {
    test(`createAll: ${rule}`, async () => {
      await using on = await openTestService()
      const { metadata } = on.service
      const before = (metadata.names(ADMIN, undefined) as { entities: string[] }).entities
      const answer = (await metadata.createAll(ADMIN, list)) as JsonObject[]
      const after = (metadata.names(ADMIN, undefined) as { entities: string[] }).entities
      assert.deepEqual(
        after.filter((each) => !before.includes(each)),
        names,
      )
      assert.equal(answer.length, list.length)
      for (const [i, each] of answer.entries()) {
        const schema = member(list[i], 'schema')
        const entity = member(schema, 'name') as string
        const read = metadata.get(
          ADMIN,
          entity,
          member(member(schema, 'version'), 'value') as string,
        ) as JsonObject
        assert.deepEqual({ entityInfo: each['entityInfo'], schema: each['schema'] }, read)
      }
      const warned = answer.flatMap((each) => (each['warnings'] ?? []) as unknown as { code: string }[])
      assert.ok(!warned.some(({ code }) => code === 'undefined-reference' || code === 'index-without-field'))
      const histories = async (): Promise<number> =>
        (
          await Promise.all(
            names.map(async (name) => ((await metadata.history(ADMIN, name)) as Json[]).length),
          )
        ).reduce((a, b) => a + b, 0)
      const changes = await histories()
      await metadata.createAll(ADMIN, answer)
      await metadata.createAll(ADMIN, list)
      assert.equal(await histories(), changes, 'again, it changes nothing')
      for (const name of names) {
        assert.equal((await on.insert(name, { data: [{ key: 'k' }] })).status, 'COMPLETE')
      }
    })
  }

  for (const [rule, list, code, message] of REFUSED) {
    test(`createAll: ${rule} is ${code}, and nothing is written`, async () => {
      await using on = await openTestService()
      const { metadata } = on.service
      await on.define('there', { key: STRING })
      await on.store('there', [{ key: 'k' }, { key: 'k' }])
      const before = [metadata.names(ADMIN, undefined), metadata.versions(ADMIN, 'there')]
      await assert.rejects(metadata.createAll(ADMIN, list), (error) => {
        assert.ok(error instanceof ServiceError)
        assert.equal(error.code, code, error.message)
        assert.match(error.message, message)
        assert.match(error.context, /^createMetadata/)
        return true
      })
      assert.deepEqual([metadata.names(ADMIN, undefined), metadata.versions(ADMIN, 'there')], before)
      await on.define('b', { key: STRING })
    })
  }

  test('createAll: a new version brings new entity info, and what that drops is said', async () => {
    await using on = await openTestService()
    const { metadata } = on.service
    const indexes = [{ name: 'x', fields: [{ field: 'key' }] }]
    await metadata.createAll(ADMIN, [version('a', '1.0.0', { indexes })])
    const answer = await metadata.createAll(ADMIN, [
      version('a', '1.0.0', { indexes }),
      version('a', '2.0.0', { defaultVersion: '2.0.0' }),
    ])
    const codes = (answer as JsonObject[]).map((each) =>
      ((each['warnings'] ?? []) as unknown as { code: string }[]).map(({ code }) => code),
    )
    assert.ok(codes[0]!.includes('entity-info-differs'), String(codes))
    assert.ok(codes[1]!.includes('dropped-index'), String(codes))
    assert.equal((await on.find('a', { projection: EVERYTHING })).entityVersion, '2.0.0')
  })

  test('createAll: a snapshot that stays the same brings new entity info', async () => {
    await using on = await openTestService()
    const { metadata } = on.service
    const indexes = [{ name: 'x', fields: [{ field: 'key' }] }]
    const defaultVersion = '1.0.0-SNAPSHOT'
    await metadata.createAll(ADMIN, [version('a', '1.0.0-SNAPSHOT', { defaultVersion })])
    await metadata.createAll(ADMIN, [version('a', '1.0.0-SNAPSHOT', { defaultVersion, indexes })])
    const stored = metadata.get(ADMIN, 'a', '1.0.0-SNAPSHOT') as {
      entityInfo: { indexes: { name: string }[] }
    }
    assert.ok(stored.entityInfo.indexes.some(({ name }) => name === 'x'))
  })

  test('createAll: a list whose response would be too large is refused', async () => {
    await using on = await openTestService()
    const description = 'x'.repeat(1_000_000)
    const list = Array.from({ length: 60 }, (_, i) =>
      version('a', `1.${i}.0`, { defaultVersion: '1.0.0', ...(i === 59 && { description }) }),
    )
    await assert.rejects(on.service.metadata.createAll(ADMIN, list), { code: 'crud:LimitExceeded' })
    assert.throws(() => on.service.metadata.versions(ADMIN, 'a'), { code: 'metadata:MissingEntityInfo' })
  })

  test('createAll: references of the list are followed at once', async () => {
    await using on = await openTestService()
    await on.service.metadata.createAll(ADMIN, [
      one('a', { bs: refersTo('b') }),
      one('b', { as: refersTo('a') }),
    ])
    await on.store('a', [{ _id: '1', key: 'k' }])
    await on.store('b', [{ _id: '2', key: 'k' }])
    const projection = [{ field: '_id' }, { field: 'bs.*._id' }, { field: 'bs.*.as.*._id' }]
    assert.deepEqual(documentsOf(await on.find('a', { projection })), [
      { _id: '1', bs: [{ _id: '2', as: [{ _id: '1' }] }] },
    ])
  })

  test('createAll: who may only add metadata may not replace any in a list', async () => {
    await using on = await openTestService()
    await on.define('there', { key: STRING })
    const adding: Caller = {
      ...ADMIN,
      permissions: new Set(PERMISSIONS.filter((each) => each !== 'metadata.update')),
    }
    const replacing = [one('a'), version('there', '2.0.0', { defaultVersion: '2.0.0' })]
    await assert.rejects(on.service.metadata.createAll(adding, replacing), { code: 'crud:NoAccess' })
    // Spelled as in Lightblue, the document is no less a replacement.
    const fields = { key: { ...STRING, constraints: [{ required: 1 }] } }
    const spelled = metadataDocument('there', fields, {
      info: { defaultVersion: '2.0.0' },
      schema: versioned('2.0.0'),
    })
    await assert.rejects(on.service.metadata.createAll(adding, [spelled]), { code: 'crud:NoAccess' })
    const target = { entity: 'there', version: '2.0.0' }
    await assert.rejects(on.service.metadata.create(adding, target, spelled), { code: 'crud:NoAccess' })
    await on.service.metadata.createAll(adding, [one('a')])
    const nobody: Caller = { ...ADMIN, permissions: new Set(['metadata.find']) }
    await assert.rejects(on.service.metadata.createAll(nobody, [one('c')]), { code: 'crud:NoAccess' })
  })
})
