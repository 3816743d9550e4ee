import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { openMode } from '../../src/auth/open.ts'
import { logTo } from '../../src/http/observe/log.ts'
import { createMetrics } from '../../src/http/observe/metrics.ts'
import { startServer } from '../../src/http/server.ts'
import { openService } from '../../src/service/open.ts'
import type { Service } from '../../src/service/service.ts'
import { startPostgres } from '../support/postgres.ts'
import { type Answer, type Ask, askServer } from '../support/server.ts'
import { ANYONE } from '../support/service.ts'

interface Served extends AsyncDisposable {
  readonly service: Service
  readonly ask: (method: string, path: string, ask?: Ask) => Promise<Answer>
  /** Asks again until the answer has this status. */
  readonly askUntil: (status: number, method: string, path: string, ask?: Ask) => Promise<Answer>
}

async function serve(
  location: string,
  onInternalError: (error: unknown) => void = () => undefined,
): Promise<Served> {
  const service = await openService({
    datasources: [{ name: 'default', location }],
    limits: DEFAULT_LIMITS,
    onInternalError,
  })
  const server = await startServer({
    service,
    limits: DEFAULT_LIMITS,
    auth: openMode(),
    log: logTo({ write: () => undefined }, 'silent'),
    metrics: createMetrics(),
    host: '127.0.0.1',
    port: 0,
    overload: { isOverloaded: () => false, close: () => undefined },
  })
  const ask = (method: string, path: string, ask: Ask = {}) =>
    askServer({ port: server.port }, method, path, ask)
  return {
    service,
    ask,
    async askUntil(status, method, path, asked) {
      for (const deadline = Date.now() + 60_000; ; await sleep(20)) {
        const answer = await ask(method, path, asked)
        if (answer.status === status) return answer
        assert.ok(Date.now() < deadline, `${method} ${path} goes on answering ${answer.text}`)
      }
    },
    async [Symbol.asyncDispose]() {
      await server.close()
      await service[Symbol.asyncDispose]()
    },
  }
}

const ITEM = {
  entityInfo: { name: 'item', defaultVersion: '1.0.0', datastore: { backend: 'postgres' } },
  schema: {
    name: 'item',
    version: { value: '1.0.0', changelog: 'first' },
    status: { value: 'active' },
    access: ANYONE,
    fields: { name: { type: 'string' } },
  },
}
const REMEMBERED = { ...ITEM, entityInfo: { ...ITEM.entityInfo, history: true } }
const FIND = { query: { field: 'name', op: '=', rvalue: 'a' }, projection: { field: 'name' } }

test('start: without its database the service answers 503 with a reason, and recovers unaided', async () => {
  await using database = await startPostgres()
  await database.kill('SIGINT')
  await using served = await serve(database.url)
  const { ask, askUntil } = served

  await assert.rejects(served.service.ready(), { code: 'crud:Unavailable' })
  const ready = await ask('GET', '/ready')
  assert.deepEqual([ready.status, ready.headers['retry-after']], [503, '1'])
  assert.ok(ready.json.reason.length > 0)
  assert.doesNotMatch(ready.text, /127\.0\.0\.1|localhost|ECONN|select/i)
  assert.equal((await ask('GET', '/health')).status, 200)
  const refused: readonly [method: string, path: string, body?: object][] = [
    ['POST', '/data/find/item', FIND],
    ['PUT', '/data/insert/item', { data: { name: 'a' } }],
    ['GET', '/metadata'],
    ['GET', '/metadata/item/1.0.0'],
    ['PUT', '/metadata/item/1.0.0', ITEM],
    [
      'POST',
      '/data/bulk',
      { atomic: true, requests: [{ seq: 1, op: 'find', request: { entity: 'item', ...FIND } }] },
    ],
    ['POST', '/data/lock', { operation: 'acquire', domain: 'd', callerId: 'c', resourceId: 'r' }],
  ]
  for (const [method, path, body] of refused) {
    const answer = await ask(method, path, body ? { body: JSON.parse(JSON.stringify(body)) } : {})
    assert.deepEqual([path, answer.status, answer.headers['retry-after']], [path, 503, '1'], answer.text)
    assert.match(answer.text, /"crud:Unavailable"/)
    assert.doesNotMatch(answer.text, /127\.0\.0\.1|ECONN/)
  }

  await database.restart()
  await askUntil(200, 'GET', '/ready')
  assert.match((await ask('GET', '/metadata')).text, /"savedSearch"/)
  assert.equal((await ask('PUT', '/metadata/item/1.0.0', { body: ITEM })).status, 200)
  assert.equal((await ask('PUT', '/data/insert/item', { body: { data: { name: 'a' } } })).status, 200)
})

test('service: a database that goes away and comes back stops requests only as long as it is away', async () => {
  await using database = await startPostgres({ durable: true })
  await using served = await serve(database.url)
  const { ask, askUntil } = served
  assert.equal((await ask('PUT', '/metadata/item/1.0.0', { body: ITEM })).status, 200)
  assert.equal((await ask('PUT', '/data/insert/item', { body: { data: { name: 'a' } } })).status, 200)

  await database.kill('SIGKILL')
  const away = await askUntil(503, 'POST', '/data/find/item', { body: FIND })
  assert.match(away.text, /"crud:Unavailable"/)
  await askUntil(503, 'GET', '/ready')
  // what is known without the database is still told
  assert.equal((await ask('GET', '/metadata/item/1.0.0')).status, 200)

  await database.restart()
  const back = await askUntil(200, 'POST', '/data/find/item', { body: FIND })
  assert.equal(back.json.matchCount, 1)
  await askUntil(200, 'GET', '/ready')
})

test('rights: a role that loses them on its tables is answered with 503, and /ready notices', async () => {
  await using database = await startPostgres({ superuser: 'postgres' })
  const superuser = new pg.Client(database.local)
  await superuser.connect()
  try {
    await superuser.query('create role keeper login; create schema smalt authorization keeper')
    const errors: string[] = []
    const location = database.url.replace('postgres@', 'keeper@')
    await using served = await serve(location, (error) => errors.push(String(error)))
    const { ask, askUntil } = served
    assert.equal((await ask('PUT', '/metadata/item/1.0.0', { body: REMEMBERED })).status, 200)
    // tables of another application that shares the schema
    await superuser.query('create table smalt.doc_types(n int); create table smalt.claim_forms(n int)')
    assert.equal((await ask('GET', '/ready')).status, 200)
    const { rows } = await superuser.query<{ name: string }>(
      `select tablename as name from pg_tables where tablename ~ '^(claim|past)_[0-9]+$' and tablename <> 'claim_1'`,
    )
    assert.equal(rows.length, 2)
    for (const { name: table } of rows) {
      await superuser.query(`revoke update on smalt.${table} from keeper`)
      await askUntil(503, 'GET', '/ready')
      await superuser.query(`grant update on smalt.${table} to keeper`)
      await askUntil(200, 'GET', '/ready')
    }
    await superuser.query('revoke all on all tables in schema smalt from keeper')
    await askUntil(503, 'GET', '/ready')
    const writes = await ask('PUT', '/data/insert/item', { body: { data: { name: 'a' } } })
    for (const answer of [await ask('POST', '/data/find/item', { body: FIND }), writes]) {
      assert.equal(answer.status, 503, answer.text)
      assert.equal(answer.json.errors[0].errorCode, 'crud:Unavailable')
      assert.match(answer.text, /the database refuses the service access to its tables/)
      assert.doesNotMatch(answer.text, /permission denied|doc_/)
    }
    assert.ok(errors.some((error) => /permission denied for table doc_/.test(error)))
    await superuser.query('grant select, insert, update on all tables in schema smalt to keeper')
    assert.equal((await ask('POST', '/data/find/item', { body: FIND })).status, 200)
    assert.equal((await askUntil(503, 'GET', '/ready')).status, 503)
    await superuser.query('grant all on all tables in schema smalt to keeper')
    await askUntil(200, 'GET', '/ready')
  } finally {
    await superuser.end()
  }
})
