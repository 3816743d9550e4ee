/** Row rules of fields: a field that is one's own in some documents only, and what may be asked about it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { ServiceError } from '../../../src/base/errors.ts'
import type { DataResponse } from '../../../src/service/response.ts'
import type { DocumentOptions, DocumentReply } from '../../../src/service/service.ts'
import { EVERYTHING, dataErrorCodes, documentsOf, failedDocumentsOf } from '../../support/service.ts'
import type { Tenant } from '../../support/shared-service.ts'
import { ALL, BOSS, answer, callerAs, equals, idsIn, openRuled, plain, readBy, stored } from './ruled.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const OWN: JsonObject = { role: 'clerk', where: equals('owner', '$caller.principal') }
const DRAFT: JsonObject = { role: 'clerk', where: equals('state', 'draft') }
const MINE: JsonObject = { find: ['boss', OWN], insert: ['boss', OWN], update: ['boss', OWN] }

const FIELDS: JsonObject = {
  _id: { type: 'string' },
  owner: { type: 'string' },
  state: { type: 'string' },
  level: { type: 'integer' },
  text: { type: 'string' },
  pay: { type: 'integer', access: MINE },
  box: {
    type: 'object',
    access: { find: ['boss', OWN] },
    fields: { plain: { type: 'string' }, deep: { type: 'string', access: { find: ['boss', DRAFT] } } },
  },
  list: {
    type: 'array',
    items: { type: 'object', fields: { n: { type: 'integer' }, cost: { type: 'integer', access: MINE } } },
  },
  hidden: {
    type: 'string',
    access: { find: ['boss', { role: 'clerk', where: equals('owner', '$caller.claims.no') }] },
  },
}

const document = (_id: string, owner: string, state: string, pay: number): JsonObject => ({
  _id,
  owner,
  state,
  level: 1,
  pay,
  box: { plain: `p${_id}`, deep: `d${_id}` },
  list: [
    { n: 1, cost: pay },
    { n: 2, cost: 100 - pay },
  ],
  hidden: 'h',
})
const DOCUMENTS = [
  document('1', 'ann', 'draft', 50),
  document('2', 'bob', 'draft', 20),
  document('3', 'ann', 'final', 70),
  document('4', 'bob', 'final', 10),
]

const ANN = callerAs(['clerk'], 'ann')
const NAMELESS = callerAs(['clerk'])

function opened(access: JsonObject = {}, fields: JsonObject = {}): Promise<Tenant> {
  const open = { insert: ['anyone'], find: ['anyone'], update: ['anyone'], delete: ['anyone'] }
  return openRuled({
    access: { ...open, ...access },
    fields: { ...FIELDS, ...fields },
    documents: DOCUMENTS,
  })
}

const IN_ORDER: JsonObject = { sort: { _id: '$asc' } }

onEveryStore(() => {
  test('find: a field with a rule is left out document by document, at every depth', async () => {
    await using on = await opened()
    const { documents = [] } = await readBy(on, ANN, IN_ORDER)
    const elements = (...costs: readonly (number | undefined)[]): Json =>
      costs.map((cost, i) => (cost === undefined ? { n: i + 1 } : { n: i + 1, cost }))
    const common = { level: 1 }
    assert.deepEqual(documents.map(plain), [
      {
        ...common,
        _id: '1',
        owner: 'ann',
        state: 'draft',
        pay: 50,
        box: { plain: 'p1', deep: 'd1' },
        list: elements(50, 50),
      },
      { ...common, _id: '2', owner: 'bob', state: 'draft', list: elements(undefined, undefined) },
      {
        ...common,
        _id: '3',
        owner: 'ann',
        state: 'final',
        pay: 70,
        box: { plain: 'p3' },
        list: elements(70, 30),
      },
      { ...common, _id: '4', owner: 'bob', state: 'final', list: elements(undefined, undefined) },
    ])
  })

  test('find: what is projected away does not matter to a rule, which looks at what is stored', async () => {
    await using on = await opened()
    const response = await on.find(
      on.entity,
      { projection: [{ field: 'pay' }, { field: 'list', range: [0, 0] }], ...IN_ORDER },
      ANN,
    )
    const costs = documentsOf(response).map(({ pay }) => pay)
    assert.deepEqual(costs, [50, undefined, 70, undefined])
    assert.doesNotMatch(JSON.stringify(documentsOf(response)[1]), /cost/)
  })

  const QUESTIONS: readonly (readonly [rule: string, body: JsonObject, ids: readonly string[]])[] = [
    ['a query', { query: { field: 'pay', op: '>', rvalue: 0 } }, ['1', '3']],
    ['a negation', { query: { $not: { field: 'pay', op: '>', rvalue: 60 } } }, ['1']],
    ['null', { query: equals('pay', null) }, []],
    ['an alternative', { query: { $or: [equals('_id', '2'), equals('pay', 50)] } }, ['1']],
    ['rfield', { query: { field: 'level', op: '<', rfield: 'pay' } }, ['1', '3']],
    ['a member of elements', { query: { field: 'list.*.cost', op: '>', rvalue: 0 } }, ['1', '3']],
    [
      'elemMatch',
      { query: { array: 'list', elemMatch: { $not: { field: 'cost', op: '=', rvalue: 70 } } } },
      ['1', '3'],
    ],
    [
      'elemMatch that climbs',
      { query: { array: 'list', elemMatch: { field: '$parent.pay', op: '>', rvalue: 0 } } },
      ['1', '3'],
    ],
    ['two rules on the way down', { query: { field: 'box.deep', op: '!=', rvalue: 'x' } }, ['1']],
    ['a sort', { sort: { pay: '$desc' } }, ['3', '1']],
    ['a sort through elements', { sort: { 'list.*.cost': '$asc' } }, ['3', '1']],
  ]
  for (const [rule, body, ids] of QUESTIONS) {
    test(`find: asking about a field narrows the question to where it may be read: ${rule}`, async () => {
      await using on = await opened()
      const found = await readBy(on, ANN, { ...IN_ORDER, ...body })
      assert.deepEqual([idsIn(found), found.matchCount], [ids, ids.length])
      assert.equal((await readBy(on, NAMELESS, body)).code, 'crud:NoAccess', 'readable nowhere: refused')
    })
  }

  test('find: the match and the sort of an array projection narrow, too', async () => {
    await using on = await opened()
    for (const selector of [
      { match: { field: 'cost', op: '>', rvalue: 0 } },
      { range: [0, 0], sort: { cost: '$desc' } },
    ]) {
      const projection = [{ field: '_id' }, { field: 'list', projection: { field: '*' }, ...selector }]
      const found = answer(await on.find(on.entity, { projection, ...IN_ORDER }, ANN))
      assert.deepEqual([idsIn(found), found.matchCount], [['1', '3'], 2])
      const inserted = await on.insert(
        on.entity,
        { data: [{ owner: 'ann', list: [{ n: 1 }] }, { list: [{ n: 1 }] }], projection },
        ANN,
      )
      assert.deepEqual(
        documentsOf(inserted).map((each) => Object.keys(each).length > 0),
        [true, false],
      )
      await on.service.data.delete(BOSS, { entity: on.entity }, { query: equals('level', null) })
    }
  })

  test('find: a field whose rules match nothing for the caller is refused as a hidden one', async () => {
    await using on = await opened()
    assert.equal((await readBy(on, ANN, { query: equals('hidden', 'h') })).code, 'crud:NoAccess')
  })

  test('find: rules of the entity and of fields hold together', async () => {
    await using on = await opened({ find: ['boss', DRAFT] })
    const { documents = [], matchCount } = await readBy(on, ANN, IN_ORDER)
    assert.deepEqual(
      [matchCount, documents.map(({ _id, pay }) => [_id, pay])],
      [
        2,
        [
          ['1', 50],
          ['2', undefined],
        ],
      ],
    )
    assert.deepEqual(idsIn(await readBy(on, ANN, { query: { field: 'pay', op: '>', rvalue: 0 } })), ['1'])
  })

  test('find: noone on a field beats its rules', async () => {
    await using on = await opened({}, { pay: { type: 'integer', access: { find: [OWN, 'noone'] } } })
    assert.equal((await readBy(on, ANN, { query: equals('pay', 50) })).code, 'crud:NoAccess')
  })

  test('documentVersion: names a document by its _id only where that may be read', async () => {
    const _id = { type: 'string', access: { find: ['boss', OWN] } }
    await using on = await opened({}, { _id, version: { type: 'string', documentVersion: true } })
    const response = await on.find(on.entity, { projection: { field: '*' }, sort: { level: '$asc' } }, ANN)
    const versions = response.resultMetadata!.map(
      (each) => (JSON.parse(each) as { documentVersion: string }).documentVersion,
    )
    assert.deepEqual(
      versions.map((each) => /^[13]:/.test(each)),
      [true, false, true, false],
    )
    assert.deepEqual(
      documentsOf(response).map(({ version }) => version),
      versions,
    )
    const body = {
      query: ALL,
      update: { $set: { text: 'x' } },
      onlyIfCurrent: true,
      documentVersions: versions,
    }
    const updated = await on.service.data.update(ANN, { entity: on.entity }, body)
    assert.deepEqual([updated.status, updated.modifiedCount], ['COMPLETE', 4])
    const stale = await on.service.data.update(ANN, { entity: on.entity }, body)
    assert.deepEqual(new Set(dataErrorCodes(stale).flat()), new Set(['store-crud:ConcurrentUpdate']))
    assert.deepEqual(
      failedDocumentsOf(stale).map((data) => Object.keys(data)),
      [['_id'], [], ['_id'], []],
    )
    assert.deepEqual(
      dataErrorCodes(await on.service.data.save(ANN, { entity: on.entity }, { data: { _id: '2' } })),
      [['store-crud:SaveError']],
    )
  })

  test('insert: a field with a rule may be given only to documents that match', async () => {
    await using on = await opened()
    const data = [
      { owner: 'ann', pay: 1 },
      { owner: 'bob', pay: 1 },
      { owner: 'bob', list: [{ cost: 1 }] },
      { owner: 'bob' },
    ]
    const response = await on.insert(on.entity, { data, projection: EVERYTHING }, ANN)
    assert.deepEqual(dataErrorCodes(response), [['crud:insert:NoFieldAccess'], ['crud:insert:NoFieldAccess']])
    assert.deepEqual(
      response.dataErrors!.map(({ errors }) => errors[0]!.context),
      ['pay', 'list.0.cost'].map((path) => `insert(${on.entity}:1.0.0)/${path}`),
    )
  })

  const update = (on: Tenant, change: Json, more: JsonObject = {}): Promise<DataResponse> =>
    on.service.data.update(
      ANN,
      { entity: on.entity },
      { query: ALL, update: change, projection: { field: 'pay' }, ...more },
    )

  test('update: a field with a rule may change only in documents that match before and after', async () => {
    await using on = await opened()
    const set = await update(on, { $set: { pay: 1 } })
    assert.deepEqual(dataErrorCodes(set), [['crud:update:NoFieldAccess'], ['crud:update:NoFieldAccess']])
    assert.deepEqual([set.matchCount, set.modifiedCount, documentsOf(set)], [4, 2, [{ pay: 1 }, { pay: 1 }]])
    const given = await update(on, { $set: { pay: 2, owner: 'bob' } }, { query: equals('owner', 'ann') })
    assert.deepEqual(dataErrorCodes(given), [['crud:update:NoFieldAccess'], ['crud:update:NoFieldAccess']])
    const taken = await update(on, { $set: { pay: 2, owner: 'ann' } }, { query: equals('owner', 'bob') })
    assert.deepEqual(dataErrorCodes(taken), [['crud:update:NoFieldAccess'], ['crud:update:NoFieldAccess']])
    assert.deepEqual(
      Object.values(await stored(on)).map(({ pay, owner }) => [pay, owner]),
      [
        [1, 'ann'],
        [20, 'bob'],
        [1, 'ann'],
        [10, 'bob'],
      ],
    )
  })

  test('update: a field out of sight in a document is judged there by being named, not by its value', async () => {
    await using on = await opened({}, { pay: { type: 'integer', access: { find: ['boss', OWN] } } })
    const response = await update(on, { $set: { pay: 20 } })
    assert.deepEqual(
      [response.matchCount, response.modifiedCount],
      [4, 4],
      'writing it counts, also where it was 20',
    )
    assert.deepEqual(documentsOf(response), [{ pay: 20 }, {}, { pay: 20 }, {}])
    const seen = await update(on, { $set: { pay: 20 } })
    assert.deepEqual(
      [seen.matchCount, seen.modifiedCount],
      [4, 2],
      'where it is seen, the same value is no change',
    )
  })

  const LOOKS: readonly (readonly [rule: string, change: JsonObject])[] = [
    ['$add', { $add: { pay: 1 } }],
    ['$valueof', { $set: { level: { $valueof: 'pay' } } }],
    [
      '$foreach with a selector',
      { $foreach: { list: { field: 'cost', op: '>', rvalue: 0 }, $update: { $set: { n: 9 } } } },
    ],
    [
      'a copy inside $foreach',
      { $foreach: { list: '$all', $update: { $set: { n: { $valueof: 'cost' } } } } },
    ],
  ]
  for (const [rule, change] of LOOKS) {
    test(`update: what looks at a field with a rule reaches only documents where it may be read: ${rule}`, async () => {
      await using on = await opened()
      const response = await update(on, change)
      assert.deepEqual([response.status, response.matchCount, response.modifiedCount], ['COMPLETE', 2, 2])
      const nobody = await on.service.data.update(
        NAMELESS,
        { entity: on.entity },
        { query: ALL, update: change },
      )
      assert.equal(answer(nobody).code, 'crud:NoAccess')
    })
  }

  test('update: a copy of a container reaches only documents where all of it may be read', async () => {
    const any = { type: 'any' }
    await using on = await opened({}, { copy: any })
    const response = await update(on, { $set: { copy: { $valueof: 'box' } } })
    assert.deepEqual([response.status, response.matchCount], ['COMPLETE', 1])
    assert.deepEqual((await stored(on))['1']!['copy'], { plain: 'p1', deep: 'd1' })
  })

  test('update: members out of sight in a document stay when the object around them is replaced', async () => {
    await using on = await opened()
    const response = await update(on, { $set: { box: { plain: 'new' } } })
    assert.equal(response.status, 'COMPLETE')
    const boxes = Object.values(await stored(on)).map(({ box }) => box)
    assert.deepEqual(boxes, [
      { plain: 'new' },
      { plain: 'new', deep: 'd2' },
      { plain: 'new', deep: 'd3' },
      { plain: 'new', deep: 'd4' },
    ])
  })

  test('delete: asking about a field narrows', async () => {
    await using on = await opened()
    const query = { field: 'pay', op: '>=', rvalue: 0 }
    const response = await on.service.data.delete(ANN, { entity: on.entity }, { query })
    assert.deepEqual([response.matchCount, Object.keys(await stored(on))], [2, ['2', '4']])
  })

  test('save: what is out of sight in a document is carried over, and denied where it is named', async () => {
    await using on = await opened()
    const save = (data: Json): Promise<DataResponse> =>
      on.service.data.save(ANN, { entity: on.entity }, { data, projection: EVERYTHING })
    const response = await save([
      { _id: '1', owner: 'ann', state: 'draft' },
      { _id: '2', owner: 'bob', state: 'draft' },
      { _id: '3', owner: 'ann', state: 'final', box: { plain: 'new' } },
      { _id: '4', owner: 'bob', state: 'final', pay: 10 },
    ])
    assert.deepEqual(dataErrorCodes(response), [['crud:update:NoFieldAccess']])
    const now = await stored(on)
    assert.deepEqual(now['1'], { _id: '1', owner: 'ann', state: 'draft', hidden: 'h' })
    const { level: _l, list: _x, ...second } = DOCUMENTS[1]!
    assert.deepEqual(now['2'], second)
    assert.deepEqual(now['3']!['box'], { plain: 'new', deep: 'd3' })
    assert.equal(now['4']!['pay'], 10)
  })

  test('PUT of a plain document: is found by _id only where that may be read, whatever its identity is', async () => {
    const name = { type: 'string', constraints: { identity: true } }
    await using on = await openRuled({
      access: { insert: ['anyone'], find: ['anyone'], update: ['anyone'], delete: ['anyone'] },
      fields: { _id: { type: 'string', access: { find: ['boss', OWN] } }, name, owner: { type: 'string' } },
      documents: [
        { _id: '1', name: 'one', owner: 'ann' },
        { _id: '2', name: 'two', owner: 'bob' },
      ],
    })
    const put = (id: string, sent: JsonObject): Promise<DocumentReply> =>
      on.service.documents.replace(ANN, { entity: on.entity, id }, sent, asked())
    assert.equal((await put('1', { name: 'new', owner: 'ann' })).status, 200)
    const errors = await Promise.all(
      ['2', 'none'].map((id) => put(id, { name: 'two', owner: 'ann' }).catch((error: unknown) => error)),
    )
    assert.deepEqual(errors[0], errors[1])
    assert.equal((errors[0] as ServiceError).code, 'crud:UnknownDocument')
    assert.deepEqual((await stored(on))['2'], { _id: '2', name: 'two', owner: 'bob' })
  })

  test('PUT of a plain document: other fields of the identity need not be readable', async () => {
    const name = { type: 'string', access: { find: ['boss', OWN] }, constraints: { identity: true } }
    await using on = await openRuled({
      access: { insert: ['anyone'], find: ['anyone'], update: ['anyone'], delete: ['anyone'] },
      fields: { name, owner: { type: 'string' }, text: { type: 'string' } },
      documents: [{ _id: '2', name: 'two', owner: 'bob' }],
    })
    const sent = { owner: 'bob', text: 'new' }
    const reply = await on.service.documents.replace(ANN, { entity: on.entity, id: '2' }, sent, asked())
    assert.equal(reply.status, 200)
    assert.deepEqual((await stored(on))['2'], { _id: '2', name: 'two', owner: 'bob', text: 'new' })
  })
})

function asked(): DocumentOptions {
  return { parameters: new URLSearchParams() }
}
