/** How much of the database slow work of one caller may take, alone and beside others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Work, timedOut } from '../../src/base/work/work.ts'
import type { Connection } from '../../src/store/postgres/connection/connection.ts'
import {
  type Charge,
  type Connections,
  openConnections,
} from '../../src/store/postgres/connection/connections.ts'
import { readLocation } from '../../src/store/postgres/connection/location.ts'
import { inTransaction } from '../../src/store/postgres/connection/transaction.ts'
import { failLoudly } from '../support/service.ts'
import { freshDatabase } from '../support/postgres.ts'

const SLEEP = { text: 'select pg_sleep(0.6)', values: [] }
const QUICK = { text: 'select 1', values: [] }
const GREEDY: Charge = { holder: { caller: 'greedy' }, kind: 'report' }
const OTHER: Charge = { ...GREEDY, holder: { caller: 'other' } }

async function connected(work: (connections: Connections) => Promise<void>): Promise<void> {
  await using database = await freshDatabase()
  await using connections = openConnections(readLocation(`${database.url}&pool=16`), failLoudly)
  await work(connections)
}

/** Another caller that is active all the time. */
function anotherOn(connections: Connections): Disposable {
  const note = (): void => connections.noteCaller('other')
  note()
  const timer = setInterval(note, 20)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** The greatest number of them that ran at the same time. */
async function mostAtOnce(count: number, run: (statements: Statements) => Promise<unknown>): Promise<number> {
  let [running, most] = [0, 0]
  const work: Statements = async (connection) => {
    most = Math.max(most, ++running)
    await connection.query(SLEEP)
    running--
  }
  await Promise.all(Array.from({ length: count }, () => run(work)))
  return most
}

type Statements = (connection: Pick<Connection, 'query'>) => Promise<void>

test('slow shares: an eighth of the connections for a caller that is alone, one beside others', async () => {
  await connected(async (connections) => {
    await mostAtOnce(1, (work) => connections.with(work, GREEDY))
    assert.equal(await mostAtOnce(4, (work) => connections.with(work, GREEDY)), 2)
    using _ = anotherOn(connections)
    assert.equal(await mostAtOnce(4, (work) => connections.with(work, GREEDY)), 1)
  })
})

test('slow shares: of a new kind one runs first, and counts from the moment in which it turns out to be slow', async () => {
  await connected(async (connections) => {
    using _ = anotherOn(connections)
    assert.equal(await mostAtOnce(6, (work) => connections.with(work, GREEDY)), 1)
    // Quick work of a new kind waits only for the first of it.
    const kind = 'by id'
    const quick = Array.from({ length: 20 }, () =>
      connections.with((each) => each.query(QUICK), { ...GREEDY, kind }),
    )
    assert.equal((await Promise.all(quick)).length, 20)
  })
})

test('slow shares: quick work of the same caller, and slow work of another, do not wait for them', async () => {
  await connected(async (connections) => {
    await mostAtOnce(1, (work) => connections.with(work, GREEDY))
    await mostAtOnce(1, (work) => connections.with(work, OTHER))
    const order: string[] = []
    const ended = (name: string) => (): void => void order.push(name)
    await Promise.all([
      mostAtOnce(3, (work) => connections.with(work, GREEDY)).then(ended('greedy')),
      mostAtOnce(1, (work) => connections.with(work, OTHER)).then(ended('other')),
      connections.with((each) => each.query(QUICK), { ...GREEDY, kind: 'by id' }).then(ended('quick')),
    ])
    assert.deepEqual(order, ['quick', 'other', 'greedy'])
  })
})

test('slow shares: a transaction counts as slow if a statement in it was cancelled, whatever it reports', async () => {
  await connected(async (connections) => {
    const bounds = { timeLimitMs: 20 }
    await inTransaction(
      connections,
      async (transaction) => {
        const asked = transaction.within(bounds, () => transaction.query(SLEEP))
        await assert.rejects(asked, { code: timedOut(20).code })
      },
      GREEDY,
    ).catch(() => undefined)
    using _ = anotherOn(connections)
    assert.equal(await mostAtOnce(3, (work) => inTransaction(connections, work, GREEDY)), 1)
  })
})

test('slow shares: requests that waited for others to leave are served, and later ones, too', async () => {
  await using database = await freshDatabase()
  await using connections = openConnections(readLocation(`${database.url}&pool=32`), failLoudly)
  const order: number[] = []
  const run = (n: number): Promise<unknown> =>
    connections.with(async (each) => {
      order.push(n)
      await each.query(SLEEP)
    }, GREEDY)
  await run(0)
  const another = anotherOn(connections)
  const running = [run(1), run(2), run(3)]
  another[Symbol.dispose]()
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  await Promise.all([...running, run(4), run(5)])
  await Promise.all([run(6), run(7), run(8)])
  assert.deepEqual(order.toSorted(), [0, 1, 2, 3, 4, 5, 6, 7, 8])
})

test('slow shares: waiting is credited to the request, and ends when its caller leaves', async () => {
  await connected(async (connections) => {
    await mostAtOnce(1, (work) => connections.with(work, GREEDY))
    using _ = anotherOn(connections)
    const left = new AbortController()
    const work = new Work({ timeLimitMs: 10_000 })
    const before = work.remainingMs
    const running = connections.with((each) => each.query(SLEEP), GREEDY)
    const holder = { caller: 'greedy', getSignal: () => left.signal }
    const leaving = assert.rejects(connections.with((each) => each.query(QUICK), { ...GREEDY, holder }))
    const waiting = connections.with((each) => each.query(QUICK), {
      ...GREEDY,
      holder: { caller: 'greedy', work },
    })
    left.abort()
    await leaving
    await running
    await waiting
    assert.ok(before - work.remainingMs < 550, `${before - work.remainingMs} ms of waiting count`)
  })
})
