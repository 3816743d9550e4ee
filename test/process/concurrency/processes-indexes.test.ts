/** A unique index that one process adds while another goes on writing: it holds for all documents, or is refused. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { checkClaims } from '../../support/postgres-claims.ts'
import { freshDatabase, rowsOf } from '../../support/postgres.ts'
import type { Answer } from '../../support/server.ts'
import { metadataDocument } from '../../support/service.ts'
import { type SmaltProcess, startSmalt } from '../../support/smalt-process.ts'
import { useStore } from '../../support/store-kind.ts'

useStore('postgres')

const BOUNDED = { timeout: 400_000 }
const COUNT = 4_000
const UNIQUE = { name: 'codes', unique: true, fields: [{ field: 'code', dir: '$asc' }] }

let database: Awaited<ReturnType<typeof freshDatabase>>
let writer: SmaltProcess
let builder: SmaltProcess

before(async () => {
  database = await freshDatabase()
  ;[writer, builder] = await Promise.all([startSmalt(database.url), startSmalt(database.url)])
}, BOUNDED)
after(async () => {
  for (const each of [writer, builder]) await each[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

function ok(answer: Answer): Answer {
  assert.equal(answer.status, 200, answer.text)
  return answer
}

/** An entity with thousands of documents. */
async function define(entity: string, codeOf: (i: number) => string): Promise<void> {
  const fields = { _id: { type: 'string' }, code: { type: 'string' } }
  ok(await writer.ask('PUT', `/metadata/${entity}/1.0.0`, metadataDocument(entity, fields)))
  const data = Array.from({ length: COUNT }, (_, i) => ({ _id: `d${i}`, code: codeOf(i) }))
  assert.equal(ok(await writer.ask('PUT', `/data/insert/${entity}`, { data })).json.modifiedCount, COUNT)
  while ((await builder.ask('GET', `/metadata/${entity}/1.0.0`)).status !== 200) await sleep(10)
}

function setIndexes(process: SmaltProcess, entity: string, indexes: readonly JsonObject[]): Promise<Answer> {
  const body = {
    name: entity,
    defaultVersion: '1.0.0',
    datastore: { backend: 'postgres' },
    indexes: [...indexes],
  }
  return process.ask('PUT', `/metadata/${entity}`, body)
}

const query = (_id: string): JsonObject => ({ field: '_id', op: '=', rvalue: _id })

/** What a writer does meanwhile, step by step. */
const WRITERS: Readonly<Record<string, (entity: string, i: number) => Promise<Answer>>> = {
  'inserts others': (entity, i) =>
    writer.ask('PUT', `/data/insert/${entity}`, { data: { _id: `new${i}`, code: `new${i}` } }),
  'inserts repetitions': (entity, i) => {
    const code = i % 4 === 0 ? `c${i}` : `new${i}`
    return writer.ask('PUT', `/data/insert/${entity}`, { data: { _id: `new${i}`, code } })
  },
  'changes values': (entity, i) =>
    writer.ask('POST', `/data/update/${entity}`, {
      query: query(`d${(i * 37) % COUNT}`),
      update: { $set: { code: `moved${i}` } },
    }),
  'gives values on': async (entity, i) => {
    const from = (i * 37) % COUNT
    ok(await writer.ask('POST', `/data/delete/${entity}`, { query: query(`d${from}`) }))
    return await writer.ask('PUT', `/data/insert/${entity}`, { data: { _id: `heir${i}`, code: `c${from}` } })
  },
}

for (const [what, step] of Object.entries(WRITERS)) {
  test(`index: a unique one is added while another process ${what}`, BOUNDED, async (t) => {
    const entity = what.replaceAll(' ', '_')
    await define(entity, (i) => `c${i}`)
    const state = { isDone: false }
    const changing = setIndexes(builder, entity, [UNIQUE]).finally(() => (state.isDone = true))
    let steps = 0
    let longestMs = 0
    while (!state.isDone || steps < 20) {
      const began = performance.now()
      const answer = ok(await step(entity, steps++))
      longestMs = Math.max(longestMs, performance.now() - began)
      const codes = answer.json.dataErrors?.map(codeIn) ?? []
      assert.ok(
        codes.every((code: string) => code === 'store-crud:Duplicate'),
        answer.text,
      )
    }
    const changed = await changing
    t.diagnostic(`${changed.status} after ${steps} steps, the longest of ${Math.round(longestMs)} ms`)
    if (what !== 'inserts repetitions') assert.equal(changed.status, 200, changed.text)
    else assert.ok([200, 422].includes(changed.status), changed.text)
    await checkIndex(entity, changed)
  })
}

function codeIn({ errors }: { readonly errors: readonly { readonly errorCode: string }[] }): string {
  return errors[0]!.errorCode
}

/** Either no two documents share a value and none can come, or everything is as before. */
async function checkIndex(entity: string, changed: Answer): Promise<void> {
  const documents: readonly JsonObject[] = ok(await writer.ask('GET', `/data/find/${entity}`)).json.processed
  const codes = documents.map(({ code }) => code)
  if (changed.status === 200) assert.equal(new Set(codes).size, codes.length)
  else assert.match(changed.text, /metadata:InvalidIndex/)
  await checkClaims(database.url)
  for (const [i, process] of [writer, builder].entries()) {
    const data = { _id: `again${i}`, code: codes[i]! }
    const again = ok(await process.ask('PUT', `/data/insert/${entity}`, { data }))
    assert.equal(again.json.status, changed.status === 200 ? 'ERROR' : 'COMPLETE', again.text)
  }
}

test(
  'index: a unique one is refused while values repeat, and the other process goes on as before',
  BOUNDED,
  async () => {
    await define('repeated', (i) => `c${i % (COUNT - 1)}`)
    const refused = await setIndexes(builder, 'repeated', [UNIQUE])
    assert.equal(refused.status, 422, refused.text)
    for (const [i, process] of [writer, builder].entries()) {
      const inserted = await process.ask('PUT', '/data/insert/repeated', {
        data: { _id: `r${i}`, code: 'c5' },
      })
      assert.equal(ok(inserted).json.status, 'COMPLETE', inserted.text)
    }
    assert.equal(await leftBehind(), 0)
    await checkClaims(database.url)
  },
)

test('index: two processes that add one at the same time end with one index', BOUNDED, async () => {
  await define('contended', (i) => `c${i}`)
  const answers = await Promise.all([writer, builder].map((each) => setIndexes(each, 'contended', [UNIQUE])))
  const statuses = answers.map(({ status }) => status).toSorted()
  assert.ok(['200,200', '200,409'].includes(statuses.join()), answers.map(({ text }) => text).join('\n'))
  assert.equal(await leftBehind(), 0)
  await checkIndex(
    'contended',
    answers.find(({ status }) => status === 200)!,
  )
})

test('index: a reader who takes their time does not make writers wait', BOUNDED, async (t) => {
  await define('streamed', (i) => `c${i}`)
  const place = new URL(database.url)
  const reader = new pg.Client({ connectionString: place.href.replace(/\?.*/, '') })
  await reader.connect()
  try {
    const [table] = await rowsOf(
      database.url,
      (schema) => `select 'doc_' || no || '_' || generation || '_c' as name from ${schema}.smalt_collection
        where entity = 'streamed'`,
    )
    // as a stream does that nobody reads on
    await reader.query('begin')
    await reader.query(`select 1 from ${place.searchParams.get('schema')}.${String(table!['name'])} limit 1`)
    const state = { isDone: false }
    const changing = setIndexes(builder, 'streamed', [UNIQUE]).finally(() => (state.isDone = true))
    let longestMs = 0
    for (let i = 0; !state.isDone; i++) {
      const began = performance.now()
      ok(await writer.ask('PUT', '/data/insert/streamed', { data: { _id: `s${i}`, code: `s${i}` } }))
      longestMs = Math.max(longestMs, performance.now() - began)
      // whoever waits in line would still be met
      await sleep(25)
    }
    t.diagnostic(`the longest insert took ${Math.round(longestMs)} ms`)
    assert.ok(longestMs < 8_000, `${longestMs} ms`)
    assert.ok([200, 503].includes((await changing).status), (await changing).text)
  } finally {
    await reader.end()
  }
})

test('index: what a killed process left half built is taken away by the next one', BOUNDED, async () => {
  await define('halved', (i) => `c${i}`)
  const victim = await startSmalt(database.url)
  setIndexes(victim, 'halved', [UNIQUE]).catch(() => undefined)
  while ((await leftBehind()) === 0) await sleep(1)
  await victim.kill('SIGKILL')
  const insert = async (process: SmaltProcess, _id: string, code: string): Promise<string> =>
    ok(await process.ask('PUT', '/data/insert/halved', { data: { _id, code } })).json.status
  // somebody goes on writing beside what was left behind
  assert.equal(await insert(writer, 'w1', 'w1'), 'COMPLETE')
  await using next = await startSmalt(database.url)
  for (const [i, process] of [writer, builder, next].entries())
    assert.equal(await insert(process, `x${i}`, 'c1'), 'COMPLETE')
  assert.equal(await leftBehind(), 0)
  await checkClaims(database.url)
  const indexes = await rowsOf(
    database.url,
    (schema) => `select indexname from pg_indexes where schemaname = '${schema}' and indexname like 'idx%'
      and indexname not in (select 'idx_' || no from ${schema}.smalt_index)`,
  )
  assert.deepEqual(indexes, [])
})

test(
  'index: what was left half built does not keep a process from starting while its table is in use',
  BOUNDED,
  async () => {
    await define('dumped', (i) => `c${i}`)
    const place = new URL(database.url)
    const dump = new pg.Client({
      connectionString: place.href.replace(/\?.*/, ''),
      options: `-c search_path=${place.searchParams.get('schema')}`,
    })
    await dump.connect()
    try {
      // as a process leaves it that was killed
      await dump.query(`insert into smalt_index(no, collection, definition, state)
      select 1000000, no, '${JSON.stringify(HALF_BUILT)}', 'building' from smalt_collection where entity = 'dumped'`)
      const { rows } = await dump.query<{ name: string }>(
        `select 'doc_' || no || '_' || generation || '_c' as name from smalt_collection where entity = 'dumped'`,
      )
      await dump.query(`create index idx_1000000 on ${rows[0]!.name}(id)`)
      await dump.query('begin')
      await dump.query(`lock table ${rows[0]!.name} in access share mode`)
      const attempts = new Set<string>()
      const watch = new AbortController()
      const watching = (async () => {
        for (; !watch.signal.aborted; await sleep(20)) {
          const waiting = await dump.query<{ id: string }>(
            `select virtualtransaction as id from pg_locks where not granted and relation = '${rows[0]!.name}'::regclass`,
          )
          for (const { id } of waiting.rows) attempts.add(id)
        }
      })()
      await using next = await startSmalt(database.url)
      const find = () => next.ask('POST', '/data/find/dumped', { projection: { field: '*' }, range: [0, 1] })
      const deadline = Date.now() + 40_000
      while ((await find()).status === 503 && Date.now() < deadline) await sleep(50)
      watch.abort()
      await watching
      ok(await find())
      // everybody else who uses the table waits behind each attempt to lock it
      assert.ok(attempts.size < 10, `${attempts.size} attempts to lock the table`)
      assert.equal(await leftBehind(), 1)
      await dump.query('commit')
      while ((await leftBehind()) > 0) await sleep(50)
    } finally {
      await dump.end()
    }
  },
)

const HALF_BUILT = {
  unique: false,
  fields: [{ path: 'code', type: 'string', descending: false, caseInsensitive: false }],
}

/** How many indexes are said to be under construction. */
async function leftBehind(): Promise<number> {
  const [row] = await rowsOf(
    database.url,
    (schema) => `select count(*)::int as n from ${schema}.smalt_index where state <> 'ready'`,
  )
  return Number(row!['n'])
}
