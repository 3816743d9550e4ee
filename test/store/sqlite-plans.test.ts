/** What the engine has planned once it does not plan again: it asks whether a statement is allowed whenever it plans one. */
import assert from 'node:assert/strict'
import { DatabaseSync, constants } from 'node:sqlite'
import { test } from 'node:test'
import type { JsonObject } from '../../src/base/json/json.ts'
import { ADMIN, EVERYTHING, openTestService } from '../support/service.ts'

const INDEXES = { info: { indexes: [{ name: 'kind', fields: [{ field: 'kind', dir: '$asc' }] }] } }
const BY_KIND = { field: 'kind', op: '=' }

test('find: of pages that differ in values and range, the second is not planned again', async () => {
  const planned = watchPlanning()
  await using tester = await openTestService()
  await tester.define('item', { kind: { type: 'string' }, size: { type: 'integer' } }, INDEXES)
  const kinds = ['a', 'b', 'c']
  await tester.store(
    'item',
    Array.from({ length: 60 }, (_, i) => ({ _id: `i${i}`, kind: kinds[i % 3]!, size: i })),
  )
  const page = (rvalue: string, range: readonly [number, number], sort: JsonObject): JsonObject => ({
    query: { ...BY_KIND, rvalue },
    projection: EVERYTHING,
    sort,
    range: [...range],
  })
  for (const sort of [{ _id: '$asc' }, { size: '$desc' }] as const) {
    await tester.find('item', page('a', [0, 3], sort), ADMIN)
    const before = planned()
    assert.ok(before > 0)
    for (const [rvalue, range] of [
      ['b', [0, 3]],
      ['c', [4, 9]],
    ] as const) {
      const { processed } = await tester.find('item', page(rvalue, range, sort), ADMIN)
      assert.equal(processed?.length, range[1] - range[0] + 1)
    }
    assert.equal(planned(), before)
  }
})

test('find: a sort moves the numbers of rows, and documents are read for the page only', async () => {
  await using tester = await openTestService()
  await tester.define('item', { kind: { type: 'string' }, size: { type: 'integer' } }, INDEXES)
  await tester.store(
    'item',
    Array.from({ length: 60 }, (_, i) => ({ _id: `i${i}`, kind: 'a', size: (i * 7) % 60 })),
  )
  const body = { projection: EVERYTHING, sort: { size: '$desc' }, range: [10, 19] }
  const explained = await tester.service.data.explain(ADMIN, { entity: 'item' }, body)
  const { sqlite } = JSON.parse(explained.processed![0]!) as {
    readonly sqlite: { readonly query: { readonly sql: string } }
  }
  const [, sorted] = /^select id, version, doc from \((.+)\) cross join /.exec(sqlite.query.sql) ?? []
  assert.match(sorted ?? '', /^select no as found from /)
  assert.doesNotMatch(sorted ?? '', /\bdoc\b/)
  const { processed } = await tester.find('item', body, ADMIN)
  const sizes = processed?.map((text) => (JSON.parse(text) as { readonly size: number }).size)
  assert.deepEqual(sizes, [49, 48, 47, 46, 45, 44, 43, 42, 41, 40])
})

for (const [what, alternatives] of [
  [
    'two fields',
    [
      ['name', 'n7'],
      ['email', 'e9'],
    ],
  ],
  [
    'two values of one field',
    [
      ['name', 'n7'],
      ['name', 'n9'],
    ],
  ],
] as const) {
  test(`find: alternatives about a reference, for ${what}, are found by indexes of both tables`, async () => {
    await using tester = await openTestService()
    const string = { type: 'string' }
    const indexed = (...fields: string[]) => ({
      info: { indexes: fields.map((field) => ({ fields: [{ field }] })) },
    })
    await tester.define('customer', { name: string, email: string }, indexed('name', 'email'))
    const query = { field: '_id', op: '=', rfield: '$parent.by' }
    const by = { type: 'reference', entity: 'customer', query }
    await tester.define('order', { by: string, customer: by }, indexed('by'))
    const numbers = Array.from({ length: 20 }, (_, i) => i)
    await tester.store(
      'customer',
      numbers.map((i) => ({ _id: `c${i}`, name: `n${i}`, email: `e${i}` })),
    )
    await tester.store(
      'order',
      numbers.map((i) => ({ _id: `o${i}`, by: `c${i}` })),
    )
    const terms = alternatives.map(([field, rvalue]) => ({ field: `customer.*.${field}`, op: '=', rvalue }))
    const body = { query: { $or: terms }, projection: { field: '_id' }, sort: { _id: '$asc' } }
    const explained = await tester.service.data.explain(ADMIN, { entity: 'order' }, body)
    const { sqlite } = JSON.parse(explained.processed![0]!) as {
      readonly sqlite: { readonly plan: { readonly queryPlanner: { readonly winningPlan: JsonObject } } }
    }
    const steps = sqlite.plan.queryPlanner.winningPlan['steps'] as readonly string[]
    assert.ok(
      steps.some((step) => /^SEARCH doc_\d+ USING INDEX/.test(step)),
      steps.join('\n'),
    )
    assert.deepEqual(
      steps.filter((step) => step.startsWith('SCAN ')),
      [],
    )
    const { processed } = await tester.find('order', body)
    assert.deepEqual(processed, ['{"_id":"o7"}', '{"_id":"o9"}'])
  })
}

/** Counts how often a database has planned a `select`, of all that prepare a statement from now on. */
function watchPlanning(): () => number {
  let planned = 0
  const watched = new Set<DatabaseSync>()
  // eslint-disable-next-line typescript/unbound-method -- it is called on the database
  const { prepare } = DatabaseSync.prototype
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, ...given) {
    if (!watched.has(this)) {
      watched.add(this)
      this.setAuthorizer((action) => {
        if (action === constants.SQLITE_SELECT) planned++
        return constants.SQLITE_OK
      })
    }
    return prepare.apply(this, given)
  }
  return () => planned
}
