/** Who may change what by an update: changed fields, hidden fields, and what an update looks at. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { printResponse } from '../../../src/service/response.ts'
import { codeOf, dataErrorCodes, documentsOf } from '../../support/service.ts'
import { type Tenant, shareService } from '../../support/shared-service.ts'
import { BOSS, CLERK, bare, counts, forBoss, held, remove, update } from './writing.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const FIELDS: JsonObject = {
  s: { type: 'string' },
  i: { type: 'integer' },
  fixed: { type: 'string', ...forBoss('update') },
  secret: { type: 'integer', ...forBoss('find', 'update') },
  blind: { type: 'integer', ...forBoss('find') },
  list: { type: 'array', items: { type: 'integer' }, ...forBoss('find', 'update') },
  o: {
    type: 'object',
    fields: {
      x: { type: 'string' },
      f: { type: 'string', ...forBoss('update') },
      h: { type: 'string', ...forBoss('find', 'update') },
    },
  },
  open: { type: 'object', fields: { x: { type: 'string' }, h: { type: 'string' } } },
  any: { type: 'any' },
  oa: {
    type: 'array',
    items: {
      type: 'object',
      fields: {
        p: { type: 'string' },
        f: { type: 'string', ...forBoss('update') },
        h: { type: 'string', ...forBoss('find', 'update') },
      },
    },
  },
  made: {
    type: 'date',
    ...forBoss('update'),
    constraints: { required: true },
    valueGenerator: { type: 'CurrentTime', overwrite: true },
  },
}

const STORED: JsonObject = {
  _id: '1',
  s: 'a',
  i: 1,
  fixed: 'F',
  secret: 100,
  blind: 7,
  list: [1, 2],
  o: { x: 'a', f: 'F', h: 'H' },
  oa: [
    { p: 'a', f: 'FA', h: 'HA' },
    { p: 'b', f: 'FB', h: 'HB' },
  ],
}

onEveryStore(() => {
  let day = 0
  const openDayByDay = shareService({ now: () => new Date(Date.UTC(2024, 0, ++day)) })

  async function open(): Promise<Tenant> {
    const tester = await openDayByDay()
    await tester.define(tester.entity, FIELDS)
    const response = await tester.insert(tester.entity, { data: STORED }, BOSS)
    assert.equal(response.status, 'COMPLETE', printResponse(response))
    return tester
  }

  async function stored(tester: Tenant): Promise<JsonObject> {
    const { made: _, ...rest } = (await held(tester))['1']!
    return rest
  }

  const DENIED: readonly (readonly [rule: string, update: Json])[] = [
    ['a field the caller may not change', { $set: { fixed: 'x' } }],
    ['such a field taken away', { $unset: 'fixed' }],
    ['such a member', { $set: { 'o.f': 'x' } }],
    ['such a member in a literal', { $set: { o: { x: 'a', f: 'x' } } }],
    ['such a member left out of a literal', { $set: { o: { x: 'a' } } }],
    ['such a member of an element', { $set: { 'oa.0.f': 'x' } }],
    ['such a member in a new element', { $append: { oa: { p: 'c', f: 'x' } } }],
    ['such a member in $foreach', { $foreach: { oa: '$all', $update: { $set: { f: 'x' } } } }],
    ['the object around such a member taken away', { $unset: 'o' }],
    ['the object around such a member set to null', { $set: { o: null } }],
    ['an element that holds such a member taken away', { $unset: 'oa.0' }],
    ['an element that holds such a member set to null', { $set: { 'oa.0': null } }],
    ['the array around such a member taken away', { $unset: 'oa' }],
    ['the array around such a member emptied', { $set: { oa: [] } }],
    ['elements with such a member removed by $foreach', { $foreach: { oa: '$all', $update: '$remove' } }],
    [
      'one such element removed by $foreach',
      { $foreach: { oa: { field: 'p', op: '=', rvalue: 'b' }, $update: '$remove' } },
    ],
    ['an array without such an element', { $set: { oa: [{ p: 'b', f: 'FB' }] } }],
    [
      'such an element taken away and put back without the member',
      [{ $unset: 'oa.0' }, { $append: { oa: { p: 'a' } } }],
    ],
    ['a hidden field', { $set: { secret: 1 } }],
    ['a hidden field set to what it is', { $set: { secret: 100 } }],
    ['a hidden field that is absent', { $unset: 'o.h' }],
    ['a hidden member in a literal', { $set: { o: { x: 'a', f: 'F', h: 'x' } } }],
    ['a hidden member in a literal with its value', { $set: { o: { x: 'a', f: 'F', h: 'H' } } }],
    ['a hidden member in a new element', { $append: { oa: { p: 'c', h: 'x' } } }],
    ['a hidden member in an inserted element', { $insert: { 'oa.0': [{ p: 'c' }, { h: 'x' }] } }],
    ['a hidden member in an array', { $set: { oa: [{ p: 'c', h: 'x' }] } }],
    ['a hidden member by $this', { $foreach: { oa: '$all', $update: { $set: { $this: { h: 'x' } } } } }],
    ['a hidden member by a copy', { $set: { o: { $valueof: 'open' } } }],
    [
      'a hidden member in $foreach of nothing',
      { $foreach: { oa: { $or: [] }, $update: { $set: { h: 'x' } } } },
    ],
  ]

  for (const [rule, expression] of DENIED) {
    test(`update: ${rule} is crud:update:NoFieldAccess`, async () => {
      await using tester = await open()
      const response = await update(tester, { update: expression }, CLERK)
      assert.deepEqual(dataErrorCodes(response), [['crud:update:NoFieldAccess']], printResponse(response))
      assert.deepEqual(counts(response), ['ERROR', 1, 0])
      assert.doesNotMatch(printResponse(response), /"h"|"secret":|"list"|100/, 'nothing hidden is told')
      assert.deepEqual(await stored(tester), STORED)
    })
  }

  const LOOKS: readonly (readonly [rule: string, body: JsonObject])[] = [
    ['$add', { update: { $add: { secret: 0 } } }],
    ['$add beyond its bounds', { update: { $add: { secret: 9223372036854775000 } } }],
    ['an index', { update: { $set: { 'list.-3': 1 } } }],
    ['$append', { update: { $append: { list: [] } } }],
    ['$insert', { update: { $insert: { 'list.1001': 1 } } }],
    ['query', { query: { field: 'secret', op: '=', rvalue: 1 }, update: { $set: { s: 'x' } } }],
    ['rfield', { query: { field: 'i', op: '=', rfield: 'secret' }, update: { $set: { s: 'x' } } }],
    ['$valueof', { update: { $set: { i: { $valueof: 'secret' } } } }],
    [
      '$valueof in $append',
      { update: { $foreach: { oa: '$all', $update: { $set: { p: { $valueof: 'h' } } } } } },
    ],
    ['$valueof of an object that holds one', { update: { $set: { any: { $valueof: 'o' } } } }],
    ['$valueof of an array that holds one', { update: { $set: { any: { $valueof: 'oa' } } } }],
    ['$valueof of an element that holds one', { update: { $set: { any: { $valueof: 'oa.0' } } } }],
    ['a size', { update: { $set: { i: { $valueof: 'list#' } } } }],
    [
      '$foreach selector',
      { update: { $foreach: { oa: { field: 'h', op: '=', rvalue: 'x' }, $update: '$remove' } } },
    ],
    [
      '$foreach selector that climbs',
      { update: { $foreach: { oa: { field: 'p', op: '=', rfield: '$parent.o.h' }, $update: '$remove' } } },
    ],
    [
      'projection match',
      {
        update: { $set: { s: 'x' } },
        projection: { field: 'oa', match: { field: 'h', op: '=', rvalue: 'x' } },
      },
    ],
    [
      'projection sort',
      { update: { $set: { s: 'x' } }, projection: { field: 'oa', range: [0, 1], sort: { h: '$asc' } } },
    ],
  ]

  for (const [rule, body] of LOOKS) {
    test(`update: a hidden field in ${rule} is crud:NoAccess and nothing runs`, async () => {
      await using tester = await open()
      assert.equal(codeOf(await update(tester, body, CLERK)), 'crud:NoAccess')
      assert.deepEqual(await stored(tester), STORED)
    })
  }

  test('update: a hidden field that may be written counts as modified, whatever its value', async () => {
    await using tester = await open()
    for (const blind of [7, 8]) {
      const response = await update(tester, { update: { $set: { blind } } }, CLERK)
      assert.deepEqual(counts(response), ['COMPLETE', 1, 1])
      assert.equal('blind' in documentsOf(response)[0]!, false)
      assert.equal((await stored(tester))['blind'], blind)
    }
    assert.deepEqual(counts(await update(tester, { update: { $unset: 'blind' } }, CLERK)), ['COMPLETE', 1, 1])
    assert.deepEqual(counts(await update(tester, { update: { $unset: 'blind' } }, CLERK)), ['COMPLETE', 1, 1])
  })

  test('update: replacing an object keeps what is hidden in it and not named', async () => {
    await using tester = await open()
    const response = await update(tester, { update: { $set: { o: { x: 'b', f: 'F' } } } }, CLERK)
    assert.deepEqual(counts(response), ['COMPLETE', 1, 1])
    assert.deepEqual((await stored(tester))['o'], { x: 'b', f: 'F', h: 'H' })
  })

  test('update: replacing an array keeps what is hidden in the elements that stay', async () => {
    await using tester = await open()
    const oa = [
      { p: 'b', f: 'FB' },
      { p: 'a', f: 'FA' },
    ]
    assert.equal((await update(tester, { update: { $set: { oa } } }, CLERK)).modifiedCount, 1)
    assert.deepEqual((await stored(tester))['oa'], [
      { p: 'b', f: 'FB', h: 'HB' },
      { p: 'a', f: 'FA', h: 'HA' },
    ])
  })

  test('update: elements without a member that the caller may read and not change may go', async () => {
    await using tester = await open()
    assert.equal((await update(tester, { update: { $unset: 'oa.0.f' } }, BOSS)).modifiedCount, 1)
    const response = await update(tester, { update: { $unset: 'oa.0' } }, CLERK)
    assert.deepEqual(counts(response), ['COMPLETE', 1, 1], printResponse(response))
    assert.deepEqual((await stored(tester))['oa'], [{ p: 'b', f: 'FB', h: 'HB' }])
  })

  test('update: an unchanged field is no change', async () => {
    await using tester = await open()
    assert.deepEqual(counts(await update(tester, { update: { $set: { fixed: 'F' } } }, CLERK)), [
      'COMPLETE',
      1,
      0,
    ])
  })

  test('update: server-made values are not held against the caller', async () => {
    await using tester = await open()
    const before = (await held(tester))['1']!['made']
    const response = await update(tester, { update: { $append: { oa: { p: 'c' } } } }, CLERK)
    assert.deepEqual(counts(response), ['COMPLETE', 1, 1], printResponse(response))
    const after = (await held(tester))['1']!['made']
    assert.notEqual(after, before, 'an overwriting generator ran')
  })

  test('save: server-made values are not held against the caller', async () => {
    await using tester = await open()
    const data = {
      _id: '1',
      s: 'b',
      i: 1,
      fixed: 'F',
      o: { x: 'a', f: 'F' },
      oa: [
        { p: 'a', f: 'FA' },
        { p: 'b', f: 'FB' },
      ],
    }
    const response = await tester.service.data.save(CLERK, { entity: tester.entity }, { data })
    assert.deepEqual(counts(response), ['COMPLETE', 0, 1], printResponse(response))
    assert.deepEqual(await stored(tester), { ...STORED, s: 'b' })
  })

  test('delete: asks about nothing hidden, and takes hidden fields along', async () => {
    await using tester = await open()
    assert.equal(
      codeOf(await remove(tester, { field: 'secret', op: '=', rvalue: 100 }, CLERK)),
      'crud:NoAccess',
    )
    const response = await remove(tester, { field: 's', op: '=', rvalue: 'a' }, CLERK)
    assert.deepEqual(counts(response), ['COMPLETE', 1, 1])
    assert.equal(response.processed, undefined)
    assert.deepEqual(await held(tester), {})
    assert.deepEqual(counts(await remove(tester, { $and: [] }, CLERK)), ['COMPLETE', 0, 0])
  })

  test('update: what is answered shows what the caller may see, errors too', async () => {
    await using tester = await open()
    const response = await update(tester, { update: { $set: { s: 'x' } } }, CLERK)
    const { made: _, ...shown } = bare(documentsOf(response)[0]!)
    assert.deepEqual(shown, {
      _id: '1',
      s: 'x',
      i: 1,
      fixed: 'F',
      o: { x: 'a', f: 'F' },
      oa: [
        { p: 'a', f: 'FA' },
        { p: 'b', f: 'FB' },
      ],
    })
  })
})
