/** Who may see and do what: every rule of access, on the whole service. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Caller, admits } from '../../../src/access/caller.ts'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { printResponse } from '../../../src/service/response.ts'
import {
  ANYONE,
  EVERYTHING,
  callerWith,
  codeOf,
  dataErrorCodes,
  documentsOf,
  json,
  textOf,
} from '../../support/service.ts'
import { type Tenant, openTenant } from '../../support/shared-service.ts'
import { onEveryStore, storeKind } from '../../support/store-kind.ts'

const LISTS: readonly (readonly [list: readonly string[], roles: readonly string[], admitted: boolean])[] = [
  [[], ['a'], false],
  [[], [], false],
  [['anyone'], [], true],
  [['noone'], ['noone'], false],
  [['noone', 'anyone'], ['a'], false],
  [['noone', 'a'], ['a'], false],
  [['a', 'b'], ['b', 'c'], true],
  [['a'], ['b'], false],
  [['a'], ['A'], false],
  [['a'], [], false],
  [['a'], ['anyone'], false],
]

onEveryStore(() => {
  for (const [list, roles, admitted] of LISTS) {
    test(`access: [${list.join()}] ${admitted ? 'admits' : 'does not admit'} a caller with [${roles.join()}]`, () => {
      assert.equal(admits(list, callerWith(...roles)), admitted)
    })
  }

  const readableBy = (...roles: readonly string[]): JsonObject => ({
    access: { find: roles, insert: roles, update: roles },
  })

  const FIELDS: JsonObject = {
    open: { type: 'string' },
    secret: { type: 'string', ...readableBy('boss') },
    never: { type: 'string', access: { find: ['noone'] } },
    inherits: { type: 'string', access: { find: [] } },
    box: {
      type: 'object',
      ...readableBy('boss', 'clerk'),
      fields: {
        plain: { type: 'string' },
        inner: { type: 'string', access: { find: ['boss'] } },
        wide: { type: 'string', access: { find: ['anyone'] } },
      },
    },
    hiddenList: { type: 'array', items: { type: 'integer' }, access: { find: ['boss'] } },
    list: {
      type: 'array',
      items: {
        type: 'object',
        fields: {
          n: { type: 'integer' },
          pay: { type: 'integer', access: { find: ['boss'] } },
          deep: {
            type: 'array',
            items: {
              type: 'object',
              fields: { x: { type: 'integer', access: { find: ['boss'] } }, y: { type: 'integer' } },
            },
          },
        },
      },
    },
    version: { type: 'string', documentVersion: true },
  }

  const DOCUMENT = json(`{"_id":"1","open":"o","secret":"s","never":"n","inherits":"i",
  "box":{"plain":"p","inner":"x","wide":"w"},"hiddenList":[1,2],
  "list":[{"n":1,"pay":20,"deep":[{"x":1,"y":1}]},{"n":2,"pay":10,"deep":[]}]}`)

  const BOSS = callerWith('boss')
  const CLERK = callerWith('clerk')
  const STRANGER = callerWith()

  async function openOffice(): Promise<Tenant> {
    const tester = await openTenant()
    await tester.define(tester.entity, FIELDS)
    const response = await tester.insert(tester.entity, { data: DOCUMENT }, BOSS)
    assert.equal(response.status, 'COMPLETE', printResponse(response))
    return tester
  }

  async function seenBy(
    tester: Tenant,
    caller: Caller,
    projection: JsonObject | readonly JsonObject[],
  ): Promise<JsonObject> {
    const response = await tester.find(tester.entity, { projection }, caller)
    assert.equal(response.status, 'COMPLETE', printResponse(response))
    return documentsOf(response)[0]!
  }

  test('find: an unreadable field is left out of projections silently, at every depth', async () => {
    await using tester = await openOffice()
    const { version, ...seen } = await seenBy(tester, STRANGER, EVERYTHING)
    assert.match(textOf(version), /^1:\d+$/)
    assert.deepEqual(seen, {
      _id: '1',
      open: 'o',
      inherits: 'i',
      list: [
        { n: 1, deep: [{ y: 1 }], 'deep#': 1 },
        { n: 2, deep: [], 'deep#': 0 },
      ],
      'list#': 2,
      objectType: tester.entity,
    })
  })

  test('find: every list on the path down must admit the caller', async () => {
    await using tester = await openOffice()
    assert.deepEqual(await seenBy(tester, CLERK, { field: 'box', recursive: true }), {
      box: { plain: 'p', wide: 'w' },
    })
    assert.deepEqual(await seenBy(tester, STRANGER, { field: 'box', recursive: true }), {})
    assert.deepEqual(await seenBy(tester, BOSS, { field: 'box', recursive: true }), {
      box: { plain: 'p', inner: 'x', wide: 'w' },
    })
  })

  test('find: noone means nobody, an empty list inherits', async () => {
    await using tester = await openOffice()
    const seen = await seenBy(tester, BOSS, [{ field: 'never' }, { field: 'inherits' }, { field: 'secret' }])
    assert.deepEqual(seen, { inherits: 'i', secret: 's' })
  })

  test('find: the size of an array is as secret as the array', async () => {
    await using tester = await openOffice()
    assert.deepEqual(await seenBy(tester, STRANGER, { field: 'hiddenList#' }), {})
    assert.deepEqual(await seenBy(tester, BOSS, { field: 'hiddenList#' }), { 'hiddenList#': 2 })
    const query = { field: 'hiddenList#', op: '=', rvalue: 2 }
    assert.equal(
      codeOf(await tester.find(tester.entity, { query, projection: EVERYTHING }, STRANGER)),
      'crud:NoAccess',
    )
  })

  test('find: nothing unreadable comes out of array projections, whatever their nested projection says', async () => {
    await using tester = await openOffice()
    const nested = {
      field: 'list',
      range: [0, 9],
      projection: [EVERYTHING, { field: 'pay' }, { field: 'deep.*.x' }],
    }
    assert.doesNotMatch(JSON.stringify(await seenBy(tester, STRANGER, nested)), /pay|"x"/)
    const deeper = {
      field: 'list',
      range: [0, 9],
      projection: { field: 'deep', range: [0, 9], projection: { field: '*' } },
    }
    assert.deepEqual(await seenBy(tester, STRANGER, deeper), { list: [{ deep: [{ y: 1 }] }] })
  })

  const HIDDEN_QUESTIONS: readonly (readonly [rule: string, body: string])[] = [
    ['a query', '{"query":{"field":"secret","op":"=","rvalue":"s"}}'],
    ['a query for null', '{"query":{"field":"secret","op":"!=","rvalue":null}}'],
    ['a regex', '{"query":{"field":"secret","regex":"^s"}}'],
    ['$in', '{"query":{"field":"secret","op":"$in","values":["s"]}}'],
    ['rfield', '{"query":{"field":"open","op":"!=","rfield":"secret"}}'],
    ['the rfield of $in', '{"query":{"field":"list.*.n","op":"$in","rfield":"hiddenList"}}'],
    ['contains', '{"query":{"array":"hiddenList","contains":"$any","values":[1]}}'],
    [
      'elemMatch on a hidden array',
      '{"query":{"array":"hiddenList","elemMatch":{"field":"$this","op":">","rvalue":1}}}',
    ],
    [
      'elemMatch on a hidden member',
      '{"query":{"array":"list","elemMatch":{"field":"pay","op":">","rvalue":1}}}',
    ],
    [
      'elemMatch that climbs',
      '{"query":{"array":"list","elemMatch":{"field":"$parent.secret","op":"=","rvalue":"s"}}}',
    ],
    ['a detour by $parent', '{"query":{"field":"open.$parent.secret","op":"=","rvalue":"s"}}'],
    [
      'inside $not, $and and $or',
      '{"query":{"$not":{"$and":[{"$or":[{"field":"box.inner","op":"=","rvalue":"x"}]}]}}}',
    ],
    ['a member of a hidden object', '{"query":{"field":"box.wide","op":"=","rvalue":"w"}}'],
    ['a sort', '{"sort":{"secret":"$asc"}}'],
    ['a sort through an array', '{"sort":[{"open":"$asc"},{"list.*.pay":"$desc"}]}'],
    [
      'the match of an array projection',
      '{"projection":{"field":"list","match":{"field":"pay","op":">","rvalue":15}}}',
    ],
    [
      'the sort of an array projection',
      '{"projection":{"field":"list","range":[0,0],"sort":{"pay":"$desc"}}}',
    ],
    [
      'a match that climbs',
      '{"projection":{"field":"list","match":{"field":"$parent.secret","op":"=","rvalue":"s"}}}',
    ],
    [
      'the match of a nested projection',
      '{"projection":{"field":"list","range":[0,9],"projection":{"field":"deep","match":{"field":"x","op":"=","rvalue":1}}}}',
    ],
  ]

  for (const [rule, body] of HIDDEN_QUESTIONS) {
    test(`find: asking about a hidden field is refused: ${rule}`, async () => {
      await using tester = await openOffice()
      const request = { projection: EVERYTHING, ...(json(body) as JsonObject) }
      for (const caller of [STRANGER, callerWith('anyone', 'noone')]) {
        const response = await tester.find(tester.entity, request, caller)
        assert.equal(codeOf(response), 'crud:NoAccess')
        assert.deepEqual([response.matchCount, response.processed], [0, undefined])
        const explained = await tester.service.data.explain(caller, { entity: tester.entity }, request)
        assert.equal(codeOf(explained), 'crud:NoAccess')
      }
      assert.equal(
        (await tester.find(tester.entity, request, BOSS)).status,
        'COMPLETE',
        'who may read it may ask',
      )
    })
  }

  test('find: an array projection of a hidden array tells nothing, not even whether it has elements', async () => {
    await using tester = await openOffice()
    assert.deepEqual(await seenBy(tester, STRANGER, { field: 'hiddenList', range: [0, 9] }), {})
  })

  test('entity access: a missing or empty list admits nobody', async () => {
    await using tester = await openTenant()
    await tester.define(
      tester.entity,
      { a: { type: 'string' } },
      { schema: { access: { ...ANYONE, find: [] } } },
    )
    const other = `${tester.entity}other`
    await tester.define(
      other,
      { a: { type: 'string' } },
      { schema: { access: { ...ANYONE, insert: ['boss'] } } },
    )
    assert.equal(codeOf(await tester.find(tester.entity, { projection: EVERYTHING }, BOSS)), 'crud:NoAccess')
    assert.equal(codeOf(await tester.insert(other, { data: {} }, CLERK)), 'crud:NoAccess')
    assert.equal((await tester.insert(other, { data: {} }, BOSS)).status, 'COMPLETE')
  })

  test('insert: denies fields that are given, once for a container, not what the service makes', async () => {
    await using tester = await openOffice()
    const denied = await tester.insert(
      tester.entity,
      { data: json('{"secret":"x","box":{"plain":"p","wide":"w"},"open":"o"}') },
      STRANGER,
    )
    assert.deepEqual(dataErrorCodes(denied), [['crud:insert:NoFieldAccess', 'crud:insert:NoFieldAccess']])
    const paths = denied.dataErrors![0]!.errors.map(({ context }) => context)
    assert.deepEqual(
      paths,
      ['secret', 'box'].map((path) => `insert(${tester.entity}:1.0.0)/${path}`),
    )
    assert.equal((await tester.insert(tester.entity, { data: { open: 'o' } }, STRANGER)).status, 'COMPLETE')
  })

  test('insert: what comes back holds only what the caller may read', async () => {
    await using tester = await openOffice()
    const response = await tester.insert(
      tester.entity,
      { data: { open: 'o', never: 'n' }, projection: EVERYTHING },
      BOSS,
    )
    assert.equal(response.status, 'COMPLETE', printResponse(response))
    assert.equal(documentsOf(response)[0]!['never'], undefined)
  })

  test('documentVersion: does not tell an _id that the caller may not read', async () => {
    await using tester = await openTenant()
    await tester.define(tester.entity, {
      _id: { type: 'string', access: { find: ['boss'] } },
      a: { type: 'string' },
      version: { type: 'string', documentVersion: true },
      meta: { type: 'any', resultMetadata: true },
    })
    await tester.store(tester.entity, { _id: 'classified', a: 'x' })
    const response = await tester.find(tester.entity, { projection: EVERYTHING }, STRANGER)
    assert.doesNotMatch(printResponse(response), /classified/)
    assert.match(
      printResponse(await tester.find(tester.entity, { projection: EVERYTHING }, BOSS)),
      /classified/,
    )
  })

  test('explain: counts as find does and shows the same to the same caller', async () => {
    await using tester = await openOffice()
    const body = { query: { field: 'open', op: '=', rvalue: 'o' }, projection: EVERYTHING }
    const response = await tester.service.data.explain(STRANGER, { entity: tester.entity }, body)
    assert.deepEqual([response.status, response.matchCount, response.modifiedCount], ['COMPLETE', 1, 0])
    const [explanation] = documentsOf(response)
    const { projection } = explanation![storeKind()] as { projection: JsonObject }
    assert.equal(projection['secret'], undefined)
    assert.equal(projection['open'], 1)
  })
})
