/** Row rules: access lists whose entries admit a role to some documents only, at every way in. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../../src/access/caller.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { DataResponse } from '../../../src/service/response.ts'
import { EVERYTHING, dataErrorCodes, documentsOf, failedDocumentsOf } from '../../support/service.ts'
import type { Tenant } from '../../support/shared-service.ts'
import { startTestServer } from '../../support/server.ts'
import { ALL, BOSS, answer, callerAs, equals, idsIn, openRuled, plain, readBy, stored } from './ruled.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const OWN: JsonObject = { role: 'clerk', where: equals('owner', '$caller.principal') }
const REGIONAL: JsonObject = {
  role: 'regional',
  where: { field: 'region', op: '$in', values: ['$caller.claims.area.regions'] },
}
const MINE: readonly Json[] = ['boss', OWN, REGIONAL]
const RULED: JsonObject = { find: MINE, insert: MINE, update: MINE, delete: MINE }

const FIELDS: JsonObject = {
  _id: { type: 'string' },
  owner: { type: 'string' },
  region: { type: 'string' },
  level: { type: 'integer' },
  text: { type: 'string' },
}

const DOCUMENTS: readonly JsonObject[] = [
  { _id: '1', owner: 'ann', region: 'n', level: 3 },
  { _id: '2', owner: 'ann', region: 's', level: 1 },
  { _id: '3', owner: 'bob', region: 'n', level: 2 },
  { _id: '4', owner: '', region: 'w', level: 5 },
  { _id: '5', level: 4 },
]

const ANN = callerAs(['clerk'], 'ann')

function opened(access: JsonObject = RULED, fields: JsonObject = FIELDS): Promise<Tenant> {
  const open = { insert: ['boss'], find: ['boss'], update: ['boss'], delete: ['boss'] }
  return openRuled({ access: { ...open, ...access }, fields, documents: DOCUMENTS })
}

const regional = (regions: Json): Caller => callerAs(['regional'], 'x', { area: { regions } })

const CALLERS: readonly (readonly [rule: string, caller: Caller, ids: readonly string[]])[] = [
  ['one entry', ANN, ['1', '2']],
  ['another name', callerAs(['clerk'], 'bob'), ['3']],
  ['a caller without a name', callerAs(['clerk']), []],
  ['an array claim', regional(['n', 'w']), ['1', '3', '4']],
  ['a single claim where a list may stand', regional('s'), ['2']],
  ['a missing claim', callerAs(['regional'], 'x'), []],
  ['a claim on the way that is no object', callerAs(['regional'], 'x', { area: 'n' }), []],
  ['a null claim', regional(null), []],
  ['a null in an array claim', regional(['n', null]), []],
  ['a claim of the wrong type', regional({ n: 1 }), []],
  ['a wrong type in an array claim', regional(['n', ['s']]), []],
  ['an empty array claim', regional([]), []],
  ['a claim named like what every object has', callerAs(['regional'], 'x', { area: {} }), []],
  ['several entries', callerAs(['clerk', 'regional'], 'ann', { area: { regions: ['w'] } }), ['1', '2', '4']],
  ['several entries, one without a value', callerAs(['clerk', 'regional'], 'ann'), ['1', '2']],
  ['an entry without a rule', callerAs(['clerk', 'boss'], 'ann'), ['1', '2', '3', '4', '5']],
]

onEveryStore(() => {
  for (const [rule, caller, ids] of CALLERS) {
    test(`find: shows and counts only documents that an admitted entry matches: ${rule}`, async () => {
      await using on = await opened()
      const found = await readBy(on, caller, { sort: { _id: '$asc' } })
      assert.deepEqual([idsIn(found), found.matchCount], [ids, ids.length])
      const [first] = ids
      const asked = await readBy(on, caller, { query: { $not: equals('_id', '3') } })
      assert.deepEqual(
        idsIn(asked),
        ids.filter((id) => id !== '3'),
      )
      const sorted = await readBy(on, caller, { sort: { level: '$desc' } })
      assert.equal(sorted.matchCount, ids.length)
      assert.equal(
        (await readBy(on, caller, { query: equals('_id', first ?? '1') })).matchCount,
        first ? 1 : 0,
      )
    })

    test(`update: changes and counts only those: ${rule}`, async () => {
      await using on = await opened()
      const body = { query: ALL, update: { $set: { text: 'new' } }, projection: EVERYTHING }
      const response = await on.service.data.update(caller, { entity: on.entity }, body)
      assert.deepEqual([response.matchCount, response.modifiedCount], [ids.length, ids.length])
      assert.deepEqual(
        documentsOf(response).map(({ _id }) => _id),
        ids,
      )
      assert.deepEqual(await idsWith(on, 'new'), ids)
    })

    test(`delete: removes and counts only those: ${rule}`, async () => {
      await using on = await opened()
      const response = await on.service.data.delete(caller, { entity: on.entity }, { query: ALL })
      assert.deepEqual([response.matchCount, response.modifiedCount], [ids.length, ids.length])
      const left = DOCUMENTS.map(({ _id }) => _id as string).filter((id) => !ids.includes(id))
      assert.deepEqual(Object.keys(await stored(on)), left)
    })

    test(`save: knows only those: ${rule}`, async () => {
      await using on = await opened()
      const data = DOCUMENTS.map((each) => ({ ...each, text: 'saved' }))
      const response = await on.service.data.save(
        caller,
        { entity: on.entity },
        { data, projection: EVERYTHING },
      )
      assert.deepEqual(
        dataErrorCodes(response),
        DOCUMENTS.filter(({ _id }) => !ids.includes(_id as string)).map(() => ['store-crud:SaveError']),
      )
      assert.deepEqual(await idsWith(on, 'saved'), ids)
    })
  }

  async function idsWith(on: Tenant, text: string): Promise<readonly string[]> {
    return Object.values(await stored(on)).flatMap((each) =>
      each['text'] === text ? [each['_id'] as string] : [],
    )
  }

  test('find: without a role that an entry names it is refused as ever', async () => {
    await using on = await opened()
    assert.equal((await readBy(on, callerAs(['other'], 'ann'))).code, 'crud:NoAccess')
  })

  test('find: noone beats every other entry of the list', async () => {
    await using on = await opened({ find: [OWN, 'noone', 'anyone'] })
    assert.equal((await readBy(on, ANN)).code, 'crud:NoAccess')
  })

  test('find: anyone may have a rule, too', async () => {
    await using on = await opened({ find: ['boss', { role: 'anyone', where: equals('region', 'n') }] })
    assert.deepEqual(idsIn(await readBy(on, callerAs([]), { sort: { _id: '$asc' } })), ['1', '3'])
  })

  const NEGATED: readonly (readonly [where: JsonObject, claims: JsonObject, ids: readonly string[]])[] = [
    [{ $not: equals('owner', '$caller.claims.x') }, {}, []],
    [{ $not: equals('owner', '$caller.claims.x') }, { x: 'ann' }, ['3', '4', '5']],
    [{ field: 'owner', op: '!=', rvalue: '$caller.claims.x' }, {}, []],
    [{ field: 'owner', op: '$nin', values: ['$caller.claims.x'] }, { x: [] }, []],
    [{ field: 'owner', op: '$nin', values: ['ann', '$caller.claims.x'] }, { x: [] }, ['3', '4', '5']],
    [{ field: 'owner', op: '$nin', values: ['$caller.claims.x'] }, { x: ['ann', 'bob'] }, ['4', '5']],
    [{ $or: [equals('owner', '$caller.claims.x'), equals('region', 'n')] }, {}, []],
    [{ field: 'level', op: '>', rvalue: '$caller.claims.x' }, { x: 3 }, ['4', '5']],
    [{ field: 'level', op: '>', rvalue: '$caller.claims.x' }, { x: 'much' }, []],
    [{ field: 'level', op: '>', rvalue: '$caller.claims.x' }, { x: [3] }, []],
    [{ $not: { field: 'level', op: '>', rvalue: '$caller.claims.x' } }, { x: true }, []],
  ]
  for (const [where, claims, ids] of NEGATED) {
    test(`find: ${JSON.stringify(where)} with ${JSON.stringify(claims)} matches ${ids.length}`, async () => {
      await using on = await opened({ find: ['boss', { role: 'clerk', where }] })
      const found = await readBy(on, callerAs(['clerk'], 'x', claims), { sort: { _id: '$asc' } })
      assert.deepEqual(idsIn(found), ids)
    })
  }

  test('explain: tells nothing of the rules, nor of how they are looked for', async () => {
    await using on = await opened({
      find: ['boss', { role: 'clerk', where: equals('owner', 'confidential') }],
    })
    const response = await on.service.data.explain(ANN, { entity: on.entity }, { projection: EVERYTHING })
    assert.equal(response.status, 'COMPLETE')
    assert.doesNotMatch(response.processed![0]!, /confidential|select/i)
    const whole = await on.service.data.explain(BOSS, { entity: on.entity }, { projection: EVERYTHING })
    assert.match(whole.processed![0]!, /select/i)
  })

  test('insert: a document must match an admitted entry', async () => {
    await using on = await opened()
    const data = [
      { _id: 'a', owner: 'ann' },
      { _id: 'b', owner: 'bob' },
      { _id: 'c' },
      { _id: 'd', owner: 'ann', region: 'x' },
    ]
    const response = await on.insert(on.entity, { data, projection: EVERYTHING }, ANN)
    assert.deepEqual(dataErrorCodes(response), [['crud:NoAccess'], ['crud:NoAccess']])
    assert.deepEqual(
      failedDocumentsOf(response).map((data) => data['_id']),
      ['b', 'c'],
    )
    assert.deepEqual(
      documentsOf(response).map(({ _id }) => _id),
      ['a', 'd'],
    )
    assert.doesNotMatch(JSON.stringify(response.dataErrors!.map(({ errors }) => errors)), /bob|ann/)
    const atomic = await on.insert(
      on.entity,
      { data: [{ owner: 'ann' }, {}], execution: { atomic: true } },
      ANN,
    )
    assert.deepEqual(dataErrorCodes(atomic), [['crud:Rolledback'], ['crud:NoAccess']])
  })

  test('update: a document must still match, or it stays as it is', async () => {
    await using on = await opened()
    const give = (execution: JsonObject): Promise<DataResponse> => {
      const query = { field: 'level', op: '>', rvalue: 0 }
      const body = { query, update: { $set: { owner: 'bob' } }, projection: EVERYTHING, execution }
      return on.service.data.update(ANN, { entity: on.entity }, body)
    }
    for (const execution of [{}, { atomic: true }]) {
      const response = await give(execution)
      assert.deepEqual(dataErrorCodes(response), [['crud:NoAccess'], ['crud:NoAccess']])
      assert.deepEqual([response.matchCount, response.modifiedCount], [2, 0])
      assert.equal((await stored(on))['1']!['owner'], 'ann')
    }
  })

  test('update: what the caller can no longer find is shown as {}, under a version that names nothing', async () => {
    await using on = await opened({ find: MINE, update: ['clerk'] })
    const body = { query: equals('_id', '1'), update: { $set: { owner: 'bob' } }, projection: EVERYTHING }
    const response = await on.service.data.update(ANN, { entity: on.entity }, body)
    assert.deepEqual([response.modifiedCount, documentsOf(response)], [1, [{}]])
    assert.doesNotMatch(response.resultMetadata![0]!, /"1:/)
    const again = await on.service.data.update(ANN, { entity: on.entity }, body)
    assert.deepEqual([again.matchCount, again.status], [0, 'COMPLETE'], 'and no longer there for them')
  })

  test('insert: what the caller cannot find is shown as {}', async () => {
    await using on = await opened({ find: MINE, insert: ['clerk', 'boss'] })
    const data = [
      { _id: 'a', owner: 'ann' },
      { _id: 'b', owner: 'bob' },
    ]
    const response = await on.insert(on.entity, { data, projection: EVERYTHING }, ANN)
    assert.deepEqual(documentsOf(response).map(plain), [{ _id: 'a', owner: 'ann' }, {}])
    assert.match(response.resultMetadata![0]!, /"a:/)
    assert.doesNotMatch(response.resultMetadata![1]!, /"b:/)
  })

  test('update: reaches documents that may be updated and may be found, not those that may be one of them', async () => {
    const where = { field: 'level', op: '>=', rvalue: 3 }
    await using on = await opened({ find: MINE, update: [{ role: 'clerk', where }] })
    const body = { query: ALL, update: { $set: { text: 'x' } } }
    assert.equal((await on.service.data.update(ANN, { entity: on.entity }, body)).matchCount, 1)
    assert.deepEqual(await idsWith(on, 'x'), ['1'])
  })

  test('update: who may not find at all reaches what the update rule matches, and sees nothing', async () => {
    await using on = await opened({ update: [OWN] })
    const body = { query: ALL, update: { $set: { text: 'x' } }, projection: EVERYTHING }
    const response = await on.service.data.update(ANN, { entity: on.entity }, body)
    assert.deepEqual([response.matchCount, documentsOf(response)], [2, [{}, {}]])
    const query = equals('owner', 'ann')
    assert.equal(
      answer(await on.service.data.update(ANN, { entity: on.entity }, { ...body, query })).code,
      'crud:NoAccess',
    )
  })

  test('delete: reaches documents that may be deleted and may be found', async () => {
    await using on = await opened({ find: MINE, delete: [{ role: 'clerk', where: equals('region', 'n') }] })
    assert.equal((await on.service.data.delete(ANN, { entity: on.entity }, { query: ALL })).modifiedCount, 1)
    assert.deepEqual(Object.keys(await stored(on)), ['2', '3', '4', '5'])
  })

  test("save: with upsert, another's document is in the way as any unique value is", async () => {
    await using on = await opened()
    const save = (data: Json, upsert = true): Promise<DataResponse> =>
      on.service.data.save(ANN, { entity: on.entity }, { data, upsert, projection: EVERYTHING })
    assert.deepEqual(dataErrorCodes(await save({ _id: '3', owner: 'ann' })), [['store-crud:Duplicate']])
    assert.deepEqual(dataErrorCodes(await save({ _id: '3', owner: 'bob' })), [['crud:NoAccess']])
    assert.deepEqual(dataErrorCodes(await save({ _id: '9', owner: 'bob' })), [['crud:NoAccess']])
    assert.deepEqual(dataErrorCodes(await save({ _id: '1', owner: 'bob' }, false)), [['crud:NoAccess']])
    assert.deepEqual(documentsOf(await save({ _id: '9', owner: 'ann' })).map(plain), [
      { _id: '9', owner: 'ann' },
    ])
    assert.equal((await stored(on))['3']!['owner'], 'bob')
  })

  test('onlyIfCurrent: the version of a document that is not theirs is the version of nothing', async () => {
    await using on = await opened()
    const { resultMetadata } = await on.find(
      on.entity,
      { projection: EVERYTHING, sort: { _id: '$asc' } },
      BOSS,
    )
    const documentVersions = resultMetadata!.map(
      (each) => (JSON.parse(each) as { documentVersion: string }).documentVersion,
    )
    const body = { query: ALL, update: { $set: { text: 'x' } }, onlyIfCurrent: true, documentVersions }
    const response = await on.service.data.update(ANN, { entity: on.entity }, body)
    assert.deepEqual([response.status, response.matchCount, response.modifiedCount], ['COMPLETE', 2, 2])
    const stale = await on.service.data.update(
      ANN,
      { entity: on.entity },
      { ...body, query: equals('_id', '3') },
    )
    assert.deepEqual([stale.status, stale.matchCount], ['COMPLETE', 0])
  })

  test('bulk: writes of each kind keep to the rules, also all or nothing', async () => {
    await using on = await opened()
    const requests = [
      { seq: 0, op: 'update', request: { entity: on.entity, query: ALL, update: { $set: { text: 'x' } } } },
      { seq: 1, op: 'save', request: { entity: on.entity, data: { _id: '3', owner: 'ann' } } },
      { seq: 2, op: 'insert', request: { entity: on.entity, data: { owner: 'bob' } } },
      { seq: 3, op: 'delete', request: { entity: on.entity, query: ALL } },
    ]
    const run = async (more: JsonObject) => {
      const text = await on.service.data.bulk(ANN, { requests, ...more })
      return (JSON.parse(text) as { responses: { response: DataResponse }[] }).responses.map(
        ({ response }) => response,
      )
    }
    const atomic = await run({ execution: { atomic: true } })
    assert.ok(atomic.some(({ status }) => status === 'ERROR'))
    assert.deepEqual(Object.keys(await stored(on)), ['1', '2', '3', '4', '5'])
    const [updated, saved, inserted, removed] = await run({})
    assert.equal(updated!.modifiedCount, 2)
    assert.deepEqual(dataErrorCodes(saved!), [['store-crud:SaveError']])
    assert.deepEqual(dataErrorCodes(inserted!), [['crud:NoAccess']])
    assert.equal(removed!.modifiedCount, 2)
    assert.deepEqual(Object.keys(await stored(on)), ['3', '4', '5'])
  })

  test('generate: needs an entry that names a role of the caller, whatever its rule', async () => {
    const n = { type: 'string', valueGenerator: { type: 'UUID' } }
    await using on = await opened(RULED, { ...FIELDS, n })
    const generate = (caller: Caller): Promise<DataResponse> =>
      on.service.data.generate(caller, { entity: on.entity }, 'n', undefined)
    assert.equal((await generate(callerAs(['clerk']))).status, 'COMPLETE')
    assert.equal(answer(await generate(callerAs(['other']))).code, 'crud:NoAccess')
  })

  test('http: the name that comes with a request is the name that rules mean', async () => {
    await using server = await startTestServer()
    await server.define('t', FIELDS, { schema: { access: RULED } })
    const inserted = await server.ask('PUT', '/data/insert/t', { body: { data: DOCUMENTS }, roles: ['boss'] })
    assert.equal(inserted.json.modifiedCount, DOCUMENTS.length)
    const as = { roles: ['clerk'], headers: { 'smalt-principal': 'ann' } }
    const body = { projection: EVERYTHING }
    for (const answered of [
      await server.ask('GET', '/data/find/t/1.0.0?P=*:1r', as),
      await server.ask('POST', '/data/find/t', { ...as, body }),
      await server.ask('GET', '/data/find/t?P=_id:1&Q=region:s,n,w', as),
    ]) {
      assert.equal(answered.json.matchCount, 2, answered.text)
    }
    assert.equal((await server.ask('POST', '/data/find/t', { roles: ['clerk'], body })).json.matchCount, 0)
  })
})
