/** A connection to a worker that is cut between the phases of a commit: the write happens as a whole, or not at all. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkClaims } from '../support/postgres-claims.ts'
import { type Relay, openRelay } from '../support/relay.ts'
import { ADMIN, type TestService, codeOf, documentsOf, openTestService } from '../support/service.ts'
import { chooseStore } from '../support/store-kind.ts'
import { type Nodes, ask, checkNothingPrepared, nodesOfCluster } from './nodes.ts'

chooseStore('postgres')

/** Citus sends these to each worker that a transaction has changed. */
const PHASES = [
  { text: 'PREPARE TRANSACTION', when: 'before' },
  { text: 'PREPARE TRANSACTION', when: 'after' },
  { text: 'COMMIT PREPARED', when: 'before' },
  { text: 'COMMIT PREPARED', when: 'after' },
] as const

for (const { text, when } of PHASES) {
  test(`citus: a worker is lost ${when} "${text}"`, async () => {
    const nodes = await nodesOfCluster()
    await using tester = await openTestService({ onInternalError: () => undefined })
    const indexes = [{ fields: [{ field: 'code' }], unique: true }]
    await tester.define('item', { code: { type: 'string' } }, { info: { indexes, history: true } })
    const outcome = await withRelay(nodes, async (relay) => {
      relay.cutAt(text, when)
      // many documents and values, so that every worker takes part
      const data = Array.from({ length: 20 }, (_, i) => ({ _id: `k${i}`, code: `c${i}` }))
      return await tester.insert('item', { data })
    })
    // without these the connection would not have been cut
    if (text === 'PREPARE TRANSACTION') assert.notEqual(outcome.status, 'COMPLETE')
    else if (when === 'before') assert.ok((await preparedOn(nodes)) > 0)
    await ask(nodes.url, 'select recover_prepared_transactions()')
    await checkNothingPrepared(nodes)
    const stored = await countOf(tester)
    assert.ok(stored === 0 || stored === 20, `half of it: ${stored}`)
    if (outcome.status === 'COMPLETE') assert.equal(stored, 20)
    else if (codeOf(outcome) !== 'store-crud:OutcomeUnknown') assert.equal(stored, 0, codeOf(outcome))
    assert.equal(await checkClaims(tester.location), stored)
  })
}

async function preparedOn({ workers }: Nodes): Promise<number> {
  const [row] = await ask(workers[0]!.url, 'select count(*)::integer n from pg_prepared_xacts')
  return Number(row!['n'])
}

async function countOf(tester: TestService): Promise<number> {
  return documentsOf(await tester.find('item', { projection: { field: '_id' } }, ADMIN)).length
}

/** What ends a statement on the coordinator while a worker commits. */
const INTERRUPTIONS = {
  'its time limit': { maxTimeMs: 3_000, interrupt: async () => undefined },
  'the end of its session': {
    maxTimeMs: 30_000,
    interrupt: async ({ url }: Nodes) =>
      void (await ask(
        url,
        `select pg_terminate_backend(pid) from pg_stat_activity
           where state = 'active' and query like 'insert into doc_%'`,
      )),
  },
} as const

for (const [what, { maxTimeMs, interrupt }] of Object.entries(INTERRUPTIONS)) {
  test(`citus: ${what} during the commit of one worker leaves the outcome unknown`, async () => {
    const nodes = await nodesOfCluster()
    await using tester = await openTestService()
    await tester.define('item', { code: { type: 'string' } })
    await withRelay(nodes, async (relay) => {
      // by the name of the table, because Citus itself inserts into its catalogue on a worker that has a new place
      const schema = new URL(tester.location).searchParams.get('schema')!
      const held = relay.holdAt(`INSERT INTO ${schema}.doc_`).then(() => interrupt(nodes))
      const codes = new Set<string>()
      // many documents, so that one of them is on the worker behind the relay
      for (let i = 0; i < 20; i++) {
        const { errors } = await tester.insert('item', { data: { _id: `k${i}` }, execution: { maxTimeMs } })
        for (const { errorCode } of errors ?? []) codes.add(errorCode)
      }
      await held
      assert.deepEqual([...codes], ['store-crud:OutcomeUnknown'])
    })
    assert.equal(await countOf(tester), 20)
  })
}

/** While it works, the coordinator reaches the first worker by way of a relay. */
async function withRelay<T>(nodes: Nodes, work: (relay: Relay) => Promise<T>): Promise<T> {
  const { url } = nodes.workers[0]!
  await using relay = await openRelay(url)
  await placeWorker(nodes, { from: url, to: relay.url })
  try {
    return await work(relay)
  } finally {
    await placeWorker(nodes, { from: relay.url, to: url })
  }
}

async function placeWorker(
  { url }: Nodes,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const { hostname, port } = new URL(to)
  await ask(
    url,
    `select citus_update_node(nodeid, $1, $2, force => true) from pg_dist_node where nodename = $3 and nodeport = $4`,
    [hostname, Number(port), new URL(from).hostname, Number(new URL(from).port)],
  )
  // until Citus has sent its catalogue to the new place, it refuses to create or drop tables
  for (const deadline = performance.now() + 60_000; ; await sleep(100)) {
    const [row] = await ask(url, 'select bool_and(metadatasynced) is_synced from pg_dist_node')
    if (row!['is_synced'] === true) return
    assert.ok(performance.now() < deadline, 'the worker is not synchronized')
  }
}
