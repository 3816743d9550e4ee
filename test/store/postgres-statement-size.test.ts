/** Statements of PostgreSQL with conditions on references stay so short that planning them is quick. */
import assert from 'node:assert/strict'
import type { JsonObject } from '../../src/base/json/json.ts'
import { MAX_JOINS, MAX_REFERENCES } from '../../src/store/postgres/read/statement-size.ts'
import { testUnlessOnCitus } from '../support/citus.ts'
import { ADMIN, type TestService, documentsOf, openTestService } from '../support/service.ts'
import { useStore } from '../support/store-kind.ts'

useStore('postgres')
const test = testUnlessOnCitus('joins')

/** Keys of `next` may be missing, and are indexed; those of `own` are never missing. */
async function opened(): Promise<TestService> {
  await using stack = new AsyncDisposableStack()
  const tester = stack.use(await openTestService())
  const string = { type: 'string' }
  const to = (field: string, rfield: string) => ({
    type: 'reference',
    entity: 'node',
    query: { field, op: '=', rfield },
  })
  await tester.define(
    'node',
    { a: string, key: string, next: to('key', '$parent.key'), own: to('_id', '$parent._id') },
    { info: { indexes: [{ fields: [{ field: 'key' }] }, { fields: [{ field: 'a' }] }] } },
  )
  await tester.store('node', [
    { _id: '1', a: 'v1', key: 'k' },
    { _id: '2', a: 'v2', key: 'k' },
    { _id: '3', a: 'v3' },
  ])
  stack.move()
  return tester
}

function conditions(reference: string, depth: number, count: number, op = '='): readonly JsonObject[] {
  const field = `${`${reference}.*.`.repeat(depth)}a`
  return Array.from({ length: count }, (_, i) => ({ field, op, rvalue: `v${(i % 2) + 1}` }))
}

async function statementOf(tester: TestService, query: JsonObject): Promise<string> {
  const body = { query, projection: { field: '_id' } }
  const explained = documentsOf(await tester.service.data.explain(ADMIN, { entity: 'node' }, body))[0]!
  return ((explained['postgres'] as JsonObject)['query'] as { readonly sql: string }).sql
}

async function found(tester: TestService, query: JsonObject): Promise<readonly unknown[]> {
  const body = { query, projection: { field: '_id' }, sort: { _id: '$asc' } }
  return documentsOf(await tester.service.data.find(ADMIN, { entity: 'node' }, body)).map(({ _id }) => _id)
}

test('statements: only some of many conditions on references may become joins', async () => {
  await using tester = await opened()
  for (const [reference, ids] of [
    ['next', ['1', '2']],
    ['own', []],
  ] as const) {
    const tested = async (count: number): Promise<number> =>
      (await statementOf(tester, { $and: conditions(reference, 1, count) })).split(' is true)').length - 1
    assert.equal(await tested(MAX_JOINS), 0)
    assert.equal(await tested(MAX_JOINS + 5), 5)
    const many = { $and: conditions(reference, 1, MAX_JOINS + 5) }
    assert.deepEqual(await found(tester, many), ids)
    const others = {
      $and: conditions(reference, 1, MAX_JOINS + 5).map((query) => ({ $or: [{ $not: query }] })),
    }
    assert.deepEqual(await found(tester, others), ['3'])
  }
})

test('statements: a subselect that is no join has joins of its own', async () => {
  await using tester = await opened()
  const text = await statementOf(tester, { $and: conditions('own', 2, MAX_JOINS / 2 + 7) })
  assert.equal(text.split(' is true)').length - 1, 7)
})

test('statements: long conditions behind several references are not written again for each of them', async () => {
  await using tester = await opened()
  const parametersOf = async (depth: number, count: number): Promise<number> => {
    const text = await statementOf(tester, { $or: conditions('next', depth, count) })
    return new Set(text.match(/\$\d+/g)).size
  }
  const [few, many] = [await parametersOf(5, 2), await parametersOf(5, 190)]
  assert.ok(few > 16 * 2, 'short ones are, so that indexes serve them')
  assert.ok(many < 190 * 2 * 8, `${many} parameters`)
  assert.deepEqual(await found(tester, { $or: conditions('next', 5, 190) }), ['1', '2'])
  assert.deepEqual(await found(tester, { $and: conditions('next', 5, 190, '!=') }), ['3'])
})

test('statements: what is written again does not count among the conditions of the request', async () => {
  await using tester = await opened()
  assert.deepEqual(await found(tester, { $and: conditions('next', 5, MAX_REFERENCES / 5) }), ['1', '2'])
})
