/**
 * Nodes of a cluster that are killed at any moment of a write: nothing acknowledged is lost, and nothing is half done.
 * SMALT_TEST_KILLS says how often.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { SEED } from '../support/seed.ts'
import { chanceFrom } from '../support/seeded.ts'
import { openLoad } from './load.ts'
import { nodesOfCluster } from './nodes.ts'

const KILLS = Number(process.env['SMALT_TEST_KILLS'] ?? 4)
/** What is stored is checked after so many of them. */
const PER_CHECK = 10

test(`citus: ${KILLS} kills of workers lose nothing and halve nothing (SMALT_SEED=${SEED})`, async (t) => {
  const chance = chanceFrom(SEED)
  const nodes = await nodesOfCluster()
  await using load = await openLoad(nodes)
  for (let start = 0; start < KILLS; start += PER_CHECK) {
    const end = Math.min(start + PER_CHECK, KILLS)
    await load.during(async () => {
      for (let kill = start; kill < end; kill++) {
        const worker = nodes.workers[chance(nodes.workers.length)]!
        await sleep(100 + chance(700))
        await worker.kill(kill % 2 === 0 ? 'SIGQUIT' : 'SIGKILL')
        await sleep(chance(500))
        await worker.start()
      }
    })
    await load.check(`after ${end} kills`)
    console.log(`${end} kills: ${load.ledger.summary()}`)
  }
  const { counts } = load.ledger
  t.diagnostic(
    `${load.ledger.summary()}; ${JSON.stringify([...load.refusals])}; worst ${Math.round(load.worstMs())} ms`,
  )
  assert.ok(counts.done > KILLS && counts.not + counts.unknown > 0, load.ledger.summary())
})

test('citus: a coordinator that is killed loses nothing and halves nothing', async (t) => {
  const chance = chanceFrom(SEED)
  const nodes = await nodesOfCluster()
  await using load = await openLoad(nodes)
  for (const signal of ['SIGQUIT', 'SIGKILL'] as const) {
    await load.during(async () => {
      await sleep(300 + chance(900))
      await nodes.coordinator.kill(signal)
      await sleep(300)
      await nodes.coordinator.start()
      await sleep(1_000)
    })
    await load.check(`after ${signal}`)
  }
  t.diagnostic(load.ledger.summary())
  assert.ok(load.ledger.counts.done > 10, load.ledger.summary())
})
