/** The private parts of the `pg` driver that connection/driver.ts depends on: each still does what it is used for. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import pg from 'pg'
import {
  backendOf,
  breakOff,
  sendingTogether,
  transactionStatus,
} from '../../src/store/postgres/connection/driver.ts'
import { ask, withClient } from './raw-client.ts'

/** The version whose sources were read. On another, compare `query.js`, `client.js` and `connection.js` with driver.ts. */
const REVIEWED = '8.23.1'

test('driver: the version is the one that was reviewed, and no other can be installed', () => {
  const { version } = createRequire(import.meta.url)('pg/package.json') as { readonly version: string }
  const own = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly dependencies: { readonly pg: string }
  }
  const advice =
    'read what changed in the driver, adapt connection/driver.ts, then change REVIEWED in this test'
  assert.equal(version, REVIEWED, advice)
  assert.equal(own.dependencies.pg, REVIEWED, 'package.json has to name the exact version')
})

/** The messages of one kind that the server sends. */
function received(client: pg.PoolClient, message: string): { count: number } {
  const seen = { count: 0 }
  const { connection } = client as unknown as { readonly connection: NodeJS.EventEmitter }
  connection.on(message, () => seen.count++)
  return seen
}

test('driver: a raw query gives columns as the server prints them, and asks for no description', async () => {
  await withClient(async (client) => {
    const descriptions = received(client, 'rowDescription')
    const values = [7n, 2.5, null, 'text']
    const text = 'select $1::bigint, $2::numeric, $3::text, $4::text, true'
    assert.deepEqual(await ask(client, { text, values }), [['7', '2.5', null, 'text', 't']])
    assert.deepEqual(await ask(client, { text, values, name: 'named' }), [['7', '2.5', null, 'text', 't']])
    assert.equal(descriptions.count, 0)
    assert.deepEqual(await ask(client, { text: 'select 1 union all select 2 order by 1' }), [['1'], ['2']])
  })
})

test('driver: a named statement is parsed once, though others of the name are sent before it is answered', async () => {
  await withClient(async (client) => {
    const parsed = received(client, 'parseComplete')
    const numbered = (n: number) => ask(client, { text: 'select $1::int', values: [n], name: 'numbered' })
    assert.deepEqual(await Promise.all([1, 2, 3].map(numbered)), [[['1']], [['2']], [['3']]])
    assert.deepEqual(await numbered(4), [['4']])
    assert.equal(parsed.count, 1)
    const text = 'select count(*) from pg_prepared_statements where name = $1'
    assert.deepEqual(await ask(client, { text, values: ['numbered'] }), [['1']])
  })
})

test('driver: a name whose statement could not be parsed is free again', async () => {
  await withClient(async (client) => {
    const later = () => ask(client, { text: 'select n from driver_later', name: 'later' })
    await assert.rejects(later(), /driver_later/)
    await client.query('create temporary table driver_later as select 7 as n')
    assert.deepEqual(await later(), [['7']])
  })
})

test('driver: the status of the transaction and the backend are those of the server', async () => {
  await withClient(async (client) => {
    assert.equal(transactionStatus(client), 'I')
    await client.query('begin')
    assert.equal(transactionStatus(client), 'T')
    await assert.rejects(ask(client, { text: 'select 1 / 0' }))
    // The server sends its status after the error, often in a packet of its own. It has arrived when
    // the next statement is answered.
    await assert.rejects(ask(client, { text: 'select 1' }), /aborted/)
    assert.equal(transactionStatus(client), 'E')
    await client.query('rollback')
    assert.equal(transactionStatus(client), 'I')
    assert.deepEqual(await ask(client, { text: 'select pg_backend_pid()' }), [[String(backendOf(client))]])
  })
})

test('driver: to break off fails what runs at once', async () => {
  await withClient(async (client) => {
    const running = assert.rejects(ask(client, { text: 'select pg_sleep(60)' }), (error) => {
      return error instanceof Error && !('severity' in error)
    })
    breakOff(client)
    await running
  })
})

test('driver: statements of one turn are sent together, and those of the next again', async () => {
  await withClient(async (client) => {
    const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection
    const sendTogether = sendingTogether(client)
    for (let turn = 0; turn < 2; turn++) {
      const asked = [1, 2, 3].map((n) => {
        sendTogether()
        return ask(client, { text: 'select $1::int', values: [n] })
      })
      assert.equal(stream.writableCorked, 1)
      assert.ok(stream.writableLength > 0)
      assert.deepEqual(await Promise.all(asked), [[['1']], [['2']], [['3']]])
      assert.equal(stream.writableCorked, 0)
    }
  })
})
