/** The published interface: bulk. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { Ask } from '../../support/server.ts'
import { onEveryStore, storeKind } from '../../support/store-kind.ts'
import { EVERYTHING, country, dataError, errorObject, seed, sound, store } from './fixture.ts'

onEveryStore(() => {
  const { ask } = seed((server) =>
    store(server, 'country', [
      { _id: '1', ...country('CH', 'Switzerland', 9) },
      { _id: '2', ...country('FR', 'France', 68) },
      { _id: '3', ...country('IT', 'Italy', 59) },
    ]),
  )

  const IDS = { field: '_id', include: true }
  const find = (more: JsonObject = {}): JsonObject => ({ entity: 'country', projection: IDS, ...more })
  const insert = (code: string): JsonObject => ({ entity: 'country', data: country(code, 'x', 1) })

  async function bulk(requests: Json, more: JsonObject = {}, how: Ask = {}): Promise<Responses> {
    const answer = sound(await ask('POST', '/data/bulk', { body: { requests, ...more }, ...how }))
    assert.deepEqual(Object.keys(answer.json), ['responses'])
    for (const each of answer.json.responses) assert.deepEqual(Object.keys(each), ['seq', 'response'])
    return answer.json.responses
  }

  // eslint-disable-next-line typescript/no-explicit-any -- tests look into whatever came
  type Responses = readonly { readonly seq: number; readonly response: any }[]

  async function count(code: string): Promise<number> {
    return sound(await ask('GET', `/data/find/country?Q=iso2Code:${code}`)).json.matchCount
  }

  for (const path of ['/data/bulk', '/rest/data/bulk']) {
    test(`bulk: ${path} runs several data requests in one HTTP request`, async () => {
      const query = { field: 'iso2Code', op: '=', rvalue: 'CH' }
      const request = { entity: 'country', entityVersion: '1.0.0', query, projection: [IDS], range: [0, 1] }
      const requests = [
        { seq: 0, op: 'find', request },
        { seq: 1, op: 'FIND', request: { ...request, query: { $and: [] } } },
      ]
      const { responses } = sound(await ask('POST', path, { body: { requests } })).json
      const [first, second] = responses
      assert.deepEqual([first.seq, second.seq], [0, 1])
      const { resultMetadata, ...document } = first.response
      assert.equal(resultMetadata.length, 1)
      assert.deepEqual(document, {
        entity: 'country',
        entityVersion: '1.0.0',
        status: 'COMPLETE',
        modifiedCount: 0,
        matchCount: 1,
        processed: [{ _id: '1' }],
      })
      assert.deepEqual(second.response.processed, [{ _id: '1' }, { _id: '2' }])
      assert.equal(second.response.matchCount, 3)
    })
  }

  test('bulk: large and small responses arrive whole, in order, and with characters of every size', async () => {
    const names = ['a'.repeat(70_000), 'é', '€'.repeat(140_000), 'plain', '🙂'.repeat(70_001)]
    const requests = names.map((name, seq) => ({
      seq,
      op: 'insert',
      request: {
        entity: 'country',
        data: country('XL', name, 1),
        projection: { field: 'name' },
        execution: { dryRun: true },
      },
    }))
    const shown = await bulk(requests)
    assert.deepEqual(
      shown.map(({ seq, response }) => [seq, response.processed[0].name]),
      names.map((name, seq) => [seq, name]),
    )
  })

  test('bulk: seq is echoed and responses come in the order of seq', async () => {
    const requests = [7, -3, 5].map((seq) => ({ seq, op: 'find', request: find({ range: [0, 0] }) }))
    assert.deepEqual(
      (await bulk(requests)).map(({ seq }) => seq),
      [-3, 5, 7],
    )
  })

  test('bulk: ops find, insert, save, update, delete, explain, generate, any case', async () => {
    const byCode = { field: 'iso2Code', op: '=', rvalue: 'A1' }
    const responses = await bulk(
      [
        { seq: 1, op: 'Insert', request: insert('A1') },
        {
          seq: 2,
          op: 'SAVE',
          request: { entity: 'country', data: { _id: 's', iso2Code: 'A2' }, upsert: true },
        },
        {
          seq: 3,
          op: 'update',
          request: { entity: 'country', query: byCode, update: { $set: { name: 'y' } } },
        },
        { seq: 4, op: 'Find', request: find({ query: byCode, projection: { field: 'name' } }) },
        { seq: 5, op: 'explain', request: find({ query: byCode }) },
        { seq: 6, op: 'delete', request: { entity: 'country', query: byCode } },
        { seq: 7, op: 'find', request: find({ query: byCode }) },
        { seq: 8, op: 'generate', request: { entity: 'staff', field: 'badge', n: 2 } },
        { seq: 9, op: 'delete', request: { entity: 'country', query: { ...byCode, rvalue: 'A2' } } },
      ],
      {},
      { roles: ['hr'] },
    )
    for (const { response } of responses) assert.equal(response.status, 'COMPLETE', JSON.stringify(response))
    const [inserted, saved, updated, found, explained, deleted, gone, generated] = responses.map(
      ({ response }) => response,
    )
    assert.deepEqual([inserted.modifiedCount, saved.modifiedCount, updated.modifiedCount], [1, 1, 1])
    assert.deepEqual(found.processed, [{ name: 'y' }])
    assert.ok(explained.processed[0][storeKind()].plan)
    assert.deepEqual([deleted.modifiedCount, 'processed' in deleted, gone.matchCount], [1, false, 0])
    assert.equal(generated.processed.length, 2)
  })

  for (const [word, more] of [
    ['ordered', {}],
    ['ordered: false', { ordered: false }],
  ] as const) {
    test(`bulk: a failing entry has its own status ERROR and does not stop the others (${word})`, async () => {
      const responses = await bulk(
        [
          { seq: 1, op: 'find', request: find() },
          { seq: 2, op: 'find', request: { entity: 'nothing', projection: IDS } },
          { seq: 3, op: 'find', request: { entity: 'country' } },
          { seq: 4, op: 'find', request: { entity: 'staff', projection: IDS } },
          { seq: 5, op: 'find', request: find({ projections: [] }) },
          { seq: 6, op: 'find', request: find() },
        ],
        more,
      )
      const codes = responses.map(({ response }) => response.errors?.[0].errorCode)
      assert.deepEqual(codes, [
        undefined,
        'crud:UnknownEntity',
        'store-crud:NullProjection',
        'crud:NoAccess',
        'crud:InvalidRequest',
        undefined,
      ])
      for (const { response } of responses)
        if (response.errors) errorObject(response.errors[0], response.errors[0].errorCode)
    })
  }

  test('bulk: the entity may be named by objectType and version too', async () => {
    const request = { objectType: 'country', version: '1.1.0', projection: IDS }
    const [only] = await bulk([{ seq: 1, op: 'find', request }])
    assert.equal(only!.response.entityVersion, '1.1.0')
  })

  const UNPARSED: readonly [rule: string, entry: JsonObject][] = [
    ['an unknown op', { op: 'drop', request: find() }],
    ['a nested bulk', { op: 'bulk', request: { requests: [] } }],
    ['no op', { request: find() }],
    ['no request', { op: 'find' }],
    ['a request that is no object', { op: 'find', request: [find()] }],
    ['no entity', { op: 'find', request: { projection: IDS } }],
    ['an unknown key', { op: 'find', request: find(), sequence: 1 }],
    ['spellings that do not agree', { op: 'find', request: find({ objectType: 'staff' }) }],
  ]
  for (const [rule, entry] of UNPARSED) {
    test(`bulk: an entry that cannot be parsed (${rule}) is that entry's error`, async () => {
      const responses = await bulk([
        { seq: 1, ...entry },
        { seq: 2, op: 'find', request: find() },
      ])
      assert.equal(responses[0]!.response.status, 'ERROR')
      errorObject(responses[0]!.response.errors[0], 'crud:InvalidRequest')
      assert.equal(responses[1]!.response.status, 'COMPLETE')
    })
  }

  const UNUSABLE: readonly [rule: string, body: Json][] = [
    ['requests', {}],
    ['usable requests', { requests: {} }],
    ['seq', { requests: [{ op: 'find', request: find() }] }],
    ['an integer seq', { requests: [{ seq: '1', op: 'find', request: find() }] }],
    ['a whole seq', { requests: [{ seq: 1.5, op: 'find', request: find() }] }],
    [
      'a unique seq',
      {
        requests: [
          { seq: 1, op: 'find', request: find() },
          { seq: 1, op: 'find', request: find() },
        ],
      },
    ],
    ['an object', []],
    ['known keys', { requests: [], orderd: true }],
    ['a boolean ordered', { requests: [], ordered: 'yes' }],
    ['a boolean atomic', { requests: [], atomic: 2 }],
  ]
  for (const [rule, body] of UNUSABLE) {
    test(`bulk: without ${rule} it is a 400`, async () => {
      dataError(await ask('POST', '/data/bulk', { body }), 400, 'crud:InvalidRequest')
    })
  }

  test('bulk: without a body it is a 400', async () => {
    dataError(await ask('POST', '/data/bulk'), 400, 'crud:InvalidRequest')
  })

  test('bulk: of nothing answers nothing', async () => {
    assert.deepEqual(await bulk([]), [])
  })

  test('bulk: holds 1000 entries, and no more', async () => {
    const requests = Array.from({ length: 1_000 }, (_, seq) => ({
      seq,
      op: 'find',
      request: find({ range: [0, 0] }),
    }))
    const responses = await bulk(requests)
    assert.equal(responses.length, 1_000)
    assert.ok(responses.every(({ response }) => response.status === 'COMPLETE'))
    const body = { requests: [...requests, { ...requests[0]!, seq: 1_000 }] }
    assert.match(
      dataError(await ask('POST', '/data/bulk', { body }), 400, 'crud:LimitExceeded')['msg'] as string,
      /1000.*\/requests/,
    )
  })

  test('bulk: writes run in order, and reads see what came before them', async () => {
    const query = { field: 'iso2Code', op: '=', rvalue: 'B1' }
    const responses = await bulk([
      { seq: 1, op: 'find', request: find({ query }) },
      { seq: 2, op: 'insert', request: insert('B1') },
      { seq: 3, op: 'find', request: find({ query }) },
      { seq: 4, op: 'delete', request: { entity: 'country', query } },
      { seq: 5, op: 'find', request: find({ query }) },
    ])
    assert.deepEqual(
      [0, 2, 4].map((i) => responses[i]!.response.matchCount),
      [0, 1, 0],
    )
  })

  test('bulk: atomic is one transaction, the first failure rolls all back and every other entry says so', async () => {
    const responses = await bulk(
      [
        { seq: 1, op: 'insert', request: insert('C1') },
        { seq: 2, op: 'insert', request: { entity: 'country', data: [country('C2', 'x', 1), {}] } },
        { seq: 3, op: 'insert', request: insert('C3') },
      ],
      { atomic: true },
    )
    assert.deepEqual(
      responses.map(({ response }) => response.errors?.[0].errorCode ?? response.status),
      ['crud:Rolledback', 'PARTIAL', 'crud:Rolledback'],
    )
    for (const i of [0, 2]) errorObject(responses[i]!.response.errors[0], 'crud:Rolledback')
    assert.deepEqual([await count('C1'), await count('C2'), await count('C3')], [0, 0, 0])
  })

  test('bulk: atomic without a failure commits all', async () => {
    const responses = await bulk(
      [
        { seq: 1, op: 'insert', request: insert('D1') },
        { seq: 2, op: 'find', request: find({ query: { field: 'iso2Code', op: '=', rvalue: 'D1' } }) },
        { seq: 3, op: 'insert', request: insert('D2') },
      ],
      { atomic: true },
    )
    assert.deepEqual(
      responses.map(({ response }) => response.status),
      ['COMPLETE', 'COMPLETE', 'COMPLETE'],
    )
    assert.equal(responses[1]!.response.matchCount, 1)
    assert.deepEqual([await count('D1'), await count('D2')], [1, 1])
  })

  test('bulk: access applies to each entry as if sent alone', async () => {
    const request = {
      entity: 'staff',
      projection: EVERYTHING,
      query: { field: 'salary', op: '=', rvalue: 1 },
    }
    const requests = [
      { seq: 1, op: 'find', request },
      { seq: 2, op: 'insert', request: { entity: 'staff', data: { salary: 1 } } },
      { seq: 3, op: 'delete', request: { entity: 'staff', query: { $and: [] } } },
    ]
    const [read, written, deleted] = await bulk(requests, {}, { roles: ['hr'] })
    errorObject(read!.response.errors[0], 'crud:NoAccess')
    errorObject(written!.response.dataErrors[0].errors[0], 'crud:insert:NoFieldAccess')
    errorObject(deleted!.response.errors[0], 'crud:NoAccess')
  })
})
