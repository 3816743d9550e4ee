/** Two processes that write at the same time: whoever follows by number sees every event once, and misses none. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '../../src/base/json/json.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { chanceFrom } from '../support/seeded.ts'
import { freshDatabase } from '../support/postgres.ts'
import { SEED } from '../support/seed.ts'
import { type SmaltProcess, startSmalt } from '../support/smalt-process.ts'
import { useStore } from '../support/store-kind.ts'
import { ENTITY, changedCount, checkEvents, follow, nextChange, thingMetadata } from './events-world.ts'

useStore('postgres')

const WRITES = 10_000
const CLIENTS = 12
const IDS = Array.from({ length: 600 }, (_, i) => `t${i}`)

test(
  `events: ${WRITES} writes of two processes are reported once each, in order (SMALT_SEED=${SEED})`,
  {
    timeout: 300_000,
  },
  async (t) => {
    await using database = await freshDatabase()
    await using one = await startSmalt(database.url)
    await using other = await startSmalt(database.url)
    await define(one, other)
    await using store = openPostgresStore({ url: database.url })
    let isOver = false
    const following = follow(store, () => isOver)
    following.catch(() => undefined)
    const chance = chanceFrom(SEED)
    let [begun, changed] = [0, 0]
    const began = performance.now()
    const write = async (process: SmaltProcess): Promise<void> => {
      while (begun++ < WRITES) {
        const { method, path, body } = nextChange(chance, IDS)
        const answer = await process.ask(method, path, body)
        assert.equal(answer.status, 200, answer.text)
        changed += changedCount(answer.json as JsonObject)
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, (_, i) => write(i % 2 === 0 ? one : other)))
    const seconds = (performance.now() - began) / 1000
    isOver = true
    const events = await following
    t.diagnostic(`${WRITES} writes in ${seconds.toFixed(1)} s, ${events.length} events`)
    assert.equal(events.length, changed)
    assert.ok(events.length > WRITES / 2)
    await checkEvents(store, events)
  },
)

async function define(one: SmaltProcess, other: SmaltProcess): Promise<void> {
  const path = `/metadata/${ENTITY}/1.0.0`
  const answer = await one.ask('PUT', path, thingMetadata())
  assert.equal(answer.status, 200, answer.text)
  for (const deadline = Date.now() + 60_000; (await other.ask('GET', path)).status !== 200; await pause(20)) {
    assert.ok(Date.now() < deadline)
  }
}
