/** Clients that write all the time, with unique indexes, history and hooks; and what must hold when they have ended. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../src/base/json/json.ts'
import { Ledger } from '../process/crash/ledger.ts'
import { checkClaims } from '../support/postgres-claims.ts'
import { metadataDocument } from '../support/service.ts'
import { type SmaltProcess, startSmalt } from '../support/smalt-process.ts'
import { chooseStore } from '../support/store-kind.ts'
import { type Nodes, ask, checkNothingPrepared } from './nodes.ts'

chooseStore('postgres')

const CLIENTS = 4

export interface Load extends AsyncDisposable {
  readonly smalt: SmaltProcess
  readonly ledger: Ledger
  /** The longest time that a client has waited for an answer. */
  readonly worstMs: () => number
  /** Requests that were not answered with 200, by code. */
  readonly refusals: ReadonlyMap<string, number>
  /** Runs while clients write. */
  during<T>(work: () => Promise<T>): Promise<T>
  /** Nothing that was acknowledged is lost, nothing is half done, and no node has anything left to decide. */
  check(when: string): Promise<void>
}

export async function openLoad(nodes: Nodes): Promise<Load> {
  const schema = `test_${randomUUID().replaceAll('-', '')}`
  const url = new URL(nodes.url)
  url.searchParams.set('schema', schema)
  await using opened = new AsyncDisposableStack()
  opened.defer(async () => void (await ask(nodes.url, `drop schema if exists ${schema} cascade`)))
  const smalt = opened.use(await startSmalt(url.href))
  await define(smalt)
  const owned = opened.move()
  const ledger = new Ledger(CLIENTS)
  const refusals = new Map<string, number>()
  let worst = 0

  async function write(client: number, isOver: { readonly value: boolean }): Promise<void> {
    while (!isOver.value) {
      const { path, method, body, note } = ledger.next(client)
      const began = performance.now()
      const answer = await smalt.ask(method, path, body)
      worst = Math.max(worst, performance.now() - began)
      if (answer.status === 200) {
        note(answer.json)
        continue
      }
      const code = /"((?:store-)?crud:\w+)"/.exec(answer.text)?.[1] ?? answer.text
      refusals.set(code, (refusals.get(code) ?? 0) + 1)
      if (!EXPECTED.includes(code)) assert.fail(`${path}: ${answer.text}\n${await faultsOf(smalt)}`)
      note(code === 'store-crud:OutcomeUnknown' ? 'unknown' : 'not')
      await sleep(20)
    }
  }

  return {
    smalt,
    ledger,
    refusals,
    worstMs: () => worst,
    async during(work) {
      const isOver = { value: false }
      const writing = Promise.all(Array.from({ length: CLIENTS }, (_, client) => write(client, isOver)))
      writing.catch(() => undefined)
      try {
        return await work()
      } finally {
        isOver.value = true
        await writing
      }
    },
    async check(when) {
      await checkNothingPrepared(nodes)
      await ready(smalt)
      await ledger.check(smalt, when)
      assert.ok((await checkClaims(url.href)) > 0)
      await checkRecords(nodes.url, schema, when)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** While a node is away. */
const EXPECTED = ['crud:Unavailable', 'store-crud:OutcomeUnknown']

async function faultsOf(smalt: SmaltProcess): Promise<string> {
  // lines of the log come in batches
  await sleep(1_000)
  const faults = smalt.lines().filter(({ level }) => level === 'error' || level === 50)
  return faults.map(({ text }) => text).join('\n')
}

async function ready(smalt: SmaltProcess): Promise<void> {
  for (const deadline = Date.now() + 60_000; ; await sleep(100)) {
    const answer = await smalt.ask('GET', '/ready')
    if (answer.status === 200) return
    assert.ok(Date.now() < deadline, `it goes on being ${answer.text}`)
  }
}

async function define(smalt: SmaltProcess): Promise<void> {
  const number = { type: 'integer' }
  const text = { type: 'string' }
  const indexes = [{ unique: true, fields: [{ field: 'code' }] }]
  const hooks = [{ name: 'all', actions: ['insert', 'update', 'delete'] }]
  const entities: Readonly<Record<string, { readonly fields: JsonObject; readonly info: JsonObject }>> = {
    entry: {
      fields: { batch: number, place: number, code: text, list: { type: 'array', items: number } },
      info: { indexes, hooks, history: true },
    },
    counter: { fields: { _id: text, n: number }, info: { hooks, history: true } },
    note: {
      fields: { _id: { type: 'string', constraints: { identity: true } }, v: number, code: text },
      info: { indexes, hooks, history: true },
    },
  }
  for (const [entity, { fields, info }] of Object.entries(entities)) {
    const answer = await smalt.ask(
      'PUT',
      `/metadata/${entity}/1.0.0`,
      metadataDocument(entity, fields, { info }),
    )
    assert.equal(answer.status, 200, answer.text)
  }
  const data = Array.from({ length: CLIENTS }, (_, client) =>
    ['a', 'b', 'c'].map((each) => ({ _id: `${each}${client}`, n: 0 })),
  ).flat()
  const answer = await smalt.ask('PUT', '/data/insert/counter', { data })
  assert.equal(answer.json.modifiedCount, data.length, answer.text)
}

/** Past the store: each version of a document follows a row of its history, and has its event in the outbox. */
async function checkRecords(url: string, schema: string, when: string): Promise<void> {
  const collections = await ask(
    url,
    `select no, entity, generation from ${schema}.smalt_collection where has_past order by no`,
  )
  for (const { no, entity, generation } of collections) {
    const [doc, past] = [
      `${schema}.doc_${String(no)}_${String(generation)}_c`,
      `${schema}.past_${String(no)}`,
    ]
    const documents = await ask(url, `select id, version from ${doc}`)
    const changes = await ask(url, `select id, follows, version, operation from ${past}`)
    const events = await ask(
      url,
      `select doc, seen, version, operation from ${schema}.smalt_outbox where entity = $1`,
      [entity],
    )
    const lasts = new Map(documents.map(({ id, version }) => [String(id), String(version)]))
    const made = new Set(
      changes.map(({ id, version, operation }) => `${String(id)} ${String(version)} ${String(operation)}`),
    )
    for (const [id, version] of lasts) {
      const isRecorded = ['insert', 'update'].some((operation) => made.has(`${id} ${version} ${operation}`))
      assert.ok(isRecorded, `${when}: ${id} of ${String(entity)} has no history of version ${version}`)
    }
    // a delete has a version of its own in history, and none as an event
    const keyOf = (id: unknown, operation: unknown, version: unknown, seen: unknown): string =>
      `${String(id)} ${String(operation)} ${String(operation === 'delete' ? seen : version)}`
    const recorded = changes.map(({ id, operation, version, follows }) =>
      keyOf(id, operation, version, follows),
    )
    const told = events.map((each) => keyOf(each['doc'], each['operation'], each['version'], each['seen']))
    assert.deepEqual(told.toSorted(), recorded.toSorted(), `${when}: events of ${String(entity)}`)
  }
}
