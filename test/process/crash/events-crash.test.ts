/** A process killed at any moment leaves exactly the events of the changes that survive it. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent } from 'node:http'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import type { Database } from '../../../src/store/database.ts'
import { type Chance, chanceFrom } from '../../support/seeded.ts'
import { allEvents } from '../../store/events.ts'
import { ENTITY, changedCount, checkEvents, nextChange, thingMetadata } from '../../store/events-world.ts'
import { diskDirectory } from '../../support/disk.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { SEED } from '../../support/seed.ts'
import { type Answer, askServer } from '../../support/server.ts'
import { startSmalt } from '../../support/smalt-process.ts'
import { chooseStore } from '../../support/store-kind.ts'
import { start } from './child.ts'

const ROUNDS = 20
const CONNECTIONS = 6
const IDS = Array.from({ length: 60 }, (_, i) => `t${i}`)
/** Far more than they take: what hangs must end all the same. */
const BOUNDED = { timeout: 500_000 }

const scratch = mkdtempSync(join(diskDirectory(), 'smalt-crash-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

interface Victim {
  readonly ask: (method: string, path: string, body: JsonObject) => Promise<Answer>
  /** At once, without waiting for it to be gone. */
  readonly kill: () => Promise<void>
}

interface Known {
  /** Changes that were acknowledged, and those nobody knows of. */
  acknowledged: number
  unknown: number
}

test(
  `crash: on SQLite ${ROUNDS} kills leave exactly the events of what is stored (SMALT_SEED=${SEED})`,
  BOUNDED,
  async (t) => {
    const data = join(scratch, 'sqlite')
    const begin = async (): Promise<Victim> => {
      const { port, child, ended } = await start(data)
      const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
      return {
        ask: (method, path, body) => askServer({ port, agent }, method, path, { body }),
        async kill() {
          child.kill('SIGKILL')
          await ended
          agent.destroy()
        },
      }
    }
    const told = await killAgainAndAgain(begin, async () => openSqliteStore({ directory: data }))
    t.diagnostic(told)
  },
)

test(
  `crash: on PostgreSQL ${ROUNDS} kills leave exactly the events of what is stored (SMALT_SEED=${SEED})`,
  BOUNDED,
  async (t) => {
    chooseStore('postgres')
    await using database = await freshDatabase()
    const begin = async (): Promise<Victim> => {
      const smalt = await startSmalt(database.url)
      return { ask: smalt.ask, kill: () => smalt.kill('SIGKILL') }
    }
    const told = await killAgainAndAgain(begin, async () => openPostgresStore({ url: database.url }))
    t.diagnostic(told)
  },
)

async function killAgainAndAgain(
  begin: () => Promise<Victim>,
  openStore: () => Promise<Database>,
): Promise<string> {
  const chance = chanceFrom(SEED)
  const known: Known = { acknowledged: 0, unknown: 0 }
  let events = 0
  for (let round = 0; round < ROUNDS; round++) {
    const victim = await begin()
    if (round === 0) {
      const answer = await victim.ask('PUT', `/metadata/${ENTITY}/1.0.0`, thingMetadata())
      assert.equal(answer.status, 200, answer.text)
    }
    await writeUntilKilled(victim, known, chance)
    await using store = await openStore()
    events = await eventually(() => check(store, known, round))
  }
  assert.ok(known.acknowledged > 10 * ROUNDS, JSON.stringify(known))
  return `${events} events, ${JSON.stringify(known)}`
}

/** The kill comes after a random number of answers, while other requests are under way. */
async function writeUntilKilled(victim: Victim, known: Known, chance: Chance): Promise<void> {
  const killAfter = 1 + chance(80)
  let answers = 0
  let killed: Promise<void> | undefined
  const write = async (): Promise<void> => {
    while (!killed) {
      const { method, path, body } = nextChange(chance, IDS)
      try {
        const answer = await victim.ask(method, path, body)
        assert.equal(answer.status, 200, answer.text)
        known.acknowledged += changedCount(answer.json as JsonObject)
      } catch (error) {
        if (!killed || error instanceof assert.AssertionError) throw error
        // an update, a save or a delete of three documents at most, and one more in a bulk
        known.unknown += 4
      }
      if (++answers < killAfter || killed) continue
      for (let turns = chance(200); turns > 0; turns--) await new Promise(setImmediate)
      killed ??= victim.kill()
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, write))
  await killed
}

async function check(store: Database, { acknowledged, unknown }: Known, round: number): Promise<number> {
  const events = await allEvents(store, {}, 1_000)
  await checkEvents(store, events)
  const isPossible = events.length >= acknowledged && events.length <= acknowledged + unknown
  assert.ok(
    isPossible,
    `round ${round}: ${events.length} events of ${acknowledged} changes, ${unknown} unknown`,
  )
  return events.length
}

/** A database may still carry out what a process asked of it last, and events are numbered a moment later. */
async function eventually<T>(work: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + 60_000; ; await pause(20)) {
    try {
      return await work()
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
  }
}
