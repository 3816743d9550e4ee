/** Requests by _id execute their statements on the worker of the document, and of each unique value that comes or goes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/base/json/json.ts'
import { printResponse } from '../../src/service/response.ts'
import { ADMIN, type TestService, openTestService } from '../support/service.ts'
import { chooseStore } from '../support/store-kind.ts'
import { type Nodes, ask, nodesOfCluster } from './nodes.ts'

chooseStore('postgres')

interface Kind {
  readonly unique?: boolean
  readonly history?: boolean
  readonly hook?: boolean
}

type Operation = 'insert' | 'find' | 'update' | 'update of the unique value' | 'save' | 'delete'

/**
 * How many statements all workers together execute. docs/explanation/scale.md shows the same. A save follows an update of the
 * same document; where the update was one round of statements, the save does not read the document.
 */
const ROWS: readonly [Kind, Partial<Record<Operation, number>>][] = [
  [{}, { insert: 1, find: 1, update: 2, save: 1, delete: 2 }],
  [{ unique: true }, { insert: 2, find: 1, update: 2, 'update of the unique value': 5, save: 2, delete: 3 }],
  [{ history: true }, { insert: 3, find: 1, update: 3, save: 2, delete: 3 }],
  [{ hook: true }, { insert: 2, find: 1, update: 3, save: 2, delete: 3 }],
  [
    { unique: true, history: true, hook: true },
    { insert: 5, find: 1, update: 4, 'update of the unique value': 7, save: 4, delete: 5 },
  ],
]

for (const [kind, expected] of ROWS) {
  test(`citus: statements by _id of ${JSON.stringify(kind)}`, async () => {
    const nodes = await nodesOfCluster()
    await using tester = await openTestService()
    await define(tester, kind)
    for (const i of [1, 2, 3]) {
      for (const [operation, count] of Object.entries(expected) as [Operation, number][]) {
        await reset(nodes)
        await perform(tester, operation, { i, kind })
        const counts = await countsOf(nodes, new URL(tester.location).searchParams.get('schema')!)
        const what = `${operation} of document ${i}: ${counts.join()}`
        assert.equal(
          counts.reduce((sum, each) => sum + each),
          count,
          what,
        )
        const touched = counts.filter((each) => each > 0).length
        assert.ok(touched >= 1 && touched <= mostWorkers(operation, kind), what)
      }
    }
  })
}

/** The worker of the document, and that of its unique value, or those of the old value and the new one. */
function mostWorkers(operation: Operation, { unique }: Kind): number {
  if (!unique) return 1
  return operation === 'update of the unique value' ? 3 : 2
}

async function define(tester: TestService, { unique, history, hook }: Kind): Promise<void> {
  const indexes = unique ? [{ fields: [{ field: 'u' }], unique: true }] : []
  const hooks = hook ? [{ name: 'all', actions: ['insert', 'update', 'delete'] }] : []
  const info = { indexes, hooks, history: history === true }
  await tester.define('item', { u: { type: 'string' }, v: { type: 'integer' } }, { info })
}

async function perform(
  { service: { data } }: TestService,
  operation: Operation,
  { i, kind }: { readonly i: number; readonly kind: Kind },
): Promise<void> {
  const query: JsonObject = { field: '_id', op: '=', rvalue: `k${i}` }
  const target = { entity: 'item' }
  const requests: Readonly<Record<Operation, () => ReturnType<typeof data.find>>> = {
    insert: () => data.insert(ADMIN, target, { data: { _id: `k${i}`, u: `u${i}`, v: 1 } }),
    find: () => data.find(ADMIN, target, { query, projection: { field: '*' } }),
    update: () => data.update(ADMIN, target, { query, update: { $set: { v: 2 } } }),
    'update of the unique value': () =>
      data.update(ADMIN, target, { query, update: { $set: { u: `n${i}` } } }),
    save: () =>
      data.save(ADMIN, target, { data: { _id: `k${i}`, u: kind.unique ? `n${i}` : `u${i}`, v: 3 } }),
    delete: () => data.delete(ADMIN, target, { query }),
  }
  const response = await requests[operation]()
  assert.equal(response.status, 'COMPLETE', printResponse(response))
}

async function reset({ workers }: Nodes): Promise<void> {
  for (const { url } of workers) await ask(url, 'select pg_stat_statements_reset()')
}

/** Statements on rows of documents, claims, history and outbox; the numbering of events runs beside them. */
async function countsOf({ workers }: Nodes, schema: string): Promise<readonly number[]> {
  const text = `select coalesce(sum(calls), 0)::integer n from pg_stat_statements
    where query ~* '^(insert|update|delete|select|with)' and strpos(query, '${schema}.') > 0 and query !~ '\\mseq\\M'`
  const rows = await Promise.all(workers.map(async ({ url }) => (await ask(url, text))[0]!))
  return rows.map(({ n }) => Number(n))
}
