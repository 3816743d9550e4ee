/** Finds by id as on a cluster: a statement for each document, several of them on one connection. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { type Connections, openConnections } from '../../src/store/postgres/connection/connections.ts'
import { readLocation } from '../../src/store/postgres/connection/location.ts'
import { createSharedReads } from '../../src/store/postgres/read/shared-reads.ts'
import type { Table } from '../../src/store/postgres/schema/catalogue.ts'
import { freshDatabase } from '../support/postgres.ts'
import { failLoudly } from '../support/service.ts'

const BOUNDS = { timeLimitMs: 20_000 }
/** Far less than a cancellation for each of the statements would take, and far more than one takes. */
const SOON_MS = 10_000

interface Opened {
  readonly connections: Connections
  readonly schema: string
  /** A session beside them. */
  readonly other: pg.Client
}

async function opened(work: (opened: Opened) => Promise<void>): Promise<void> {
  await using database = await freshDatabase()
  const schema = new URL(database.url).searchParams.get('schema')!
  const url = new URL(database.url)
  url.searchParams.delete('schema')
  const other = new pg.Client({ connectionString: url.href })
  await other.connect()
  try {
    await other.query(`create schema ${schema}`)
    for (const name of ['locked', 'free']) {
      await other.query(`create table ${schema}.${name}(id text, version bigint, doc text, paths integer)`)
      await other.query(
        `insert into ${schema}.${name} select 'd' || n, n, '{"n":' || n || '}', 0 from generate_series(0, 199) n`,
      )
    }
    await using connections = openConnections(readLocation(database.url), failLoudly)
    await work({ connections, schema, other })
  } finally {
    await other.end()
  }
}

/** Requests share a connection if they are about the same table. */
const FREE = { name: 'free', isDistributed: true } as Table
const LOCKED = { name: 'locked', isDistributed: true } as Table

const NUMBER = { text: 'select $1::text', values: ['1'] }
const FAILING = { text: 'select 1 / $1::integer', values: ['0'] }

test('lookups: each statement has its own outcome', async () => {
  await opened(async ({ connections }) => {
    const results = await connections.lookUpAll([NUMBER, FAILING, NUMBER], 5_000)
    assert.deepEqual(results, [[['1']], undefined, [['1']]])
    assert.deepEqual(await connections.lookUpAll([NUMBER], 5_000), [[['1']]], 'and is used again')
  })
})

test('lookups: 200 at once are all found, also those that occur twice', async () => {
  await opened(async ({ connections }) => {
    const reads = createSharedReads(connections)
    const ids = Array.from({ length: 200 }, (_, n) => `d${n % 150}`)
    const found = await Promise.all([...ids, 'none'].map((id) => reads.find(FREE, id, BOUNDS)))
    assert.deepEqual(
      found.map((document) => document?.id),
      [...ids, undefined],
    )
  })
})

test('lookups: a locked table delays neither those of another one nor the end of a time limit', async () => {
  await opened(async ({ connections, schema, other }) => {
    const reads = createSharedReads(connections)
    await other.query('begin')
    await other.query(`lock table ${schema}.locked in access exclusive mode`)
    const began = performance.now()
    const waiting = Promise.allSettled(
      Array.from({ length: 100 }, (_, n) => reads.find(LOCKED, `d${n}`, { timeLimitMs: 1_000 })),
    )
    assert.equal((await reads.find(FREE, 'd7', BOUNDS))?.id, 'd7')
    for (const result of await waiting) assert.equal(result.status, 'rejected')
    const tookMs = performance.now() - began
    assert.ok(tookMs < SOON_MS, `${tookMs} ms`)
    await other.query('rollback')
    assert.equal((await reads.find(LOCKED, 'd7', BOUNDS))?.id, 'd7')
  })
})
