/** Writes through one version keep what only another version knows; generators and unique values on updates. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { type DataResponse, printResponse } from '../../../src/service/response.ts'
import { ADMIN, EVERYTHING, dataErrorCodes, documentsOf, metadataDocument } from '../../support/service.ts'
import { type Tenant, openTenant, shareService } from '../../support/shared-service.ts'
import { bare, byId, counts, held, save, update } from './writing.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const elements = (fields: JsonObject): JsonObject => ({ type: 'array', items: { type: 'object', fields } })
const TEXT = { type: 'string' }
const NUMBERS = { type: 'array', items: { type: 'integer' } }
const EVERYTHING_ELSE = { type: 'reference', entity: 'savedSearch' }
const IDENTITY = { type: 'integer', constraints: { 'element-identity': true } }

/** Version 2 knows neither `olds` nor `old`, at any depth, unless they are given. */
async function open(document: JsonObject, { olds, ...old }: JsonObject = {}): Promise<Tenant> {
  const tester = await openTenant()
  await tester.define(tester.entity, {
    a: TEXT,
    old: TEXT,
    o: { type: 'object', fields: { x: TEXT, old: TEXT } },
    list: elements({ p: TEXT, na: NUMBERS, old: TEXT }),
    ids: elements({ id: IDENTITY, p: TEXT, old: TEXT }),
    olds: NUMBERS,
  })
  const fields = {
    a: TEXT,
    o: { type: 'object', fields: { x: TEXT, ...old } },
    list: elements({ p: TEXT, na: NUMBERS, ...old }),
    ids: elements({ id: IDENTITY, p: TEXT, ...old }),
    ...old,
    ...(olds !== undefined && { olds }),
  }
  const version = { value: '2.0.0', changelog: 'second' }
  const body = metadataDocument(tester.entity, fields, { schema: { version } })
  await tester.service.metadata.create(ADMIN, { entity: tester.entity, version: '2.0.0' }, body)
  await tester.store(tester.entity, [{ _id: '1', ...document }])
  return tester
}

const second = ({ entity }: Tenant) => ({ entity, version: '2.0.0' })

async function through2(
  tester: Tenant,
  operation: 'update' | 'save',
  body: JsonObject,
): Promise<DataResponse> {
  const all = { projection: EVERYTHING, ...(operation === 'update' && { query: { $and: [] } }) }
  const response = await tester.service.data[operation](ADMIN, second(tester), { ...all, ...body })
  assert.equal(response.status, 'COMPLETE', printResponse(response))
  return response
}

const DOCUMENT: JsonObject = {
  a: 'a',
  old: 'O',
  o: { x: 'x', old: 'OX' },
  list: [
    { p: 'a', na: [1], old: 'LA' },
    { p: 'b', old: 'LB' },
    { p: 'c', na: [], old: 'LC' },
  ],
  ids: [
    { id: 1, p: 'a', old: 'I1' },
    { id: 2, p: 'b', old: 'I2' },
  ],
}

const UPDATES: readonly (readonly [rule: string, update: Json, becomes: JsonObject])[] = [
  ['a field', { $set: { a: 'b' } }, { a: 'b' }],
  ['an object replaced', { $set: { o: { x: 'y' } } }, { o: { x: 'y', old: 'OX' } }],
  ['an object taken away', { $unset: 'o' }, { o: null }],
  [
    'an element taken away',
    { $unset: 'list.0' },
    {
      list: [
        { p: 'b', old: 'LB' },
        { p: 'c', na: [], old: 'LC' },
      ],
    },
  ],
  [
    'an element before the others',
    { $insert: { 'list.0': { p: 'new' } } },
    {
      list: [
        { p: 'new' },
        { p: 'a', na: [1], old: 'LA' },
        { p: 'b', old: 'LB' },
        { p: 'c', na: [], old: 'LC' },
      ],
    },
  ],
  [
    'an array replaced by its own elements in another order',
    {
      $set: {
        list: [
          { p: 'c', na: [] },
          { p: 'a', na: [1] },
        ],
      },
    },
    {
      list: [
        { p: 'c', na: [], old: 'LC' },
        { p: 'a', na: [1], old: 'LA' },
      ],
    },
  ],
  [
    'an array replaced, elements known by their identity',
    {
      $set: {
        ids: [
          { id: 2, p: 'z' },
          { id: 3, p: 'a' },
        ],
      },
    },
    {
      ids: [
        { id: 2, p: 'z', old: 'I2' },
        { id: 3, p: 'a' },
      ],
    },
  ],
  [
    'elements changed where they stand',
    { $foreach: { ids: '$all', $update: { $set: { p: 'q' } } } },
    {
      ids: [
        { id: 1, p: 'q', old: 'I1' },
        { id: 2, p: 'q', old: 'I2' },
      ],
    },
  ],
  [
    '$this replaced',
    {
      $foreach: { ids: { field: 'id', op: '=', rvalue: 1 }, $update: { $set: { $this: { id: 1, p: 'q' } } } },
    },
    {
      ids: [
        { id: 1, p: 'q', old: 'I1' },
        { id: 2, p: 'b', old: 'I2' },
      ],
    },
  ],
  [
    'a copy takes only what is known',
    { $set: { 'list.1': { $valueof: 'list.0' } } },
    {
      list: [
        { p: 'a', na: [1], old: 'LA' },
        { p: 'a', na: [1], old: 'LB' },
        { p: 'c', na: [], old: 'LC' },
      ],
    },
  ],
]

onEveryStore(() => {
  for (const [rule, expression, becomes] of UPDATES) {
    for (const [what, old] of [
      ['unknown members', {}],
      ['values under the names of references', { old: EVERYTHING_ELSE, olds: EVERYTHING_ELSE }],
    ] as const) {
      test(`versions: update, ${rule}: ${what} stay with what they belong to`, async () => {
        const document = { ...DOCUMENT, olds: [1, 2] }
        await using tester = await open(document, old)
        const response = await through2(tester, 'update', { update: expression })
        assert.equal(response.modifiedCount, 1)
        assert.doesNotMatch(response.processed![0]!, /old/, 'and are not shown')
        const expected = Object.entries({ _id: '1', ...document, ...becomes }).filter(
          ([, value]) => value !== null,
        )
        assert.deepEqual((await held(tester))['1'], Object.fromEntries(expected))
      })
    }
  }

  test('versions: save keeps values under the names of references and of fields filled on read', async () => {
    const fields = { old: EVERYTHING_ELSE, olds: { ...TEXT, documentVersion: true } }
    await using tester = await open({ a: 'a', old: 'O', olds: [1, 2] }, fields)
    const response = await through2(tester, 'save', { data: { _id: '1', a: 'b', old: [], olds: 'sent' } })
    assert.equal(response.modifiedCount, 1)
    const all = await tester.find(tester.entity, { projection: EVERYTHING })
    const { a, old, olds, 'olds#': size } = documentsOf(all)[0]!
    assert.deepEqual([a, old, olds, size], ['b', 'O', [1, 2], 2])
  })

  test('versions: save keeps unknown members, also inside elements that move', async () => {
    await using tester = await open(DOCUMENT)
    const data = {
      _id: '1',
      o: { x: 'y' },
      list: [{ p: 'c', na: [] }, { p: 'new' }, { p: 'a', na: [1] }],
      ids: [{ id: 2, p: 'b' }],
    }
    const response = await through2(tester, 'save', { data })
    assert.deepEqual(bare(documentsOf(response)[0]!), data)
    const stored = (await held(tester))['1']!
    assert.deepEqual(
      [stored['a'], stored['old'], stored['o'], stored['ids']],
      [undefined, 'O', { x: 'y', old: 'OX' }, [{ id: 2, p: 'b', old: 'I2' }]],
    )
    const [first, , third] = stored['list'] as readonly JsonObject[]
    assert.deepEqual(
      [first, third],
      [
        { p: 'c', na: [], old: 'LC' },
        { p: 'a', na: [1], old: 'LA' },
      ],
    )
  })

  for (const operation of ['update', 'save'] as const) {
    test(`versions: ${operation} of a value in place of the array of another version: its size stays true`, async () => {
      await using tester = await open({ a: 'a', olds: [1, 2] }, { olds: TEXT })
      const body = {
        update: { update: { $set: { olds: 'one' } } },
        save: { data: { _id: '1', olds: 'one' } },
      }
      await through2(tester, operation, body[operation])
      const query = { field: 'olds#', op: '=', rvalue: 0 }
      const [found] = documentsOf(await tester.find(tester.entity, { query, projection: EVERYTHING }))
      assert.deepEqual([found!['olds'], found!['olds#']], ['one', 0])
    })
  }

  test('versions: a save of what was read changes nothing', async () => {
    await using tester = await open(DOCUMENT)
    const [read] = documentsOf(
      await tester.service.data.find(ADMIN, second(tester), { projection: EVERYTHING }),
    )
    assert.equal((await through2(tester, 'save', { data: read! })).modifiedCount, 0)
  })

  const DATE = '20240102T03:04:05.678+0000'

  let now = new Date()
  const openAtSomeTime = shareService({ now: () => now })

  test('generators: an update that changes something overwrites and fills, one that does not leaves all alone', async () => {
    await using tester = await openAtSomeTime()
    now = new Date('2020-01-01T00:00:00Z')
    await tester.define(tester.entity, {
      s: TEXT,
      changed: { type: 'date', valueGenerator: { type: 'CurrentTime', overwrite: true } },
      key: { type: 'string', constraints: { required: true }, valueGenerator: { type: 'UUID' } },
      ids: elements({ id: { type: 'uid', constraints: { required: true } }, p: TEXT }),
    })
    await tester.store(tester.entity, [{ _id: '1', s: 'a', changed: null }])
    const before = (await held(tester))['1']!
    now = new Date('2024-01-02T03:04:05.678Z')
    assert.equal((await update(tester, { update: { $set: { s: 'a' } } })).modifiedCount, 0)
    assert.deepEqual((await held(tester))['1'], before)
    assert.equal((await update(tester, { update: { $set: { s: 'b' } } })).modifiedCount, 1)
    const after = (await held(tester))['1']!
    assert.deepEqual([after['changed'], after['key']], [DATE, before['key']])
    await update(tester, { update: [{ $unset: 'key' }, { $append: { ids: { p: 'x' } } }] })
    const filled = (await held(tester))['1']!
    assert.match(filled['key'] as string, /^[0-9a-f-]{36}$/)
    assert.notEqual(filled['key'], before['key'])
    assert.match((filled['ids'] as readonly JsonObject[])[0]!['id'] as string, /^[0-9a-f-]{36}$/)
  })

  async function openUnique(fields: readonly JsonObject[]): Promise<Tenant> {
    const tester = await openTenant()
    await tester.define(
      tester.entity,
      { a: TEXT, b: TEXT, tags: { type: 'array', items: TEXT }, list: elements({ p: TEXT }) },
      { info: { indexes: [{ unique: true, fields }] } },
    )
    return tester
  }

  test('unique: an update that would repeat a value is store-crud:Duplicate, and the document stays', async () => {
    await using tester = await openUnique([{ field: 'a' }, { field: 'b' }])
    await tester.store(tester.entity, [
      { _id: '1', a: 'x', b: '1' },
      { _id: '2', a: 'x', b: '2' },
      { _id: '3', a: 'y', b: '1' },
    ])
    const response = await update(tester, { update: { $set: { a: 'x' } } })
    assert.deepEqual(counts(response), ['PARTIAL', 3, 0])
    assert.deepEqual(dataErrorCodes(response), [['store-crud:Duplicate']])
    assert.equal((await held(tester))['3']!['a'], 'y')
    assert.deepEqual(counts(await update(tester, { query: byId('3'), update: { $set: { b: '9' } } })), [
      'COMPLETE',
      1,
      1,
    ])
    const saved = await save(tester, { data: { _id: '3', a: 'x', b: '2' } })
    assert.deepEqual(dataErrorCodes(saved), [['store-crud:Duplicate']])
    assert.deepEqual((await held(tester))['3'], { _id: '3', a: 'y', b: '9' })
  })

  for (const [path, make] of [
    ['tags', (...values: readonly string[]): JsonObject => ({ tags: values })],
    ['list.*.p', (...values: readonly string[]): JsonObject => ({ list: values.map((p) => ({ p })) })],
  ] as const) {
    test(`unique: into an array, ${path}: no two documents share an element`, async () => {
      await using tester = await openUnique([{ field: path }])
      await tester.store(tester.entity, [
        { _id: '1', ...make('a', 'b', 'a') },
        { _id: '2', ...make('c') },
        { _id: '3' },
        { _id: '4' },
      ])
      const clash = await update(tester, { query: byId('2'), update: { $set: make('d', 'b') } })
      assert.deepEqual(dataErrorCodes(clash), [['store-crud:Duplicate']])
      assert.deepEqual((await held(tester))['2'], { _id: '2', ...make('c') })
      const query = {
        array: path === 'tags' ? 'tags' : 'list',
        ...(path === 'tags'
          ? { contains: '$any', values: ['c', 'd'] }
          : { elemMatch: { field: 'p', op: '$in', values: ['c', 'd'] } }),
      }
      const found = await tester.find(tester.entity, { query, projection: { field: '_id' } })
      assert.deepEqual(found.processed, ['{"_id":"2"}'], 'the index still tells what is stored')
      assert.equal((await update(tester, { query: byId('1'), update: { $set: make('a') } })).modifiedCount, 1)
      assert.equal(
        (await update(tester, { query: byId('2'), update: { $set: make('d', 'b') } })).modifiedCount,
        1,
      )
      await tester.service.data.delete(ADMIN, { entity: tester.entity }, { query: byId('2') })
      assert.equal(
        (await update(tester, { query: byId('3'), update: { $set: make('b', 'c', 'd') } })).modifiedCount,
        1,
      )
    })
  }
})
