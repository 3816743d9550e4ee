/** Shards that move while clients write: no request fails, and nothing is lost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openLoad } from './load.ts'
import { type Nodes, ask, nodesOfCluster } from './nodes.ts'

test('citus: a node that is emptied, removed, added and filled again stops no writer', async (t) => {
  const nodes = await nodesOfCluster()
  await using load = await openLoad(nodes)
  const { hostname, port } = new URL(nodes.workers.at(-1)!.url)
  const at = [hostname, Number(port)]
  await load.during(async () => {
    await sleep(500)
    await ask(nodes.url, `select citus_drain_node($1, $2, shard_transfer_mode => 'force_logical')`, at)
    assert.equal(await shardsOn(nodes, at), 0)
    await ask(nodes.url, 'select citus_remove_node($1, $2)', at)
    await ask(nodes.url, 'select citus_add_node($1, $2)', at)
    await ask(nodes.url, `select rebalance_table_shards(shard_transfer_mode => 'force_logical')`)
    await sleep(300)
  })
  assert.ok((await shardsOn(nodes, at)) > 0)
  await load.check('after the moves')
  t.diagnostic(`${load.ledger.summary()}; worst ${Math.round(load.worstMs())} ms`)
  assert.deepEqual([...load.refusals], [])
})

async function shardsOn({ url }: Nodes, at: readonly unknown[]): Promise<number> {
  const [row] = await ask(
    url,
    'select count(*)::integer n from citus_shards where nodename = $1 and nodeport = $2',
    at,
  )
  return Number(row!['n'])
}
