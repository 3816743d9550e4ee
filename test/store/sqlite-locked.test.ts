/** While another process has the database file locked, writes wait without blocking, for as long as they may. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { JsonObject } from '../../src/base/json/json.ts'
import { Work } from '../../src/base/work/work.ts'
import type { Bounds } from '../../src/store/bounds.ts'
import type { Store } from '../../src/store/store.ts'
import { attachSqliteStore } from '../../src/store/sqlite/attached-store.ts'
import { USUAL_MEMORY } from '../../src/store/sqlite/file/memory.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { createWriter } from '../../src/store/sqlite/write/writer.ts'
import { ADMIN, json, openTestService } from '../support/service.ts'
import { directoryOf, freshPlace, useStore } from '../support/store-kind.ts'
import { SCHEMA, change, find, openStage } from './contract.ts'

useStore('sqlite')

const open = {
  freshPlace: () => freshPlace('sqlite'),
  openAt: async (location: string) => openSqliteStore({ directory: directoryOf(location) }),
}
const LONG: Bounds = { timeLimitMs: 30_000 }
const SHORT: Bounds = { timeLimitMs: 300 }
const TIMEOUT = { code: 'store-crud:Timeout', message: /another process has the database file locked/ }
const LOCKED = { code: 'crud:Unavailable', message: /another process has the database file locked/ }
const DESTROYED = /file is not a database/
const LENT = { code: 'store-crud:Timeout', message: /longer than 300 ms, because a larger write/ }
const HUNG_UP = { code: 'crud:Unavailable', message: 'the caller hung up' }

/** Another process that has a transaction open; `end` ends it. */
const LOCKING = `
  const { DatabaseSync } = require('node:sqlite')
  const database = new DatabaseSync(process.argv[1], { timeout: 5000 })
  database.exec('begin immediate')
  process.on('message', () => {
    database.exec('rollback')
    database.close()
    process.disconnect()
  })
  process.on('disconnect', () => process.exit())
  process.send('locked')`

interface OtherProcess extends AsyncDisposable {
  readonly end: () => Promise<void>
}

async function lockElsewhere(location: string): Promise<OtherProcess> {
  const file = join(directoryOf(location), 'smalt.db')
  const child = spawn(process.execPath, ['--eval', LOCKING, file], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  await Promise.race([once(child, 'message'), exited])
  const end = async (): Promise<void> => {
    if (child.connected) child.send('end')
    await exited
  }
  return { end, [Symbol.asyncDispose]: end }
}

function insertOf(_id: string, store: Pick<Store, 'write'>, bounds: Bounds): Promise<boolean> {
  const documents = json(JSON.stringify([{ _id }, { _id: `${_id}2` }])) as readonly JsonObject[]
  const { collection } = SCHEMA
  const plan = { kind: 'insert', collection, idType: 'string', documents, atomic: true } as const
  return store.write(plan, () => () => undefined, bounds)
}

async function idsIn(store: Store): Promise<readonly string[]> {
  return (await find(store)).documents.map(({ id }) => id)
}

test('write: it waits until the other process has ended, and leaves the event loop free', async () => {
  await using stage = await openStage(open)
  await using other = await lockElsewhere(stage.location)
  const before = performance.eventLoopUtilization()
  const writes = ['a', 'b'].map((id) => insertOf(id, stage.store, LONG))
  await assert.rejects(insertOf('c', stage.store, SHORT), TIMEOUT)
  const { utilization } = performance.eventLoopUtilization(before)
  assert.ok(utilization < 0.5, `${utilization}`)
  await other.end()
  assert.deepEqual(await Promise.all(writes), [true, true])
  assert.deepEqual((await idsIn(stage.store)).toSorted(), ['a', 'a2', 'b', 'b2'])
})

test('write: one whose caller has left ends, and is not stored', async () => {
  await using stage = await openStage(open)
  await using other = await lockElsewhere(stage.location)
  const controller = new AbortController()
  const left = insertOf('a', stage.store, { ...LONG, getSignal: () => controller.signal })
  const stays = insertOf('b', stage.store, LONG)
  controller.abort()
  await assert.rejects(left, HUNG_UP)
  await other.end()
  await stays
  assert.deepEqual((await idsIn(stage.store)).toSorted(), ['b', 'b2'])
})

test('transact: it waits until the other process has ended, or its time is over', async () => {
  await using stage = await openStage(open)
  const { store } = stage
  await using other = await lockElsewhere(stage.location)
  let runs = 0
  const transact = (id: string, bounds: Bounds, isDryRun = false): Promise<boolean> => {
    const work = (session: Pick<Store, 'write'>): Promise<boolean> => {
      runs++
      return insertOf(id, session, LONG)
    }
    return store.transact(work, { bounds, isDryRun })
  }
  const controller = new AbortController()
  const left = transact('a', { ...LONG, getSignal: () => controller.signal })
  const waiting = ['b', 'c'].map((id) => transact(id, LONG))
  const write = insertOf('d', store, LONG)
  await assert.rejects(transact('e', SHORT), TIMEOUT)
  await assert.rejects(transact('f', SHORT, true), TIMEOUT)
  controller.abort()
  await assert.rejects(left, HUNG_UP)
  assert.equal(runs, 0)
  await other.end()
  await Promise.all([...waiting, write])
  assert.deepEqual((await idsIn(store)).toSorted(), ['b', 'b2', 'c', 'c2', 'd', 'd2'])
})

test('bookkeeping: it has no time limit of a request, and is unavailable after a while', async () => {
  await using stage = await openStage(open)
  const { store } = stage
  await using _other = await lockElsewhere(stage.location)
  await Promise.all([
    assert.rejects(store.metadata.changeMetadata(await change(store)), LOCKED),
    assert.rejects(
      store.transact(async () => undefined),
      LOCKED,
    ),
  ])
})

test('lend: a thread that has borrowed the lock waits no longer than its request may, and returns it', async () => {
  await using stage = await openStage(open)
  const { store, location } = stage
  await using attached = attachSqliteStore({
    directory: directoryOf(location),
    borrow: () => store.lendWriter!(),
    memory: USUAL_MEMORY,
  })
  {
    await using other = await lockElsewhere(location)
    await assert.rejects(insertOf('a', attached, SHORT), TIMEOUT)
    const work = new Work({ timeLimitMs: 30_000, isCancelled: () => true })
    await assert.rejects(insertOf('b', attached, { ...LONG, work }), HUNG_UP)
    const transaction = attached.transact((session) => insertOf('c', session, LONG), { bounds: SHORT })
    await assert.rejects(transaction, TIMEOUT)
    const waits = insertOf('d', attached, LONG)
    await other.end()
    await waits
  }
  await insertOf('e', store, SHORT)
  assert.deepEqual((await idsIn(store)).toSorted(), ['d', 'd2', 'e', 'e2'])
})

/** Of a request: other work has no time limit while the lock is lent. */
function requestFor(timeLimitMs: number): Bounds {
  return { timeLimitMs, work: new Work({ timeLimitMs }) }
}

test('lend: meanwhile requests wait no longer than they may, and other work until the end of the loan', async () => {
  await using stage = await openStage(open)
  const { store } = stage
  const loan = await store.lendWriter!()
  const transact = (id: string, bounds: Bounds, isReadOnly = false): Promise<boolean> =>
    store.transact((session) => insertOf(id, session, LONG), { bounds, isReadOnly })
  const background = [insertOf('a', store, SHORT), transact('b', SHORT)]
  const controller = new AbortController()
  const left = insertOf('c', store, { ...requestFor(30_000), getSignal: () => controller.signal })
  const waiting = [insertOf('d', store, requestFor(30_000)), transact('e', requestFor(30_000))]
  controller.abort()
  await Promise.all([
    assert.rejects(left, HUNG_UP),
    assert.rejects(insertOf('f', store, requestFor(300)), LENT),
    assert.rejects(transact('g', requestFor(300)), LENT),
    assert.rejects(transact('h', requestFor(300), true), LENT),
  ])
  loan.giveBack({ lastVersion: 0, hasEvents: false })
  await Promise.all([...background, ...waiting])
  const ids = await idsIn(store)
  assert.deepEqual(ids.toSorted(), ['a', 'a2', 'b', 'b2', 'd', 'd2', 'e', 'e2'])
})

test('lend: while the borrower waits for another process, requests wait no longer than they may', async () => {
  await using stage = await openStage(open)
  const { store, location } = stage
  await using attached = attachSqliteStore({
    directory: directoryOf(location),
    borrow: () => store.lendWriter!(),
    memory: USUAL_MEMORY,
  })
  await using other = await lockElsewhere(location)
  const borrowing = insertOf('a', attached, requestFor(30_000))
  // Until it has borrowed the lock.
  await assert.rejects(insertOf('b', store, requestFor(100)))
  await assert.rejects(insertOf('c', store, requestFor(300)), LENT)
  const waiting = insertOf('d', store, requestFor(30_000))
  await other.end()
  await Promise.all([borrowing, waiting])
  assert.deepEqual(await idsIn(store), ['a', 'a2', 'd', 'd2'])
})

test('lend: jobs that waited run before the next loan', async () => {
  await using stage = await openStage(open)
  const { store } = stage
  const order: string[] = []
  const [first, second] = [store.lendWriter!(), store.lendWriter!()]
  const loan = await first
  const write = insertOf('a', store, LONG).then(() => order.push('write'))
  await new Promise(setImmediate)
  loan.giveBack({ lastVersion: 0, hasEvents: false })
  const next = await second.finally(() => order.push('loan'))
  next.giveBack({ lastVersion: 0, hasEvents: false })
  await write
  assert.deepEqual(order, ['write', 'loan'])
})

test('run: jobs keep their order while they wait', async () => {
  await using place = await freshPlace('sqlite')
  using database = new DatabaseSync(join(directoryOf(place.location), 'smalt.db'))
  database.exec('pragma journal_mode = wal; pragma busy_timeout = 0')
  const writer = createWriter(database, () => undefined)
  await using other = await lockElsewhere(place.location)
  const order: number[] = []
  const job = (i: number, bounds: Bounds): Promise<number> => writer.run(() => order.push(i), bounds)
  const first = [job(1, LONG), job(2, SHORT), job(3, LONG)]
  await assert.rejects(first[1]!, TIMEOUT)
  const later = [job(4, LONG), job(5, LONG)]
  await other.end()
  await Promise.all([first[0], first[2], ...later])
  assert.deepEqual(order, [1, 3, 4, 5])
})

test('run: where no transaction can begin, jobs fail, and drain ends', async () => {
  await using place = await freshPlace('sqlite')
  const file = join(directoryOf(place.location), 'smalt.db')
  writeFileSync(file, 'destroyed'.repeat(1_000))
  using database = new DatabaseSync(file)
  const writer = createWriter(database, () => undefined)
  const jobs = [1, 2, 3].map(() =>
    assert.rejects(
      writer.run(() => undefined),
      DESTROYED,
    ),
  )
  const transaction = writer.transact(async () => undefined)
  await Promise.all([...jobs, assert.rejects(transaction, DESTROYED)])
  await writer.drain()
})

const TARGET = { entity: 'e' }
const BODY = { data: [{ _id: 'a' }] }

test('service: writes of every kind time out, and are not internal errors', async () => {
  await using service = await openTestService({ limits: { queryTimeMs: 300 } })
  await service.define('e', { _id: { type: 'string' } })
  await using _other = await lockElsewhere(service.location)
  const target = () => ({ ...TARGET, work: new Work({ timeLimitMs: 300 }) })
  const { data, once: keyed } = service.service
  const idempotency = { key: 'k', fingerprint: 'f' }
  const insert = { operation: 'insert', body: BODY } as const
  const plain = await service.insert('e', BODY)
  assert.equal(plain.errors?.[0]?.errorCode, TIMEOUT.code)
  const { status, text } = await keyed.data(ADMIN, { ...insert, target: target() }, idempotency)
  assert.equal(status, 504)
  assert.match(text, /store-crud:Timeout/)
  const dry = await data.insert(ADMIN, target(), { ...BODY, execution: { dryRun: true } })
  assert.equal(dry.errors?.[0]?.errorCode, TIMEOUT.code)
  const requests = [{ seq: 1, op: 'insert', request: { ...TARGET, ...BODY } }]
  await assert.rejects(data.bulk(ADMIN, { atomic: true, requests }), TIMEOUT)
})

test('service: writes with an idempotency key wait no longer than their request may', async () => {
  await using service = await openTestService()
  await service.define('e', { _id: { type: 'string' } })
  await using other = await lockElsewhere(service.location)
  const { once: keyed } = service.service
  const context = (timeLimitMs: number, key: string) => ({
    work: new Work({ timeLimitMs }),
    idempotency: { key, fingerprint: 'f' },
  })
  const insert = async (execution: JsonObject, key: string): Promise<string> => {
    const { idempotency, work } = context(30_000, key)
    const body = { ...BODY, execution }
    const write = { operation: 'insert', target: { ...TARGET, work }, body } as const
    return (await keyed.data(ADMIN, write, idempotency)).text
  }
  const start = performance.now()
  assert.match(await insert({ maxTimeMs: 300 }, 'a'), /store-crud:Timeout.*longer than 300 ms/)
  assert.match(await insert({ maxQueryTimeMS: '300' }, 'b'), /store-crud:Timeout.*longer than 300 ms/)
  const locking = { operation: 'acquire', domain: 'd', callerId: 'c', resourceId: 'r' }
  await assert.rejects(keyed.lock(ADMIN, locking, context(300, 'c')), TIMEOUT)
  assert.ok(performance.now() - start < 9_000)
  await other.end()
  assert.match(await insert({ maxTimeMs: 'soon' }, 'd'), /crud:InvalidRequest.*maxTimeMs/)
  assert.match(await insert({ maxTimeMs: 9_000 }, 'a'), /"status":"COMPLETE"/)
})
