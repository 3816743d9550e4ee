/** Statements that stay prepared on a connection: however many shapes callers think of, the server keeps a bounded part. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type pg from 'pg'
import type { Row } from '../../src/store/postgres/connection/driver.ts'
import { createStatementNames } from '../../src/store/postgres/connection/statement-names.ts'
import { SEED } from '../support/seed.ts'
import { chanceFrom } from '../support/seeded.ts'
import { ask, withClient } from './raw-client.ts'

test('prepared: ever new short statements leave a bounded number on the connection', async () => {
  await withClient(async (client) => {
    const send = asking(client)
    for (let n = 0; n < 1_500; n++) {
      const text = `select $1::int + ${n}`
      assert.deepEqual(await send(text, [1]), [[String(n + 1)]])
      assert.deepEqual(await send(text, [2]), [[String(n + 2)]])
    }
    const { count } = await preparedOn(client)
    assert.ok(count > 100 && count <= 500, `${count} statements`)
  })
})

test('prepared: a statement in use stays, however many others come', async () => {
  await withClient(async (client) => {
    const send = asking(client)
    const own = 'select $1::int + 1 as own'
    for (let n = 0; n < 1_500; n++) {
      for (let use = 0; use < 2; use++) await send(`select $1::int - ${n}`, [1])
      assert.deepEqual(await send(own, [n]), [[String(n + 1)]])
    }
    const { rows } = await client.query<{ uses: string }>(
      'select generic_plans + custom_plans as uses from pg_prepared_statements where statement = $1',
      [own],
    )
    assert.deepEqual(rows, [{ uses: '1499' }])
  })
})

test('prepared: a statement that is closed while an earlier use of it fails is prepared again', async () => {
  await withClient(async (client) => {
    const send = asking(client)
    const own = 'select 1 / $1::int as own'
    for (let use = 0; use < 3; use++) await send(own, [1])
    const failing = assert.rejects(send(own, [0]), /division by zero/)
    const others = Array.from(
      { length: 1_200 },
      async (_, n) => await send(`select $1::int * ${n >> 1}`, [1]),
    )
    const again = [1, -1, 1].map(async (value) =>
      assert.deepEqual(await send(own, [value]), [[String(value)]]),
    )
    await Promise.all([failing, ...others, ...again])
    assert.deepEqual(await send(own, [1]), [['1']])
    const { names } = await preparedOn(client)
    assert.deepEqual(Object.keys(insideOf(client).connection.parsedStatements).sort(), names)
  })
})

test('prepared: ever new long statements leave a bounded length on the connection, and the longest nothing', async () => {
  await withClient(async (client) => {
    const send = asking(client)
    for (let n = 0; n < 100; n++) {
      const text = `select $1::int + ${n} /* ${'x'.repeat(n % 10 === 0 ? 20_000 : 8_000)} */`
      for (const value of [1, 2]) assert.deepEqual(await send(text, [value]), [[String(n + value)]])
    }
    const { count, characters, longest } = await preparedOn(client)
    assert.ok(count >= 10 && characters <= 256 * 1024, `${count} statements of ${characters} characters`)
    assert.ok(longest < 10_000, `one of ${longest} characters`)
  })
})

test(`prepared: statements that were closed are prepared again, many in flight, some failing (seed ${SEED})`, async () => {
  const chance = chanceFrom(SEED)
  await withClient(async (client) => {
    const send = asking(client)
    const texts = Array.from({ length: 900 }, (_, n) => {
      return `select $1::int + ${n}, 1 / ($1::int % 7) /* ${'x'.repeat(n % 5 === 0 ? 4_000 : 10)} */`
    })
    for (let round = 0; round < 60; round++) {
      const asked = Array.from({ length: 128 }, async () => {
        // Some texts are more frequent, as those of a service are.
        const n = chance(chance(10) < 5 ? 20 : texts.length)
        const value = 1 + chance(20)
        const answer = await send(texts[n]!, [value]).catch((error: Error) => error.message)
        if (value % 7 === 0) assert.equal(answer, 'division by zero')
        else assert.deepEqual(answer, [[String(value + n), String(Math.trunc(1 / (value % 7)))]])
      })
      await Promise.all(asked)
    }
    const { count, characters, names } = await preparedOn(client)
    assert.ok(count <= 500 && characters <= 256 * 1024, `${count} statements of ${characters} characters`)
    assert.deepEqual(Object.keys(insideOf(client).connection.parsedStatements).sort(), names)
  })
})

test('prepared: a transaction that has failed closes statements too', async () => {
  await withClient(async (client) => {
    const send = asking(client)
    const askTwice = async (n: number): Promise<void> => {
      for (let use = 0; use < 2; use++) assert.deepEqual(await send(`select ${n}`), [[String(n)]])
    }
    for (let n = 0; n < 480; n++) await askTwice(n)
    await client.query('begin')
    await assert.rejects(client.query('select 1 / 0'))
    for (let n = 480; n < 600; n++) {
      for (let use = 0; use < 2; use++) await assert.rejects(send(`select ${n}`), /aborted/)
    }
    await client.query('rollback')
    for (let n = 0; n < 600; n++) await askTwice(n)
    assert.ok((await preparedOn(client)).count <= 500)
  })
})

type Ask = (text: string, values?: readonly number[]) => Promise<readonly Row[]>

/** A text has a name from its second use on. */
function asking(client: pg.PoolClient): Ask {
  const names = createStatementNames()
  return (text, values = []) => ask(client, { text, values, name: names.nameOf(text) })
}

async function preparedOn(client: pg.PoolClient) {
  const { rows } = await client.query<{ name: string; length: number }>(
    'select name, length(statement) as length from pg_prepared_statements',
  )
  return {
    count: rows.length,
    names: rows.map(({ name }) => name).sort(),
    characters: rows.reduce((sum, { length }) => sum + length, 0),
    longest: Math.max(0, ...rows.map(({ length }) => length)),
  }
}

function insideOf(client: pg.PoolClient) {
  return client as unknown as { readonly connection: { readonly parsedStatements: Record<string, string> } }
}
