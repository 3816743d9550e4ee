/** Answers that are more than may be held at once, on PostgreSQL: ended, and begun again piece by piece. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredDocument } from '../../src/plan/plan.ts'
import type { Statement } from '../../src/store/sql/fragment.ts'
import type { SqlSession } from '../../src/store/postgres/connection/connection.ts'
import { type Connections, openConnections } from '../../src/store/postgres/connection/connections.ts'
import { pieces } from '../../src/store/postgres/connection/cursor.ts'
import { ResultTooLarge } from '../../src/store/postgres/connection/failures.ts'
import { findAtOnce, findByPieces } from '../../src/store/postgres/read/find.ts'
import { readLocation } from '../../src/store/postgres/connection/location.ts'
import { inTransaction } from '../../src/store/postgres/connection/transaction.ts'
import { compiledSchema } from '../support/schema.ts'
import { failLoudly } from '../support/service.ts'
import { freshDatabase } from '../support/postgres.ts'

const plain = (text: string): Statement => ({ text, values: [] })

/** Rows of about a thousand bytes, made as they are sent. */
const rows = (count: number): Statement => plain(`select repeat('x', 1000), generate_series(1, ${count})`)

async function connected(work: (connections: Connections, schema: string) => Promise<void>, pool = 1) {
  await using database = await freshDatabase()
  const location = readLocation(`${database.url}&pool=${pool}`)
  await using connections = openConnections(location, failLoudly)
  await connections.query(plain(`create schema ${location.schema}`))
  await work(connections, location.schema)
}

test('ask at most: what is within the bound comes whole, prepared or not', async () => {
  await connected(async (connections) => {
    for (let i = 0; i < 4; i++) {
      const found = await connections.with((each) => each.queryAtMost(101_000, rows(100)))
      assert.deepEqual([found.length, found[99]![0]!.length], [100, 1000])
    }
    const failing = connections.with((each) => each.queryAtMost(100_000, plain('select 1 / 0')))
    await assert.rejects(failing, { code: '22012' })
  })
})

test('ask at most: what is more is ended, and its connection serves the next, which is not cancelled', async () => {
  await connected(async (connections) => {
    const backend = plain('select pg_backend_pid()')
    const [first] = await connections.query(backend)
    // The first ones are at their end when they are cancelled, the last one would take minutes.
    for (const count of [101, 101, 101, 150, 1_000, 1_000, 20_000, 20_000, 100_000_000]) {
      await connections.with(async (each) => {
        await assert.rejects(each.queryAtMost(100_000, rows(count)), ResultTooLarge)
        assert.deepEqual(await each.query(plain(`select 'next' from pg_sleep(0.02)`)), [['next']])
      })
      assert.deepEqual(await connections.query(backend), [first])
    }
  })
})

test('ask at most: a statement sent behind it is over, one way or the other, before the connection is used again', async () => {
  await connected(async (connections) => {
    for (let i = 0; i < 10; i++) {
      const [page] = await connections.with((each) =>
        Promise.allSettled([each.queryAtMost(100_000, rows(101 + i * 500)), each.query(plain('select 1'))]),
      )
      assert.ok(page.status === 'rejected' && page.reason instanceof ResultTooLarge)
      assert.deepEqual(await connections.query(plain('select 2 from pg_sleep(0.01)')), [['2']])
    }
  })
})

test('ask at most: time that is over counts more than size', async () => {
  await connected(async (connections) => {
    const slow = plain(`select repeat('x', 1000), pg_sleep(0.001) from generate_series(1, 100000)`)
    const asked = connections.with((each) => each.queryAtMost(100_000_000, slow), {
      bounds: { timeLimitMs: 100 },
    })
    await assert.rejects(asked, { code: 'store-crud:Timeout' })
    assert.deepEqual(await connections.query(plain('select 1')), [['1']])
  })
})

test('find: a page that is too much at once is read again in pieces, with the count of the same moment', async () => {
  const work = async (connections: Connections, schema: string): Promise<void> => {
    const table = `${schema}.t`
    const add = (from: number, to: number) =>
      connections.query(plain(`insert into ${table} select generate_series(${from}, ${to})`))
    await connections.query(plain(`create table ${table}(id int primary key)`))
    await add(1, 70)
    const page = plain(`select id, 1, repeat('x', 1000000), 0 from ${table} order by id limit 75`)
    const read = { page, count: () => plain(`select count(*) from ${table}`) }
    const { collection } = compiledSchema('t', { _id: { type: 'string' } })
    const plan = { collection, sort: [], from: 0, to: 74, counted: true, idType: 'string' } as const
    const taken: string[] = []
    const take = ({ id }: StoredDocument): void => void taken.push(id)
    const found = await connections.with((each) => findAtOnce(each, plan, { read, take }))
    assert.deepEqual([found, taken], [undefined, []])
    await add(71, 80)
    const { matchCount } = await inTransaction(
      connections,
      (transaction) => {
        const asWritten: SqlSession = {
          async query(statement) {
            if (statement.text.includes('count')) await add(81, 90)
            return await transaction.query(statement)
          },
        }
        return findByPieces(asWritten, plan, { read, take })
      },
      { isSnapshot: true },
    )
    assert.deepEqual([matchCount, taken.length, taken.at(-1)], [80, 75, '75'])
  }
  await connected(work, 4)
})

const PIECES: readonly (readonly [bytes: number, count: number, fetched: readonly number[]])[] = [
  [10, 8, [8, 64]],
  [10, 600, [8, 64, 500, 500]],
  [200_000, 30, [8, 8, 8, 8]],
  [3_000_000, 10, [8, 1, 1, 1]],
]

for (const [bytes, count, fetched] of PIECES) {
  test(`pieces: ${count} rows of ${bytes} bytes are fetched as ${fetched.join(', ')}`, async () => {
    await connected(async (connections) => {
      const asked: number[] = []
      const seen = await inTransaction(connections, async (transaction) => {
        const session: SqlSession = {
          query(statement) {
            const size = /^fetch (\d+)/.exec(statement.text)?.[1]
            if (size !== undefined) asked.push(Number(size))
            return transaction.query(statement)
          },
        }
        let all = 0
        const text = `select repeat('x', ${bytes}) from generate_series(1, ${count})`
        for await (const piece of pieces(session, plain(text))) all += piece.length
        return all
      })
      assert.deepEqual([seen, asked], [count, fetched])
    })
  })
}
