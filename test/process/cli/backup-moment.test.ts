/** Backups under load: what is restored is the state of the store at one moment, between begin and end of the backup. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { restore } from '../../../src/service/backup/restore.ts'
import type { Service } from '../../../src/service/service.ts'
import { ADMIN, EVERYTHING, documentsOf, metadataDocument, openServiceAt } from '../../support/service.ts'
import { type SmaltProcess, startSmalt } from '../../support/smalt-process.ts'
import { freshPlace, onEveryStore } from '../../support/store-kind.ts'

const ROUNDS = 20
const WRITERS = 2
/** Accounts of each writer; what one half of them gains the other half loses. */
const ACCOUNTS = 20
/** Notes of each step of a writer, and how many of its steps have notes. */
const NOTES = 20
const KEPT_STEPS = 5
/** After each step. Writers that take all of the processor keep a backup, which gives way to them, from being made. */
const PAUSE_MS = 20
/** Inserted, deleted and updated by each step, with the counter. */
const WRITTEN_PER_STEP = NOTES + NOTES + ACCOUNTS + 1

const directory = mkdtempSync(join(tmpdir(), 'smalt-moments-'))
after(() => rmSync(directory, { recursive: true, force: true }))

async function define(smalt: SmaltProcess): Promise<void> {
  const integers = (...names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, { type: 'integer' }]))
  const index = (field: string) => ({ name: field, fields: [{ field, dir: '$asc' }] })
  const entities: readonly [string, JsonObject, JsonObject][] = [
    ['account', integers('writer', 'side', 'balance'), { indexes: [index('writer')] }],
    ['note', { ...integers('writer', 'step'), text: { type: 'string' } }, { indexes: [index('step')] }],
    ['counter', integers('step'), { history: true, hooks: [{ name: 'step', actions: ['update'] }] }],
  ]
  for (const [entity, fields, info] of entities) {
    const body = metadataDocument(entity, fields, { info })
    const { status, text } = await smalt.ask('PUT', `/metadata/${entity}/1.0.0`, body)
    assert.equal(status, 200, text)
  }
  const insert = async (entity: string, data: readonly JsonObject[]): Promise<void> => {
    const { status, text } = await smalt.ask('PUT', `/data/insert/${entity}`, { data: [...data] })
    assert.equal(status, 200, text)
  }
  const writers = Array.from({ length: WRITERS }, (_, writer) => writer)
  await insert(
    'counter',
    writers.map((writer) => ({ _id: `${writer}`, step: 0 })),
  )
  const accounts = (writer: number) =>
    Array.from({ length: ACCOUNTS }, (_, i) => ({ writer, side: i % 2, balance: 0 }))
  await insert('account', writers.flatMap(accounts))
}

/** All of it in one transaction. */
function stepOf(writer: number, step: number): JsonObject {
  const by = (field: string, rvalue: number | string): JsonObject => ({ field, op: '=', rvalue })
  const change = (side: number, balance: number): JsonObject => ({
    entity: 'account',
    query: { $and: [by('writer', writer), by('side', side)] },
    update: { $add: { balance } },
  })
  const expired = { $and: [by('step', step - KEPT_STEPS), by('writer', writer)] }
  const notes = Array.from({ length: NOTES }, () => ({ writer, step, text: 'x'.repeat(50) }))
  const requests = [
    { op: 'update', request: change(0, -1) },
    { op: 'insert', request: { entity: 'note', data: notes } },
    { op: 'delete', request: { entity: 'note', query: expired } },
    { op: 'update', request: change(1, 1) },
    {
      op: 'update',
      request: { entity: 'counter', query: by('_id', `${writer}`), update: { $set: { step } } },
    },
  ]
  return { atomic: true, requests: requests.map((request, seq) => ({ seq, ...request })) }
}

interface Load extends AsyncDisposable {
  /** Per writer. */
  readonly sent: readonly number[]
  readonly acknowledged: readonly number[]
  readonly stop: () => Promise<void>
}

function load(smalt: SmaltProcess): Load {
  const sent = Array.from({ length: WRITERS }, () => 0)
  const acknowledged = [...sent]
  const over = new AbortController()
  const writing = sent.map(async (_, writer) => {
    for (; !over.signal.aborted; await sleep(PAUSE_MS)) {
      const step = ++sent[writer]!
      const { status, text } = await smalt.ask('POST', '/data/bulk', stepOf(writer, step))
      assert.equal(status, 200, text)
      assert.doesNotMatch(text, /errorCode/)
      acknowledged[writer] = step
    }
  })
  const stop = async (): Promise<void> => {
    over.abort()
    await Promise.all(writing)
  }
  return { sent, acknowledged, stop, [Symbol.asyncDispose]: stop }
}

interface Made {
  readonly file: string
  /** Steps that were acknowledged before it began, and those that were sent before it ended. */
  readonly atLeast: readonly number[]
  readonly atMost: readonly number[]
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

async function findAll(service: Service, entity: string): Promise<readonly JsonObject[]> {
  return documentsOf(await service.data.find(ADMIN, { entity }, { projection: EVERYTHING }))
}

/** The steps of all writers in the restored store, which must be complete, and nothing of the next ones there. */
async function stepsIn(location: string): Promise<readonly number[]> {
  await using service = await openServiceAt(location)
  const counters = await findAll(service, 'counter')
  const steps = counters.map(({ step }) => Number(step))
  const accounts = Map.groupBy(await findAll(service, 'account'), ({ writer }) => Number(writer))
  const notes = Map.groupBy(await findAll(service, 'note'), ({ writer }) => Number(writer))
  for (const [writer, last] of steps.entries()) {
    const balances = accounts
      .get(writer)!
      .map(({ side, balance }) => [Number(side), Number(balance)] as const)
    assert.equal(balances.length, ACCOUNTS)
    for (const [side, balance] of balances)
      assert.equal(balance, side === 0 ? 0 - last : last, 'all accounts are those of the last step')
    const first = Math.max(1, last - KEPT_STEPS + 1)
    const expected = Array.from(
      { length: (last - first + 1) * NOTES },
      (_, i) => first + Math.floor(i / NOTES),
    )
    const held = (notes.get(writer) ?? []).map(({ step }) => Number(step)).sort((a, b) => a - b)
    assert.deepEqual(held, expected)
  }
  let events = 0
  for (let since = ''; ;) {
    const page = await service.events.read(ADMIN, new URLSearchParams(`limit=1000${since}`))
    if (page.events.length === 0) break
    events += page.events.length
    since = `&since=${page.next}`
  }
  assert.equal(events, sum(steps), 'each step has its event')
  return steps
}

onEveryStore((kind) => {
  test(`backup: ${ROUNDS} backups under load each hold the state of one moment`, async (t) => {
    await using place = await freshPlace()
    const config = join(directory, `${kind}.json`)
    writeFileSync(config, JSON.stringify({ backup: { directory: join(directory, kind), keep: 5 * ROUNDS } }))
    await using smalt = await startSmalt(place.location, '--config', config)
    await define(smalt)
    await using writers = load(smalt)
    const { sent, acknowledged } = writers
    const made: Made[] = []
    let [steps, seconds] = [0, 0]
    // on a busy machine a backup may be over before the first write is answered: it does not count
    for (let round = 0; made.length < ROUNDS && round < 5 * ROUNDS; round++) {
      const atLeast = [...acknowledged]
      const began = performance.now()
      const { status, text, json } = await smalt.ask('POST', '/admin/backup')
      assert.equal(status, 200, text)
      const during = sum(acknowledged) - sum(atLeast)
      if (during === 0) continue
      seconds += (performance.now() - began) / 1_000
      steps += during
      const { file } = (json as { readonly backups: readonly [{ readonly file: string }] }).backups[0]
      made.push({ file, atLeast, atMost: [...sent] })
    }
    assert.equal(made.length, ROUNDS)
    await writers.stop()
    const rate = Math.round((steps * WRITTEN_PER_STEP) / seconds)
    t.diagnostic(
      `${rate} documents/s written during the backups, which took ${seconds.toFixed(1)} s together`,
    )
    for (const [round, { file, atLeast, atMost }] of made.entries()) {
      // into the same kind of store now and then, which takes longer on PostgreSQL
      await using target = await freshPlace(round % 5 === 0 ? kind : 'sqlite')
      await restore({ file, to: target.location })
      for (const [writer, step] of (await stepsIn(target.location)).entries()) {
        assert.ok(step >= atLeast[writer]!, 'what was acknowledged before the backup is in it')
        assert.ok(step <= atMost[writer]!, 'what was sent after the backup is not in it')
      }
    }
  })
})
