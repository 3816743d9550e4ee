/** A member that a caller may read and may not change stays, whatever container around it is removed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { printResponse } from '../../../src/service/response.ts'
import { ADMIN, callerWith, dataErrorCodes, metadataDocument } from '../../support/service.ts'
import { type Tenant, shareService } from '../../support/shared-service.ts'
import { BOSS, CLERK, byId, counts, forBoss, held, save, update } from './writing.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const object = (fields: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  fields,
  ...more,
})
const list = (fields: JsonObject): JsonObject => ({ type: 'array', items: object(fields) })
const TEXT = { type: 'string' }
const FIXED = { ...TEXT, ...forBoss('update') }
const HIDDEN = { ...TEXT, ...forBoss('find', 'update') }

const FIELDS: JsonObject = {
  state: TEXT,
  deep: object({ x: TEXT, inner: object({ x: TEXT, f: FIXED, h: HIDDEN }) }),
  rows: list({ p: TEXT, cells: list({ x: TEXT, f: FIXED }) }),
  known: list({ id: { ...TEXT, constraints: { 'element-identity': true } }, f: FIXED, h: HIDDEN }),
  covered: object({ x: TEXT, h: HIDDEN }),
  whole: object({ x: TEXT, f: TEXT }, forBoss('find', 'update')),
  made: object({
    x: TEXT,
    id: { type: 'uid', ...forBoss('update'), constraints: { required: true } },
  }),
  stamped: object({
    x: TEXT,
    at: {
      type: 'date',
      ...forBoss('update'),
      constraints: { required: true },
      valueGenerator: { type: 'CurrentTime', overwrite: true },
    },
  }),
  ruled: object({
    x: TEXT,
    f: {
      ...TEXT,
      access: { update: ['boss', { role: 'clerk', where: { field: 'state', op: '=', rvalue: 'draft' } }] },
    },
    seen: {
      ...TEXT,
      access: {
        find: ['boss', { role: 'clerk', where: { field: 'state', op: '!=', rvalue: 'closed' } }],
        update: ['boss'],
      },
    },
  }),
}

const ID = '5c3cf1b6-2a0f-4b87-a1f5-0a4c3a7f9b11'
const STORED: JsonObject = {
  _id: '1',
  state: 'open',
  deep: { x: 'a', inner: { x: 'a', f: 'F', h: 'H' } },
  rows: [
    { p: 'a', cells: [{ x: '1' }, { x: '2', f: 'F' }] },
    { p: 'b', cells: [{ x: '3' }] },
  ],
  known: [{ id: 'k1', f: 'F', h: 'H' }, { id: 'k2' }],
  covered: { x: 'a', h: 'H' },
  whole: { x: 'a', f: 'F' },
  made: { x: 'a', id: ID },
}

const openService = shareService()

async function open(more: JsonObject = {}): Promise<Tenant> {
  const tester = await openService()
  await tester.define(tester.entity, FIELDS)
  const response = await tester.insert(tester.entity, { data: { ...STORED, ...more } }, BOSS)
  assert.equal(response.status, 'COMPLETE', printResponse(response))
  return tester
}

const DENIED: readonly (readonly [rule: string, update: Json, named: string])[] = [
  ['two levels above', { $unset: 'deep' }, 'deep.inner.f'],
  ['one level above', { $unset: 'deep.inner' }, 'deep.inner.f'],
  ['by an object without it', { $set: { deep: { x: 'b' } } }, 'deep.inner.f'],
  ['and put back in one request', [{ $unset: 'deep' }, { $set: { 'deep.x': 'b' } }], 'deep.inner.f'],
  ['in an array in an element', { $unset: 'rows.0' }, 'rows.0.cells.1.f'],
  ['of an element in an element', { $unset: 'rows.0.cells.1' }, 'rows.0.cells.1.f'],
  [
    'in nested $foreach',
    { $foreach: { rows: '$all', $update: { $foreach: { cells: '$all', $update: '$remove' } } } },
    'rows.0.cells.1.f',
  ],
  ['by an element of another identity', { $set: { 'known.0.id': 'k3' } }, 'known.0.f'],
  ['by another identity without it', { $set: { known: [{ id: 'k3' }, { id: 'k2' }] } }, 'known.0.f'],
  ['that the service made', { $unset: 'made' }, 'made.id'],
]

onEveryStore(() => {
  for (const [rule, expression, named] of DENIED) {
    test(`update: a protected member is not removed ${rule}`, async () => {
      await using tester = await open()
      const response = await update(tester, { update: expression }, CLERK)
      assert.deepEqual(dataErrorCodes(response), [['crud:update:NoFieldAccess']], printResponse(response))
      assert.ok(printResponse(response).includes(`\\"${named}\\"`), printResponse(response))
      assert.doesNotMatch(printResponse(response), /\.h\b/, 'nothing hidden is named')
      assert.deepEqual((await held(tester))['1'], STORED)
      assert.equal((await update(tester, { update: expression }, BOSS)).status, 'COMPLETE')
    })
  }

  const ALLOWED: readonly (readonly [rule: string, update: Json, member: string, after: Json | undefined])[] =
    [
      ['only members out of sight', { $unset: 'covered' }, 'covered', undefined],
      ['only members out of sight, in a literal', { $set: { covered: null } }, 'covered', undefined],
      ['no such member', { $unset: 'rows.1' }, 'rows', [{ p: 'a', cells: [{ x: '1' }, { x: '2', f: 'F' }] }]],
      ['no such member in an element', { $unset: 'known.1' }, 'known', [{ id: 'k1', f: 'F', h: 'H' }]],
    ]

  for (const [rule, expression, member, after] of ALLOWED) {
    test(`update: a container that holds ${rule} may be removed`, async () => {
      await using tester = await open()
      const response = await update(tester, { update: expression }, CLERK)
      assert.deepEqual(counts(response), ['COMPLETE', 1, 1], printResponse(response))
      assert.deepEqual((await held(tester))['1']![member], after)
    })
  }

  test('update: elements that change places keep their protected members', async () => {
    await using tester = await open()
    const known = [{ id: 'k2' }, { id: 'k1', f: 'F' }]
    assert.equal((await update(tester, { update: { $set: { known } } }, CLERK)).modifiedCount, 1)
    assert.deepEqual((await held(tester))['1']!['known'], [{ id: 'k2' }, { id: 'k1', f: 'F', h: 'H' }])
  })

  test('update: a value that the service makes anew with every write keeps no container', async () => {
    await using tester = await open({ stamped: { x: 'a' } })
    const response = await update(tester, { update: { $unset: 'stamped' } }, CLERK)
    assert.deepEqual(counts(response), ['COMPLETE', 1, 1], printResponse(response))
  })

  test('update: whether a member is protected, and seen, is asked document by document', async () => {
    await using tester = await open()
    const rows = [
      { _id: 'draft', state: 'draft', ruled: { x: 'a', f: 'F' } },
      { _id: 'open', state: 'open', ruled: { x: 'a', f: 'F' } },
      { _id: 'seen', state: 'draft', ruled: { x: 'a', seen: 'S' } },
      { _id: 'closed', state: 'closed', ruled: { x: 'a', seen: 'S' } },
    ]
    assert.equal((await tester.insert(tester.entity, { data: rows }, BOSS)).status, 'COMPLETE')
    const isGone = async (id: string): Promise<boolean> => {
      const response = await update(tester, { query: byId(id), update: { $unset: 'ruled' } }, CLERK)
      assert.ok(response.status === 'COMPLETE' || response.dataErrors, printResponse(response))
      return (await held(tester))[id]!['ruled'] === undefined
    }
    assert.equal(await isGone('draft'), true)
    assert.equal(await isGone('open'), false)
    assert.equal(await isGone('seen'), false)
    assert.equal(await isGone('closed'), true, 'what is out of sight decides nothing')
  })

  test('save: leaving out a container with a protected member is denied, and so is each way around it', async () => {
    await using tester = await open()
    const { whole: _whole, ...seen } = STORED
    const { deep: _deep, ...without } = seen
    const attempts: readonly JsonObject[] = [
      without,
      { ...seen, deep: null },
      { ...seen, deep: { x: 'b' } },
      { ...seen, rows: [] },
      { ...seen, known: [{ id: 'k2' }] },
    ]
    for (const data of attempts) {
      const sent = withoutHidden(data)
      const response = await save(tester, { data: sent }, CLERK)
      assert.deepEqual(dataErrorCodes(response), [['crud:update:NoFieldAccess']], printResponse(response))
      assert.deepEqual((await held(tester))['1'], STORED)
    }
    const { covered: _covered, ...lesser } = withoutHidden(seen)
    assert.equal((await save(tester, { data: lesser }, CLERK)).modifiedCount, 1)
    const { covered: _gone, ...left } = STORED
    assert.deepEqual(
      (await held(tester))['1'],
      left,
      'what is hidden goes with a container that may be removed',
    )
  })

  test('update: each version protects the members that it has', async () => {
    await using tester = await open()
    const later = { ...FIELDS, deep: object({ x: TEXT, inner: object({ x: TEXT }) }) }
    const version = { value: '2.0.0', changelog: 'second' }
    const body = metadataDocument(tester.entity, later, { schema: { version } })
    await tester.service.metadata.create(ADMIN, { entity: tester.entity, version: '2.0.0' }, body)
    const through = (version: string) =>
      tester.service.data.update(
        CLERK,
        { entity: tester.entity, version },
        { query: byId('1'), update: { $unset: 'deep' } },
      )
    assert.deepEqual(dataErrorCodes(await through('1.0.0')), [['crud:update:NoFieldAccess']])
    assert.equal((await through('2.0.0')).modifiedCount, 1)
  })

  test('update: what somebody may change with another role only is protected from them', async () => {
    await using tester = await open()
    const both = callerWith('clerk', 'boss')
    assert.equal((await update(tester, { update: { $unset: 'deep' } }, both)).modifiedCount, 1)
  })

  function withoutHidden(document: JsonObject): JsonObject {
    return JSON.parse(JSON.stringify(document), (key, value: unknown) =>
      key === 'h' ? undefined : value,
    ) as JsonObject
  }
})
