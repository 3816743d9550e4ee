/** The role that the documentation makes is enough for all that Smalt does, and good for nothing else. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import type { JsonObject } from '../../src/base/json/json.ts'
import { move } from '../../src/service/move/move.ts'
import { printResponse } from '../../src/service/response.ts'
import type { Service } from '../../src/service/service.ts'
import { blocksOf } from '../process/docs/page.ts'
import { NEARBY, eventually, sinkTo, taker } from '../service/http/sinks-kitchen.ts'
import { startPostgres } from '../support/postgres.ts'
import { ADMIN, EVERYTHING, codeOf, metadataDocument, openServiceAt } from '../support/service.ts'
import { useStore, freshPlace } from '../support/store-kind.ts'

useStore('postgres')
const BOUNDED = { timeout: 400_000 }

const [OWN_DATABASE, OWN_SCHEMA, ...FURTHER] = blocksOf('docs/how-to/run-on-postgresql.md')
  .filter(({ tag }) => tag === 'sql')
  .map(({ text }) => text.split(';').flatMap((statement) => statement.trim() || []))
assert.ok(OWN_DATABASE && OWN_SCHEMA && FURTHER.length === 0)

const server = await startPostgres({
  superuser: 'postgres',
  hba: ['host all all 127.0.0.1/32 scram-sha-256'],
})
after(() => server[Symbol.asyncDispose]())

/** Each by itself, since a database is not made inside a transaction. */
async function asSuperuser(database: string, ...statements: readonly string[]): Promise<readonly unknown[]> {
  const client = new pg.Client({ ...server.local, database })
  await client.connect()
  try {
    let rows: readonly unknown[] = []
    for (const statement of statements) rows = (await client.query(statement)).rows
    return rows
  } finally {
    await client.end()
  }
}

/** As the documentation starts the service. */
function locationIn(database: string): string {
  const { port } = new URL(server.url)
  return `postgres://smalt:change-me@127.0.0.1:${port}/${database}`
}

test('role: with a database of its own it does everything', BOUNDED, async () => {
  await asSuperuser('postgres', ...OWN_DATABASE, `create role other login password 'other'`)
  const location = locationIn('smalt')
  await doEverything(location)
  await asSuperuser('smalt', 'drop schema smalt cascade')
  await moveInto(location)
  await assertRefused(location, [...FOR_SUPERUSERS, 'create database more'])
  await assertRefused(location.replace('smalt:change-me', 'other:other'), ['select 1'])
  await asSuperuser('postgres', 'drop database smalt with (force)', 'drop role smalt')
})

test('role: with a schema of its own it does everything, and nothing elsewhere', BOUNDED, async () => {
  await asSuperuser('postgres', 'create database shop')
  await asSuperuser('shop', 'create schema accounts', 'create table accounts.account(name text)')
  await asSuperuser('shop', ...OWN_SCHEMA)
  const location = locationIn('shop')
  await doEverything(location)
  await asSuperuser('shop', 'drop schema smalt cascade', OWN_SCHEMA.at(-1)!)
  await moveInto(location)
  await beStoppedIn('shop', location)
  await assertRefused(location, [...FOR_SUPERUSERS, ...ELSEWHERE, 'create database more'])
  const made = await asSuperuser(
    'shop',
    `select relname from pg_class where relowner = 'smalt'::regrole
       and relnamespace not in ('smalt'::regnamespace, 'pg_toast'::regnamespace)`,
  )
  assert.deepEqual(made, [])
})

const FOR_SUPERUSERS = [
  'create role more',
  'alter role smalt superuser',
  'alter role smalt createrole',
  `alter role postgres password 'known'`,
  'alter system set log_connections = off',
  `copy (select 1) to program 'true'`,
  `select pg_read_file('PG_VERSION')`,
]

const ELSEWHERE = [
  'create schema more',
  'create table public.more(name text)',
  'create table accounts.more(name text)',
  'select * from accounts.account',
  `insert into accounts.account values ('me')`,
  'drop table accounts.account',
  'grant usage on schema accounts to smalt',
]

async function assertRefused(location: string, statements: readonly string[]): Promise<void> {
  for (const statement of statements) {
    const client = new pg.Client({ connectionString: location })
    const asked = client.connect().then(() => client.query(statement))
    // insufficient_privilege
    await assert.rejects(asked, { code: '42501' }, statement)
    await client.end()
  }
}

const FIELDS: JsonObject = {
  name: { type: 'string' },
  n: { type: 'integer' },
  tags: { type: 'array', items: { type: 'string' } },
  no: { type: 'integer', valueGenerator: { type: 'IntSequence', configuration: { name: 'numbers' } } },
}
const INDEXES: readonly JsonObject[] = [
  { name: 'names', unique: true, fields: [{ field: 'name', caseInsensitive: true }] },
  { name: 'tags', unique: false, fields: [{ field: 'tags.*' }] },
]
const WATCHED = { history: true, hooks: [{ name: 'all', actions: ['insert', 'update', 'delete'] }] }
const TARGET = { entity: 'item' }
const VERSION = { ...TARGET, version: '1.0.0' }

/** Begins in a place without tables, and leaves one in use. */
async function doEverything(location: string): Promise<void> {
  await using receiver = await taker()
  await using service = await openServiceAt(location, { events: NEARBY })
  await service.ready()
  await service.metadata.create(ADMIN, VERSION, metadataDocument('item', FIELDS, { info: WATCHED }))
  await service.sinks.create(ADMIN, sinkTo(receiver.url))
  await write(service)
  // with documents in the table they are built while others write
  const { entityInfo } = metadataDocument('item', FIELDS, { info: { ...WATCHED, indexes: [...INDEXES] } })
  await service.metadata.updateInfo(ADMIN, 'item', entityInfo)
  await write(service)
  await read(service)
  await eventually(() => receiver.taken.length >= 6, 'a sink receives events')
  await service.sinks.remove(ADMIN, 'kitchen')
  await changeMetadata(service)
}

async function write({ data }: Service): Promise<void> {
  const one = { field: 'name', op: '=', rvalue: 'a' }
  const two = [
    { name: 'a', n: 1, tags: ['x', 'y'], no: null },
    { name: 'b', n: 2, tags: ['x'], no: null },
  ]
  await complete(data.insert(ADMIN, TARGET, { data: two }))
  await complete(data.save(ADMIN, TARGET, { data: { _id: 'saved', name: 'c', n: 3 }, upsert: true }))
  await complete(data.update(ADMIN, TARGET, { query: one, update: { $add: { n: 1 } } }))
  await complete(data.update(ADMIN, TARGET, { query: { $and: [] }, update: { $append: { tags: 'z' } } }))
  const requests = [
    { seq: 1, op: 'insert', request: { ...TARGET, data: { name: 'd' } } },
    { seq: 2, op: 'delete', request: { ...TARGET, query: { field: 'name', op: '=', rvalue: 'd' } } },
  ]
  assert.doesNotMatch(await data.bulk(ADMIN, { requests, atomic: true }), /"ERROR"/)
  await complete(data.delete(ADMIN, TARGET, { query: { field: 'name', op: '$in', values: ['a', 'b'] } }))
  await complete(data.generate(ADMIN, TARGET, 'no', '3'))
  for (const operation of ['acquire', 'ping', 'count', 'release']) {
    await data.lock(ADMIN, { operation, domain: 'd', callerId: 'c', resourceId: 'r' })
  }
}

async function read({ data, events }: Service): Promise<void> {
  const asOf = new Date().toISOString()
  for (const query of [
    { field: 'name', regex: '^C', caseInsensitive: true },
    { field: 'tags.*', op: '=', rvalue: 'z' },
  ]) {
    for (const body of [
      { query, projection: EVERYTHING },
      { query, projection: EVERYTHING, asOf },
    ]) {
      await complete(data.find(ADMIN, TARGET, body))
      await complete(data.explain(ADMIN, TARGET, body))
      const lines = await data.stream(ADMIN, TARGET, body)
      assert.ok(Symbol.asyncIterator in lines)
      for await (const line of lines) assert.ok(line.length > 0)
    }
  }
  const past = await data.history(ADMIN, { ...TARGET, id: 'saved' }, new URLSearchParams())
  assert.ok(past.matchCount > 1, printResponse(past))
  const page = await events.read(ADMIN, new URLSearchParams('wait=5'))
  assert.ok(page.events.length > 0)
}

async function changeMetadata({ metadata }: Service): Promise<void> {
  await metadata.updateInfo(ADMIN, 'item', metadataDocument('item', FIELDS)['entityInfo'])
  assert.ok(JSON.stringify(await metadata.history(ADMIN, 'item')).length > 2)
  await metadata.clearDefault(ADMIN, 'item')
  await metadata.setStatus(ADMIN, VERSION, { status: 'disabled' })
  await metadata.remove(ADMIN, 'item', { documents: 'delete' })
}

async function moveInto(location: string): Promise<void> {
  await using source = await freshPlace('sqlite')
  {
    await using service = await openServiceAt(source.location)
    const info = { ...WATCHED, indexes: [...INDEXES], datastore: { backend: 'sqlite' } }
    await service.metadata.create(ADMIN, VERSION, metadataDocument('item', FIELDS, { info }))
    await write(service)
  }
  assert.equal((await move({ from: source.location, to: location })).documents, 1)
  await using service = await openServiceAt(location)
  await complete(service.data.insert(ADMIN, TARGET, { data: { name: 'more', no: null } }))
  await read(service)
}

/** To end a statement takes a right too: that to one's own sessions, which every role has. */
async function beStoppedIn(database: string, location: string): Promise<void> {
  const client = new pg.Client({ ...server.local, database })
  await client.connect()
  const { rows } = await client.query<{ name: string }>(
    `select 'doc_' || no || '_' || generation || '_c' as name from smalt.smalt_collection where entity = 'item'`,
  )
  await client.query(`begin; lock table smalt.${rows[0]!.name} in access exclusive mode`)
  await using service = await openServiceAt(location, { limits: { queryTimeMs: 200 } })
  const body = { query: { field: 'n', op: '>', rvalue: 0 }, projection: EVERYTHING }
  assert.equal(codeOf(await service.data.find(ADMIN, TARGET, body)), 'store-crud:Timeout')
  const active = `select query from pg_stat_activity where usename = 'smalt' and wait_event_type = 'Lock'`
  assert.deepEqual((await client.query(active)).rows, [])
  await client.end()
}

type Answer = Parameters<typeof printResponse>[0]

async function complete(answer: Promise<Answer>): Promise<void> {
  const response = await answer
  assert.equal(response.status, 'COMPLETE', printResponse(response))
}
