/** TLS to PostgreSQL: which servers are believed, who gets in, and that no connection goes another way. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { ReadPlan } from '../../../src/plan/plan.ts'
import { move } from '../../../src/service/move/move.ts'
import type { MoveError } from '../../../src/service/move/move-error.ts'
import { openConnections } from '../../../src/store/postgres/connection/connections.ts'
import { LocationError, readLocation } from '../../../src/store/postgres/connection/location.ts'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import type { Bounds } from '../../../src/store/bounds.ts'
import type { Database } from '../../../src/store/database.ts'
import { startPostgres } from '../../support/postgres.ts'
import { startTestServer } from '../../support/server.ts'
import { ADMIN, EVERYTHING, failLoudly, metadataDocument, openServiceAt } from '../../support/service.ts'
import { type SmaltProcess, startSmalt } from '../../support/smalt-process.ts'
import { freshPlace, useStore } from '../../support/store-kind.ts'
import { SCHEMA, type Stage, change, find, insert, openStage } from '../../store/contract.ts'
import { type Parameters, startTlsServer } from './tls-server.ts'
import { PROGRAM } from '../../support/program.ts'

useStore('postgres')
const BOUNDED = { timeout: 200_000 }
const PATIENT: Bounds = { timeLimitMs: 30_000 }

const server = await startTlsServer()
const { locationWith, superuser, sessionsOf, plainAttempts, files } = server
after(() => server[Symbol.asyncDispose]())

const VERIFIED = { sslmode: 'verify-full', sslrootcert: files.authority }
const IDENTIFIED = { ...VERIFIED, sslcert: files.cert, sslkey: files.key }
const SELF_MADE = { ...VERIFIED, sslcert: files.strangerCert, sslkey: files.strangerKey }

/** Another way to write 127.0.0.1, so that the same server is reached by a name that its certificate lacks. */
const MISNAMED = { host: '127.1' }

const REFUSED: readonly [rule: string, location: string, reason: RegExp][] = [
  ['a server that demands encryption lets nobody in without', locationWith({}), /no encryption/],
  ['sslmode=disable is no encryption', locationWith({ sslmode: 'disable' }), /no encryption/],
  [
    'a certificate of another authority is not believed',
    locationWith({ ...VERIFIED, sslrootcert: files.strangerCert }),
    /certificate/,
  ],
  [
    'a certificate of an authority that nobody knows is not believed',
    locationWith({ sslmode: 'verify-full' }),
    /certificate/,
  ],
  ['a certificate for another host is not believed', locationWith(VERIFIED, MISNAMED), /does not match/],
  [
    'verify-ca verifies the host too',
    locationWith({ ...VERIFIED, sslmode: 'verify-ca' }, MISNAMED),
    /does not match/,
  ],
  ['require verifies too', locationWith({ sslmode: 'require' }), /certificate/],
  [
    'an authority alone is verified',
    locationWith({ sslrootcert: files.authority }, MISNAMED),
    /does not match/,
  ],
  [
    'a user who needs a client certificate does not get in without',
    locationWith(VERIFIED, { user: 'ann' }),
    /certificate/,
  ],
  [
    'a client certificate of another user does not do',
    locationWith(IDENTIFIED, { user: 'bob' }),
    /authentication failed/,
  ],
  [
    'a client certificate made by oneself does not do',
    locationWith(SELF_MADE, { user: 'ann' }),
    // the server closes the connection right after it has said why
    /unknown ca|ECONNRESET|EPIPE|terminated/,
  ],
]
for (const [rule, location, reason] of REFUSED) {
  test(`ready: ${rule}`, BOUNDED, async () => {
    {
      await using store = openPostgresStore({ url: location })
      await assert.rejects(store.ping(), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'crud:Unavailable', String(error))
        assert.match(causesOf(error), reason)
        return true
      })
    }
    await using served = await startTestServer({ location })
    const ready = await served.ask('GET', '/ready')
    assert.match(ready.json.reason, /^the database cannot be reached/)
    const found = await served.ask('POST', '/data/find/item', { body: { projection: EVERYTHING } })
    assert.equal(found.json.errors[0].errorCode, 'crud:Unavailable', found.text)
    for (const { status, headers, text } of [ready, found]) {
      assert.deepEqual([status, headers['retry-after']], [503, '1'])
      assert.doesNotMatch(text, /127\.|local|hush|ssl|hba|certificate|encrypt|user|select|ERR_/i)
    }
    assert.deepEqual((await superuser.query(`select 1 from pg_namespace where nspname = 'smalt'`)).rows, [])
  })
}

test('ready: a server that does not speak TLS is out of reach where it is asked for', BOUNDED, async () => {
  await using plain = await startPostgres()
  for (const mode of ['verify-full', 'prefer', 'no-verify']) {
    await using store = openPostgresStore({ url: `${plain.url}?sslmode=${mode}` })
    await assert.rejects(store.ping(), (error: Error) => /does not support SSL/.test(causesOf(error)), mode)
  }
})

/** What the log shows: the error, and what led to it. */
function causesOf(error: unknown): string {
  return error instanceof Error ? `${error.message}\n${causesOf(error.cause)}` : ''
}

const ADMITTED: readonly [rule: string, location: string][] = [
  ['verify-full with the authority', locationWith({ ...VERIFIED, schema: 'full' })],
  ['verify-full by name', locationWith({ ...VERIFIED, schema: 'named' }, { host: 'localhost' })],
  ['require, which is the same', locationWith({ ...VERIFIED, sslmode: 'require', schema: 'required' })],
  ['no-verify', locationWith({ sslmode: 'no-verify', schema: 'unverified' })],
  ['no-verify by any name', locationWith({ sslmode: 'no-verify', schema: 'any' }, MISNAMED)],
  ['a client certificate', locationWith({ ...IDENTIFIED, schema: 'ann' }, { user: 'ann' })],
]
for (const [rule, location] of ADMITTED) {
  test(`ready: it is encrypted with ${rule}`, BOUNDED, async () => {
    const application = `smalt ${rule}`
    await using served = await startTestServer({ location: named(location, application) })
    const ready = await served.ask('GET', '/ready')
    assert.equal(ready.status, 200, ready.text)
    await served.define('item', { name: { type: 'string' } })
    const stored = await served.ask('PUT', '/data/insert/item', { body: { data: { name: 'a' } } })
    assert.equal(stored.status, 200, stored.text)
    const sessions = await sessionsOf(application)
    assert.ok(sessions.length > 0)
    for (const { version } of sessions) assert.equal(version, 'TLSv1.3')
    assert.deepEqual(served.faults(), [])
  })
}

test('ready: a renewed authority counts for the next connection', BOUNDED, async () => {
  const sslrootcert = join(files.directory, 'renewed.pem')
  copyFileSync(files.strangerCert, sslrootcert)
  await using store = openPostgresStore({
    url: locationWith({ ...VERIFIED, sslrootcert, schema: 'renewed' }),
  })
  await assert.rejects(store.ping(), { code: 'crud:Unavailable' })
  copyFileSync(files.authority, sslrootcert)
  await store.ping()
})

function named(location: string, application: string): string {
  const url = new URL(location)
  url.searchParams.set('application_name', application)
  return url.href
}

const { collection } = SCHEMA
const ALL: ReadPlan = { collection, sort: [], from: 0, counted: true, idType: 'string' }

/** A store whose schema and whose connections bear this name. */
function openStageAs(name: string): Promise<Stage> {
  const location = named(locationWith({ ...VERIFIED, schema: name }), name)
  return openStage({
    freshPlace: async () => ({ location, [Symbol.asyncDispose]: async () => undefined }),
    openAt: async (url) => openPostgresStore({ url }),
  })
}

/** Holds the documents of a stage for as long as the work takes. */
async function whileLocked(schema: string, work: () => Promise<void>): Promise<void> {
  const { rows } = await superuser.query<{ name: string }>(
    `select 'doc_' || no || '_' || generation || '_c' as name from ${schema}.smalt_collection where entity = 't'`,
  )
  await superuser.query(`begin; lock table ${schema}.${rows[0]!.name} in access exclusive mode`)
  try {
    await work()
  } finally {
    await superuser.query('rollback')
  }
}

const CANCELLED: Readonly<Record<string, (store: Database, bounds: Bounds) => Promise<unknown>>> = {
  find: (store, bounds) => store.find(ALL, () => undefined, bounds),
  stream: async (store, bounds) => {
    for await (const _ of store.stream(ALL, bounds));
  },
  insert: (store, bounds) => {
    const plan = { kind: 'insert', collection, idType: 'string', documents: [{ _id: 'late' }] } as const
    return store.write({ ...plan, atomic: false }, () => () => undefined, bounds)
  },
}
for (const [name, operation] of Object.entries(CANCELLED)) {
  test(`${name}: over its time it is stopped in the database over TLS too`, BOUNDED, async () => {
    const application = `cancelled_${name}`
    await using stage = await openStageAs(application)
    await insert(stage.store, '[{"_id":"a"}]')
    await whileLocked(application, async () => {
      await assert.rejects(operation(stage.store, { timeLimitMs: 100 }), { code: 'store-crud:Timeout' })
      const sessions = await sessionsOf(application)
      assert.ok(sessions.some(({ query }) => query.includes('pg_cancel_backend')))
      for (const { state, query, version } of sessions) {
        assert.notEqual(state, 'active', query)
        assert.equal(version, 'TLSv1.3', query)
      }
    })
    assert.equal((await find(stage.store)).matchCount, 1)
  })
}

/** The last statement of each connection that a store has. */
const KINDS: Readonly<Record<string, RegExp>> = {
  'of requests': / from doc_/,
  'of lookups': /has_schema_privilege/,
  'of streams': / where id = any\(\$1\) order by id$/,
  'that ends statements': /pg_cancel_backend/,
  'that hears of others': /^listen smalt_/,
  'that numbers events': /advisory_unlock/,
}

test('store: connections of every kind are encrypted, and none is tried without', BOUNDED, async () => {
  const before = plainAttempts()
  await using stage = await openStageAs('every_kind')
  const { store, location } = stage
  const documents = Array.from({ length: 2_000 }, (_, i) => ({ _id: `d${i}`, i }))
  await insert(store, JSON.stringify(documents))
  const heard = Promise.withResolvers<void>()
  store.metadata.onMetadataChange(heard.resolve)
  await until('every_kind', KINDS['that hears of others']!)
  {
    await using other = openPostgresStore({ url: location })
    await other.metadata.changeMetadata(await change(other))
  }
  await heard.promise
  await whileLocked('every_kind', () =>
    assert.rejects(
      store.find(ALL, () => undefined, { timeLimitMs: 50 }),
      { code: 'store-crud:Timeout' },
    ),
  )
  await store.events.eventBounds()
  await until('every_kind', KINDS['that numbers events']!)
  let isFirst = true
  for await (const _ of store.stream(ALL, PATIENT)) {
    if (!isFirst) continue
    isFirst = false
    await find(store, { query: { field: 'i', op: '=', rvalue: 5 } })
    await store.ping()
    const sessions = await sessionsOf('every_kind')
    for (const [kind, statement] of Object.entries(KINDS)) {
      assert.ok(
        sessions.some(({ query }) => statement.test(query)),
        `a connection ${kind} is there: ${JSON.stringify(sessions)}`,
      )
    }
    for (const { query, version } of sessions) assert.equal(version, 'TLSv1.3', query)
  }
  assert.ok(!isFirst)
  assert.equal(plainAttempts(), before)
})

/** Waits until a connection of the store has done this last. */
async function until(application: string, statement: RegExp): Promise<void> {
  for (const deadline = Date.now() + 60_000; ; await sleep(5)) {
    if ((await sessionsOf(application)).some(({ query }) => statement.test(query))) return
    assert.ok(Date.now() < deadline, `nobody asks ${statement}`)
  }
}

test('move: into a database and out of it, every connection is encrypted', BOUNDED, async () => {
  const before = plainAttempts()
  await using from = await freshPlace('sqlite')
  await using back = await freshPlace('sqlite')
  const moved = locationWith({ ...VERIFIED, sslmode: 'require', schema: 'moved' })
  {
    await using service = await openServiceAt(from.location)
    const info = { datastore: { backend: 'sqlite' } }
    const metadata = metadataDocument('item', { name: { type: 'string' } }, { info })
    await service.metadata.create(ADMIN, { entity: 'item', version: '1.0.0' }, metadata)
    await service.data.insert(ADMIN, { entity: 'item' }, { data: [{ name: 'a' }, { name: 'b' }] })
  }
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SMALT_')))
  for (const [source, target] of [
    [from.location, named(moved, 'moves in')],
    [named(moved, 'moves out'), back.location],
  ] as const) {
    const args = [PROGRAM, 'move', '--from', source, '--to', target, '--json']
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env })
    assert.equal(JSON.parse(stdout).documents, 2)
    assert.doesNotMatch(stderr, /warning/i)
  }
  for (const application of ['moves in', 'moves out']) {
    const lines = server.log().split('\n')
    const admitted = lines.filter((line) => line.includes(`application_name=${application}`))
    assert.ok(admitted.length > 0)
    for (const line of admitted) assert.match(line, /SSL enabled \(protocol=TLSv1\.3/)
  }
  assert.equal(plainAttempts(), before)
})

test('move: a server that is not believed is told with the reason', BOUNDED, async () => {
  await using from = await freshPlace('sqlite')
  await (await openServiceAt(from.location))[Symbol.asyncDispose]()
  const target = locationWith(VERIFIED, MISNAMED)
  await assert.rejects(move({ from: from.location, to: target }), (error: MoveError) => {
    assert.equal(error.reason, 'unreachable')
    assert.match(error.message, /cannot be reached.* \(.*does not match certificate's altnames/)
    return true
  })
})

test('smalt: it is ready over TLS', BOUNDED, async () => {
  await using smalt = await startSmalt(locationWith({ ...VERIFIED, schema: 'served' }))
  assert.equal((await smalt.ask('GET', '/ready')).status, 200)
})

test('smalt: a server that it cannot believe leaves it running, and the log tells why', BOUNDED, async () => {
  await using smalt = await startSmalt(locationWith(VERIFIED, MISNAMED))
  assert.equal((await smalt.ask('GET', '/ready')).status, 503)
  const warned = await logged(smalt, /does not match certificate's altnames/)
  assert.match(warned, /"level":"warn"/)
  assert.doesNotMatch(warned, /hush/)
})

async function logged({ lines }: SmaltProcess, pattern: RegExp): Promise<string> {
  for (const deadline = Date.now() + 60_000; ; await sleep(20)) {
    const line = lines().find(({ text }) => pattern.test(text))
    if (line) return line.text
    assert.ok(Date.now() < deadline, `the log lacks ${pattern}`)
  }
}

const MISTAKES: readonly [rule: string, parameters: Parameters, message: RegExp][] = [
  ['an unknown sslmode', { sslmode: 'verify' }, /sslmode takes one of disable, no-verify, .*, verify-full$/],
  [
    'an authority that is not there',
    { sslrootcert: join(files.directory, 'none') },
    /^sslrootcert names no file/,
  ],
  ['an authority that is a directory', { sslrootcert: files.directory }, /^sslrootcert names no file/],
  [
    'a key that is not there',
    { ...IDENTIFIED, sslkey: join(files.directory, 'none') },
    /^sslkey names no file/,
  ],
  ['a certificate without its key', { sslcert: files.strangerCert }, /^sslcert and sslkey come together/],
]
for (const [rule, parameters, message] of MISTAKES) {
  test(`location: ${rule} is refused at the start`, () => {
    const url = locationWith({ sslmode: 'verify-full', ...parameters })
    assert.throws(
      () => openPostgresStore({ url }),
      (error: Error) => {
        assert.ok(error instanceof LocationError)
        assert.match(error.message, message)
        return true
      },
    )
  })
}

test(
  'tls: statements that share a connection are encrypted, and have their own answers',
  BOUNDED,
  async () => {
    await using connections = openConnections(readLocation(locationWith(VERIFIED)), failLoudly)
    const { pipeline, release } = await connections.leasePipeline()
    try {
      const text = 'select $1::bigint * 2, (select ssl from pg_stat_ssl where pid = pg_backend_pid())'
      const latency = { note: () => undefined, exclude: () => undefined }
      const numbers = Array.from({ length: 50 }, (_, i) => i)
      const answers = await Promise.all(numbers.map((n) => pipeline.query({ text, values: [n] }, latency)))
      assert.deepEqual(
        answers,
        numbers.map((n) => [[String(2 * n), 't']]),
      )
    } finally {
      release()
    }
  },
)
