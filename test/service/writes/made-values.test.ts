/** Values that the service makes: making one is its own doing, having one replaced is a change of the caller. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { printResponse } from '../../../src/service/response.ts'
import { dataErrorCodes } from '../../support/service.ts'
import { type Tenant, openTenant } from '../../support/shared-service.ts'
import { BOSS, CLERK, forBoss, held, save, update } from './writing.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const required = { constraints: { required: true } }
const uid = { type: 'uid', ...required }
const sequence = { type: 'IntSequence', configuration: { name: 'q', initialValue: 100, increment: 1 } }

const FIELDS: JsonObject = {
  s: { type: 'string' },
  free: uid,
  pub: { ...uid, ...forBoss('update') },
  opt: { type: 'uid', ...forBoss('update') },
  num: { type: 'integer', ...required, ...forBoss('update'), valueGenerator: sequence },
  key: { ...uid, ...forBoss('find', 'insert', 'update') },
  blind: { ...uid, ...forBoss('find') },
  touched: {
    type: 'uid',
    ...required,
    ...forBoss('update'),
    valueGenerator: { type: 'UUID', overwrite: true },
  },
  o: { type: 'object', fields: { x: { type: 'string' }, u: { ...uid, ...forBoss('update') } } },
  oa: {
    type: 'array',
    items: { type: 'object', fields: { p: { type: 'string' }, u: { ...uid, ...forBoss('update') } } },
  },
}

const STORED: JsonObject = {
  _id: '1',
  s: 'a',
  free: 'FREE',
  pub: 'PUB',
  opt: 'OPT',
  num: 7,
  key: 'KEY',
  blind: 'BLIND',
  o: { x: 'a', u: 'OU' },
  oa: [
    { p: 'a', u: 'UA' },
    { p: 'b', u: 'UB' },
  ],
}

/** What a clerk sends who leaves out all that the service makes. */
const OWN: JsonObject = { _id: '1', s: 'a', opt: 'OPT', o: { x: 'a' }, oa: [{ p: 'a' }, { p: 'b' }] }
const KEPT = { pub: 'PUB', opt: 'OPT', num: 7, key: 'KEY', blind: 'BLIND' }

async function open(): Promise<Tenant> {
  const tester = await openTenant()
  await tester.define(tester.entity, FIELDS)
  const response = await tester.insert(tester.entity, { data: STORED }, BOSS)
  assert.equal(response.status, 'COMPLETE', printResponse(response))
  return tester
}

async function stored(tester: Tenant): Promise<JsonObject> {
  const { touched: _, ...rest } = (await held(tester))['1']!
  return rest
}

const DENIED_UPDATES: readonly JsonObject[] = [
  { $set: { pub: null } },
  { $set: { pub: '' } },
  { $unset: 'pub' },
  { $unset: ['num'] },
  { $set: { s: 'x', num: null } },
  { $set: { key: null } },
  { $unset: 'key' },
  { $unset: 'o.u' },
  { $set: { 'o.u': null } },
  { $set: { o: { x: 'b' } } },
  { $set: { 'oa.0.u': null } },
  { $foreach: { oa: '$all', $update: { $unset: 'u' } } },
]

onEveryStore(() => {
  for (const change of DENIED_UPDATES) {
    test(`update: a value that is there is not made anew by who may not change it: ${JSON.stringify(change)}`, async () => {
      await using tester = await open()
      const response = await update(tester, { update: change }, CLERK)
      assert.deepEqual(dataErrorCodes(response), [['crud:update:NoFieldAccess']], printResponse(response))
      assert.deepEqual(await stored(tester), STORED)
    })
  }

  const DENIED_SAVES: readonly (readonly [rule: string, sent: JsonObject])[] = [
    ['a null', { pub: null }],
    ['an empty uid', { pub: '' }],
    ['a null for a sequence', { num: null }],
    ['a null for a hidden field', { key: null }],
    ['a null in an object', { o: { x: 'a', u: null } }],
    ['a null in an element', { oa: [{ p: 'a', u: null }, { p: 'b' }] }],
  ]

  for (const [rule, sent] of DENIED_SAVES) {
    test(`save: ${rule} replaces no value for who may not change it`, async () => {
      await using tester = await open()
      const response = await save(tester, { data: { ...OWN, ...sent } }, CLERK)
      assert.deepEqual(dataErrorCodes(response), [['crud:update:NoFieldAccess']], printResponse(response))
      assert.deepEqual(await stored(tester), STORED)
    })
  }

  test('save: a null for a hidden field is denied also where there is no value', async () => {
    await using tester = await openTenant()
    const old = { s: { type: 'string' } }
    await tester.define(tester.entity, old)
    await tester.store(tester.entity, [{ _id: '1', s: 'a' }])
    const key = { type: 'uid', ...forBoss('find', 'update') }
    const version = { value: '2.0.0', changelog: 'second' }
    const { metadata } = tester.service
    const { entityInfo, schema } = metadata.get(BOSS, tester.entity, '1.0.0') as {
      entityInfo: JsonObject
      schema: JsonObject
    }
    const body = { entityInfo, schema: { ...schema, version, fields: { ...old, key } } }
    await metadata.create(BOSS, { entity: tester.entity, version: '2.0.0' }, body)
    const data = { _id: '1', s: 'b', key: null }
    const response = await tester.service.data.save(
      CLERK,
      { entity: tester.entity, version: '2.0.0' },
      { data },
    )
    assert.deepEqual(dataErrorCodes(response), [['crud:update:NoFieldAccess']], printResponse(response))
  })

  test('save: what the service makes is kept when left out by who may not change it', async () => {
    await using tester = await open()
    const data = { ...OWN, s: 'b', o: { x: 'b' }, oa: [{ p: 'b' }, { p: 'a' }] }
    const response = await save(tester, { data }, CLERK)
    assert.equal(response.modifiedCount, 1, printResponse(response))
    const { free, ...rest } = await stored(tester)
    assert.notEqual(free, 'FREE')
    const oa = [
      { p: 'b', u: 'UB' },
      { p: 'a', u: 'UA' },
    ]
    assert.deepEqual(rest, { _id: '1', s: 'b', ...KEPT, o: { x: 'b', u: 'OU' }, oa })
  })

  test('save: a hidden value is made anew by naming it, for who may change it', async () => {
    await using tester = await open()
    const response = await save(tester, { data: { ...OWN, free: 'FREE', blind: null } }, CLERK)
    assert.equal(response.modifiedCount, 1, printResponse(response))
    const { blind, ...rest } = await stored(tester)
    assert.notEqual(blind, 'BLIND')
    const { blind: _, ...others } = STORED
    assert.deepEqual(rest, others)
  })

  test('update: who may change a value may have it made anew, and overwritten ones are nobody’s change', async () => {
    await using tester = await open()
    const before = (await held(tester))['1']!
    const change = { $set: { free: null, touched: null } }
    assert.equal((await update(tester, { update: change }, CLERK)).modifiedCount, 1)
    const after = (await held(tester))['1']!
    assert.notEqual(after['free'], 'FREE')
    assert.notEqual(after['touched'], before['touched'])
    assert.equal((await update(tester, { update: { $set: { pub: null } } }, BOSS)).modifiedCount, 1)
    assert.notEqual((await stored(tester))['pub'], 'PUB')
  })

  test('save, update: a value is made where there was none, whoever asks', async () => {
    await using tester = await open()
    assert.equal((await update(tester, { update: { $unset: 'opt' } }, BOSS)).modifiedCount, 1)
    const response = await save(tester, { data: { ...OWN, opt: null } }, CLERK)
    assert.equal(response.modifiedCount, 1, printResponse(response))
    assert.equal(typeof (await stored(tester))['opt'], 'string')
    const added = await update(tester, { update: { $append: { oa: { p: 'c' } } } }, CLERK)
    assert.equal(added.modifiedCount, 1, printResponse(added))
  })

  test('insert: a sequence supplies a number for every element that asks for an identity', async () => {
    await using tester = await openTenant()
    await tester.define(tester.entity, { lines: linesNumberedBy(`${tester.entity}-many`, 1) })
    const sent = Array.from({ length: 150 }, (_, i) => ({ no: i + 1000 }))
    const asked = Array.from({ length: 150 }, () => ({ no: null }))
    const response = await tester.insert(tester.entity, { data: { _id: '1', lines: [...sent, ...asked] } })
    assert.equal(response.status, 'COMPLETE', printResponse(response))
    const { lines } = (await held(tester))['1'] as { lines: readonly JsonObject[] }
    assert.deepEqual(
      lines.slice(150).map(({ no }) => no),
      Array.from({ length: 150 }, (_, i) => i + 1),
    )
  })

  test('insert: a double gets no number of a sequence twice', async () => {
    await using tester = await openTenant()
    const configuration = { name: `${tester.entity}-double`, initialValue: 2 ** 53 - 1 }
    const no = { type: 'double', ...required, valueGenerator: { type: 'IntSequence', configuration } }
    await tester.define(tester.entity, { no })
    await tester.store(tester.entity, [{ _id: '1' }])
    assert.equal((await held(tester))['1']!['no'], 2 ** 53 - 1)
    for (const _id of ['2', '3']) {
      const { errors } = await tester.insert(tester.entity, { data: { _id } })
      assert.equal(errors?.[0]?.errorCode, 'crud:LimitExceeded')
      assert.match(
        errors[0].msg,
        /has no more numbers that a double can tell apart; make the field biginteger/,
      )
    }
  })

  test('insert: a made value has to fulfil the constraints, or the document is refused', async () => {
    await using tester = await openTenant()
    const configuration = { name: `${tester.entity}-bounded`, initialValue: 1 }
    const no = {
      type: 'integer',
      constraints: { required: true, minimum: 2 },
      valueGenerator: { type: 'IntSequence', configuration },
    }
    const by = { type: 'string', constraints: { maxLength: 3 }, valueGenerator: { type: 'CurrentUser' } }
    await tester.define(tester.entity, { no, by })
    const small = await tester.insert(tester.entity, { data: [{ _id: '1' }, { _id: '2' }] })
    assert.deepEqual(dataErrorCodes(small), [['crud:ValueTooSmall']], printResponse(small))
    assert.match(printResponse(small), /the value generated for \\"no\\" must/)
    assert.deepEqual(Object.keys(await held(tester)), ['2'])
    const long = await tester.insert(tester.entity, { data: { _id: '3', by: null } })
    assert.deepEqual(dataErrorCodes(long), [['crud:TooLong']], printResponse(long))
  })

  test('insert: a made "_id" has to fulfil its constraints, or the document is refused', async () => {
    await using tester = await openTenant()
    await tester.define(tester.entity, { _id: { type: 'string', constraints: { maxLength: 5 } } })
    const response = await tester.insert(tester.entity, { data: {} })
    assert.deepEqual(dataErrorCodes(response), [['crud:TooLong']], printResponse(response))
  })

  test('insert: documents are refused where more made values violate constraints than can be reported', async () => {
    await using tester = await openTenant()
    const numbered = (name: string, type: string) => ({
      type,
      constraints: { required: true, ...(name === 'no' && { minimum: 1_000_000 }) },
      valueGenerator: { type: 'IntSequence', configuration: { name: `${tester.entity}-${name}` } },
    })
    const lines = {
      type: 'array',
      items: { type: 'object', fields: { no: numbered('no', 'integer') } },
    }
    await tester.define(tester.entity, { _id: numbered('id', 'integer'), lines })
    const full = Array.from({ length: 101 }, () => ({ lines: Array.from({ length: 110 }, () => ({})) }))
    const data: Json = [...full, { _id: 'x', unknown: 1 }, { _id: 'y', unknown: 1 }]
    const response = await tester.insert(tester.entity, { data })
    assert.equal(response.status, 'ERROR', printResponse(response))
    assert.deepEqual(await held(tester), {})
  })

  test('insert, update, save: a number that identifies another element already is passed over', async () => {
    await using tester = await openTenant()
    await tester.define(tester.entity, { lines: linesNumberedBy(`${tester.entity}-same`, 5) })
    const numbers = async () =>
      (((await held(tester))['1'] as JsonObject)['lines'] as JsonObject[]).map(({ no }) => no)
    const sent = { _id: '1', lines: [{}, { no: 6 }, { no: 5 }, {}, { no: 10 }] }
    const inserted = await tester.insert(tester.entity, { data: sent })
    assert.equal(inserted.status, 'COMPLETE', printResponse(inserted))
    assert.deepEqual(await numbers(), [7, 6, 5, 8, 10])
    // a refusal would give the number back on SQLite, so that the next attempt had the same one
    const appended = await update(tester, {
      update: { $append: { lines: [{}, {}] } },
      execution: { atomic: true },
    })
    assert.equal(appended.status, 'COMPLETE', printResponse(appended))
    const [ninth, eleventh] = (await numbers()).slice(-2) as number[]
    assert.ok(ninth! >= 9 && ninth !== 10 && eleventh! > 10, `${ninth} ${eleventh}`)
    const next = eleventh! + 1
    const saved = await save(tester, { data: { _id: '1', lines: [{ no: next }, {}, { no: next + 1 }] } })
    assert.equal(saved.status, 'COMPLETE', printResponse(saved))
    const [, number] = await numbers()
    assert.ok((number as number) > next + 1, JSON.stringify(number))
    const created = await save(tester, { data: { _id: '2', lines: [{ no: next + 2 }, {}] }, upsert: true })
    assert.equal(created.status, 'COMPLETE', printResponse(created))
  })

  test('update: nothing is refused for an identity that is hidden from the caller', async () => {
    await using tester = await openTenant()
    const lines = linesNumberedBy(`${tester.entity}-hidden`, 1, forBoss('find', 'insert', 'update'))
    await tester.define(tester.entity, { lines })
    await tester.insert(tester.entity, { data: { _id: '1', lines: [{ no: 2 }, { no: 4 }] } }, BOSS)
    for (let i = 0; i < 4; i++) {
      const appended = await update(tester, { update: { $append: { lines: {} } } }, CLERK)
      assert.equal(appended.status, 'COMPLETE', printResponse(appended))
    }
  })
})

function linesNumberedBy(name: string, initialValue: number, more: JsonObject = {}): JsonObject {
  const valueGenerator = { type: 'IntSequence', configuration: { name, initialValue } }
  const no = { type: 'integer', constraints: { 'element-identity': true }, valueGenerator, ...more }
  return { type: 'array', items: { type: 'object', fields: { no } } }
}
