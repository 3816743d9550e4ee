/** Save: documents are found by their identity and replaced, keeping what the sender could not know. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { codeOf, dataErrorCodes, documentsOf, json } from '../../support/service.ts'
import { type Tenant, openTenant } from '../../support/shared-service.ts'
import { CLERK, bare, byId, counts, forBoss, held, save, update, versionsOf } from './writing.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const COMPOSITE: JsonObject = {
  a: { type: 'string', constraints: { identity: true } },
  n: { type: 'integer', constraints: { identity: true } },
  text: { type: 'string' },
}

async function open(fields: JsonObject, documents: readonly JsonObject[] = []): Promise<Tenant> {
  const tester = await openTenant()
  await tester.define(tester.entity, fields)
  if (documents.length > 0) await tester.store(tester.entity, documents)
  return tester
}

onEveryStore(() => {
  test('save: a composite identity finds the document, whose _id stays', async () => {
    await using tester = await open(COMPOSITE, [
      { _id: '1', a: 'x', n: 1, text: 'old' },
      { _id: '2', a: 'x', n: 2 },
    ])
    const response = await save(tester, { data: { a: 'x', n: '1', text: 'new' } })
    assert.deepEqual(counts(response), ['COMPLETE', 0, 1])
    assert.deepEqual(bare(documentsOf(response)[0]!), { _id: '1', a: 'x', n: 1, text: 'new' })
    assert.deepEqual(await held(tester), {
      1: { _id: '1', a: 'x', n: 1, text: 'new' },
      2: { _id: '2', a: 'x', n: 2 },
    })
  })

  test('save: an _id that is sent does not replace the stored one', async () => {
    await using tester = await open(COMPOSITE, [{ _id: '1', a: 'x', n: 1 }])
    assert.equal((await save(tester, { data: { _id: '9', a: 'x', n: 1, text: 'new' } })).modifiedCount, 1)
    assert.deepEqual(await held(tester), { 1: { _id: '1', a: 'x', n: 1, text: 'new' } })
  })

  test('save: part of an identity, or null, finds nothing, and another type is refused', async () => {
    await using tester = await open(COMPOSITE, [{ _id: '1', a: 'x', n: 1 }])
    const data = [{ a: 'x' }, { a: 'x', n: null }, { a: 'x', n: 'one' }]
    const response = await save(tester, { data })
    assert.deepEqual(dataErrorCodes(response), [
      ['store-crud:SaveError'],
      ['store-crud:SaveError'],
      ['metadata:IncompatibleValue'],
    ])
    const upserted = await save(tester, { data, upsert: true })
    assert.deepEqual(dataErrorCodes(upserted), [
      ['crud:Required'],
      ['crud:Required'],
      ['metadata:IncompatibleValue'],
    ])
  })

  test('save: what cannot be an identity is named at its place, with or without upsert', async () => {
    await using tester = await open({
      code: { type: 'string', constraints: { identity: true } },
      home: { type: 'object', fields: { room: { type: 'integer', constraints: { identity: true } } } },
      more: { type: 'boolean' },
    })
    const start = 'cannot identify a document:'
    const cases: readonly (readonly [JsonObject, string, string])[] = [
      [{ code: {}, home: { room: 1 } }, 'code', `an object ${start} "code" is of type string; send a text`],
      [{ code: [1], home: { room: 1 } }, 'code', `an array ${start} "code" is of type string; send a text`],
      [
        { code: 'x', home: { room: [] } },
        'home.room',
        `an array ${start} "home.room" is of type integer; send an integer`,
      ],
      [{ code: 'x', home: { room: 1.5 } }, 'home.room', `this number ${start}`],
      [{ code: 'x', home: { room: 'one' } }, 'home.room', `this text ${start}`],
      [{ code: 'x', home: { room: true } }, 'home.room', `a boolean ${start}`],
      [{ code: 'x', home: [] }, 'home', '"home" must be an object'],
    ]
    for (const upsert of [false, true]) {
      for (const [document, place, message] of cases) {
        const data = [{ ...document, more: false }]
        const [fault] = (await save(tester, { data, upsert })).dataErrors![0]!.errors
        assert.equal(fault!.errorCode, 'metadata:IncompatibleValue')
        assert.ok(fault!.context.endsWith(`/${place}`), fault!.context)
        assert.ok(fault!.msg.startsWith(message), fault!.msg)
      }
    }
    const other = { code: 'x', home: { room: 1 }, more: 'maybe' }
    assert.deepEqual(dataErrorCodes(await save(tester, { data: other })), [['store-crud:SaveError']])
  })

  test('save: without declared identity _id is the identity', async () => {
    await using tester = await open({ _id: { type: 'integer' }, s: { type: 'string' } }, [{ _id: 1, s: 'a' }])
    const response = await save(tester, {
      data: [
        { _id: '1', s: 'b' },
        { _id: 2, s: 'c' },
      ],
      upsert: true,
    })
    assert.deepEqual(counts(response), ['COMPLETE', 0, 2])
    assert.deepEqual(await held(tester), { 1: { _id: 1, s: 'b' }, 2: { _id: 2, s: 'c' } })
  })

  test('save: a document without identity is new', async () => {
    await using tester = await open({ s: { type: 'string' } }, [{ _id: '1', s: 'a' }])
    assert.deepEqual(dataErrorCodes(await save(tester, { data: { s: 'b' } })), [['store-crud:SaveError']])
    assert.equal((await save(tester, { data: { s: 'b' }, upsert: true })).modifiedCount, 1)
    assert.equal(Object.keys(await held(tester)).length, 2)
  })

  test('save: the same identity twice in one request: the second replaces the first', async () => {
    await using tester = await open(COMPOSITE)
    const data = [
      { a: 'x', n: 1, text: 'first' },
      { a: 'x', n: 1, text: 'second' },
      { a: 'x', n: 1, text: 'second' },
    ]
    const response = await save(tester, { data, upsert: true })
    assert.deepEqual(counts(response), ['COMPLETE', 0, 2])
    assert.deepEqual(
      documentsOf(response).map(({ text }) => text),
      ['first', 'second', 'second'],
    )
    assert.deepEqual(
      Object.values(await held(tester)).map(({ text }) => text),
      ['second'],
    )
  })

  test('save: an identical document counts nothing and keeps its version', async () => {
    const fields = {
      s: { type: 'string' },
      bd: { type: 'bigdecimal' },
      ia: { type: 'array', items: { type: 'integer' } },
    }
    await using tester = await open(fields)
    const [document] = await tester.store(tester.entity, json('[{"_id":"1","bd":1.10,"ia":[1]}]'))
    const versions = await versionsOf(tester)
    for (const data of [document!, json('{"ia":["1"],"bd":"1.10","_id":"1","s":null}')]) {
      const response = await save(tester, { data })
      assert.deepEqual(counts(response), ['COMPLETE', 0, 0])
      assert.equal(response.processed!.length, 1, 'it is answered all the same')
      assert.deepEqual(await versionsOf(tester), versions)
    }
    assert.equal((await save(tester, { data: json('{"_id":"1","bd":1.1,"ia":[1]}') })).modifiedCount, 1)
    assert.notDeepEqual(await versionsOf(tester), versions)
  })

  test('save: what is not sent goes', async () => {
    await using tester = await open(
      { s: { type: 'string' }, o: { type: 'object', fields: { x: { type: 'string' } } } },
      [{ _id: '1', s: 'a', o: { x: 'b' } }],
    )
    await save(tester, { data: { _id: '1' } })
    assert.deepEqual(await held(tester), { 1: { _id: '1' } })
  })

  test('save: atomic means that one failure fails all', async () => {
    await using tester = await open({ i: { type: 'integer' } }, [{ _id: '1', i: 1 }])
    const data = [
      { _id: '1', i: 5 },
      { _id: '2', i: 2 },
      { _id: '3', i: 'x' },
    ]
    const response = await save(tester, { data, upsert: true, execution: { atomic: true } })
    assert.deepEqual(counts(response), ['ERROR', 0, 0])
    assert.deepEqual(dataErrorCodes(response), [
      ['crud:Rolledback'],
      ['crud:Rolledback'],
      ['metadata:IncompatibleValue'],
    ])
    assert.deepEqual(response.processed, [])
    assert.deepEqual(await held(tester), { 1: { _id: '1', i: 1 } })
  })

  const HIDING: JsonObject = {
    s: { type: 'string' },
    secret: { type: 'string', ...forBoss('find', 'insert', 'update') },
    blind: { type: 'string', ...forBoss('find') },
    fixed: { type: 'string', ...forBoss('update') },
    o: {
      type: 'object',
      fields: { x: { type: 'string' }, h: { type: 'string', ...forBoss('find', 'update') } },
    },
    oa: {
      type: 'array',
      items: {
        type: 'object',
        fields: {
          p: { type: 'string' },
          na: { type: 'array', items: { type: 'integer' } },
          h: { type: 'string', ...forBoss('find', 'insert', 'update') },
        },
      },
    },
    ida: {
      type: 'array',
      items: {
        type: 'object',
        fields: {
          id: { type: 'integer', constraints: { 'element-identity': true } },
          p: { type: 'string' },
          h: { type: 'string', ...forBoss('find', 'insert', 'update') },
        },
      },
    },
  }

  async function openHiding(document: JsonObject): Promise<Tenant> {
    const tester = await openTenant()
    await tester.define(tester.entity, HIDING)
    const response = await tester.insert(
      tester.entity,
      { data: { _id: '1', ...document } },
      {
        ...CLERK,
        roles: new Set(['boss']),
      },
    )
    assert.equal(response.status, 'COMPLETE')
    return tester
  }

  test('save: hidden members that are not named stay, at every depth', async () => {
    await using tester = await openHiding({
      s: 'a',
      secret: 'S',
      blind: 'B',
      o: { x: 'a', h: 'H' },
      fixed: 'F',
    })
    const response = await save(tester, { data: { _id: '1', s: 'b', o: { x: 'b' }, fixed: 'F' } }, CLERK)
    assert.deepEqual(counts(response), ['COMPLETE', 0, 1])
    assert.deepEqual(bare(documentsOf(response)[0]!), { _id: '1', s: 'b', o: { x: 'b' }, fixed: 'F' })
    assert.deepEqual(await held(tester), {
      1: { _id: '1', s: 'b', secret: 'S', blind: 'B', o: { x: 'b', h: 'H' }, fixed: 'F' },
    })
  })

  test('save: an object that is not sent goes with what is hidden in it', async () => {
    await using tester = await openHiding({ s: 'a', o: { x: 'a', h: 'H' } })
    assert.equal((await save(tester, { data: { _id: '1', s: 'a' } }, CLERK)).modifiedCount, 1)
    assert.deepEqual(await held(tester), { 1: { _id: '1', s: 'a' } })
  })

  test('save: hidden members follow elements that move, by what the caller sees of them', async () => {
    const oa = [
      { p: 'a', na: [1], h: 'A' },
      { p: 'b', na: [], h: 'B' },
      { p: 'c', h: 'C' },
    ]
    await using tester = await openHiding({ oa })
    await save(tester, { data: { _id: '1', oa: [{ p: 'c' }, { p: 'a', na: [1] }] } }, CLERK)
    assert.deepEqual((await held(tester))['1']!['oa'], [
      { p: 'c', h: 'C' },
      { p: 'a', na: [1], h: 'A' },
    ])
  })

  test('save: hidden members follow elements by their identity, and do not rise again', async () => {
    const ida = [
      { id: 1, p: 'a', h: 'A' },
      { id: 2, p: 'b', h: 'B' },
    ]
    await using tester = await openHiding({ ida })
    await save(
      tester,
      {
        data: {
          _id: '1',
          ida: [
            { id: 2, p: 'new' },
            { id: 3, p: 'a' },
          ],
        },
      },
      CLERK,
    )
    assert.deepEqual((await held(tester))['1']!['ida'], [
      { id: 2, p: 'new', h: 'B' },
      { id: 3, p: 'a' },
    ])
    await save(tester, { data: { _id: '1', ida: [{ id: 1, p: 'a' }] } }, CLERK)
    assert.deepEqual((await held(tester))['1']!['ida'], [{ id: 1, p: 'a' }])
  })

  test('save: a caller who sees all removes what is not sent', async () => {
    await using tester = await openHiding({ s: 'a', secret: 'S', oa: [{ p: 'a', h: 'A' }] })
    await save(
      tester,
      { data: { _id: '1', s: 'a', oa: [{ p: 'a' }] } },
      { ...CLERK, roles: new Set(['boss']) },
    )
    assert.deepEqual(await held(tester), { 1: { _id: '1', s: 'a', oa: [{ p: 'a' }] } })
  })

  const NAMED: readonly (readonly [rule: string, data: JsonObject])[] = [
    ['a hidden field with its own value', { secret: 'S' }],
    ['a hidden field with another value', { secret: 'x' }],
    ['a hidden member', { o: { x: 'a', h: 'H' } }],
    ['a hidden member of an element', { oa: [{ p: 'a', h: 'A' }] }],
    ['a visible field that may not be changed', { fixed: 'x' }],
  ]

  for (const [rule, data] of NAMED) {
    test(`save: ${rule} is crud:update:NoFieldAccess`, async () => {
      const document = { fixed: 'F', secret: 'S', o: { x: 'a', h: 'H' }, oa: [{ p: 'a', h: 'A' }] }
      await using tester = await openHiding(document)
      const sent = { _id: '1', fixed: 'F', o: { x: 'a' }, oa: [{ p: 'a' }], ...data }
      const response = await save(tester, { data: sent }, CLERK)
      assert.deepEqual(dataErrorCodes(response), [['crud:update:NoFieldAccess']])
      assert.deepEqual(await held(tester), { 1: { _id: '1', ...document } })
    })
  }

  test('save: a hidden field that may be written counts as modified, whatever its value', async () => {
    await using tester = await openHiding({ s: 'a', blind: 'B' })
    for (const blind of ['B', 'C']) {
      const response = await save(tester, { data: { _id: '1', s: 'a', blind } }, CLERK)
      assert.deepEqual(counts(response), ['COMPLETE', 0, 1])
      assert.deepEqual(bare(documentsOf(response)[0]!), { _id: '1', s: 'a' })
    }
    assert.equal((await held(tester))['1']!['blind'], 'C')
  })

  test('save: a new document is judged by the rules of insert', async () => {
    await using tester = await openHiding({})
    const response = await save(tester, { data: { _id: '2', secret: 'x' }, upsert: true }, CLERK)
    assert.deepEqual(dataErrorCodes(response), [['crud:insert:NoFieldAccess']])
  })

  test('save: data must be there, and a query is refused', async () => {
    await using tester = await open({ s: { type: 'string' } }, [{ _id: '1' }])
    assert.equal(codeOf(await save(tester, {})), 'crud:InvalidRequest')
    assert.deepEqual(counts(await save(tester, { data: [] })), ['COMPLETE', 0, 0])
    const queried = await save(tester, { data: { _id: '1', s: 'x' }, query: byId('9') })
    assert.equal(codeOf(queried), 'crud:InvalidRequest')
    assert.equal((await update(tester, { update: { $set: { s: 'y' } } })).modifiedCount, 1)
  })
})
