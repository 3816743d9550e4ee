/** A database killed at any moment loses nothing that was acknowledged, and nobody waits for it in vain. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { chanceFrom } from '../../support/seeded.ts'
import { checkClaims } from '../../support/postgres-claims.ts'
import { startPostgres } from '../../support/postgres.ts'
import { SEED } from '../../support/seed.ts'
import type { Answer } from '../../support/server.ts'
import { metadataDocument } from '../../support/service.ts'
import { type LogLine, type SmaltProcess, startSmalt } from '../../support/smalt-process.ts'
import { Ledger } from './ledger.ts'
import { useStore } from '../../support/store-kind.ts'

useStore('postgres')

const ROUNDS = 5
const CLIENTS = 6
const PROMPT_MS = 8_000
/** Far more than it takes: what hangs must end all the same. */
const BOUNDED = { timeout: 500_000 }

test(
  `crash: ${ROUNDS} kills of the database lose nothing acknowledged, double nothing, halve nothing (SMALT_SEED=${SEED})`,
  BOUNDED,
  async (t) => {
    const chance = chanceFrom(SEED)
    await using database = await startPostgres({ durable: true })
    await using smalt = await startSmalt(database.url)
    await define(smalt)
    const ledger = new Ledger(CLIENTS)
    for (let round = 0; round < ROUNDS; round++) {
      const isOver = { value: false }
      const writing = Promise.all(
        Array.from({ length: CLIENTS }, (_, client) => write(smalt, { ledger, client, isOver })),
      )
      // it is waited for later, when what fails first has been told
      writing.catch(() => undefined)
      await sleep(150 + chance(1_200))
      // the second leaves nobody the time to finish a commit
      await database.kill(round % 2 === 0 ? 'SIGKILL' : 'SIGQUIT')
      await checkOutage(smalt)
      await database.restart()
      const ready = await readyUntil(smalt, 200)
      assert.deepEqual(ready.json, { status: 'ready' })
      isOver.value = true
      await writing
      await ledger.check(smalt, `round ${round}`)
      assert.ok((await checkClaims(database.url)) > 0)
    }
    t.diagnostic(ledger.summary())
    assert.ok(ledger.counts.done > 100 && ledger.counts.not > 0, ledger.summary())
    checkLog(smalt, database.url)
  },
)

async function define(smalt: SmaltProcess): Promise<void> {
  const number = { type: 'integer' }
  const entities = {
    entry: {
      fields: {
        batch: number,
        place: number,
        code: { type: 'string' },
        list: { type: 'array', items: number },
      },
      info: { indexes: [{ unique: true, fields: [{ field: 'code' }] }] },
    },
    counter: { fields: { _id: { type: 'string' }, n: number }, info: {} },
    note: {
      fields: {
        _id: { type: 'string', constraints: { identity: true } },
        v: number,
        code: { type: 'string' },
      },
      info: { indexes: [{ unique: true, fields: [{ field: 'code' }] }] },
    },
  }
  for (const [entity, { fields, info }] of Object.entries(entities)) {
    const body = metadataDocument(entity, fields, { info })
    const answer = await smalt.ask('PUT', `/metadata/${entity}/1.0.0`, body)
    assert.equal(answer.status, 200, answer.text)
  }
  const data = Array.from({ length: CLIENTS }, (_, client) =>
    ['a', 'b', 'c'].map((each) => ({ _id: `${each}${client}`, n: 0 })),
  ).flat()
  const answer = await smalt.ask('PUT', '/data/insert/counter', { data })
  assert.equal(answer.json.modifiedCount, data.length, answer.text)
}

/** One client: one request after the other, of all kinds, until all is over. */
async function write(
  smalt: SmaltProcess,
  {
    ledger,
    client,
    isOver,
  }: { readonly ledger: Ledger; readonly client: number; readonly isOver: { readonly value: boolean } },
): Promise<void> {
  while (!isOver.value) {
    const { path, method, body, note } = ledger.next(client)
    const began = performance.now()
    const answer = await smalt.ask(method, path, body)
    const took = performance.now() - began
    assert.ok(took < PROMPT_MS, `${path} was answered after ${took} ms: ${answer.text}`)
    if (answer.status === 200) note(answer.json)
    else {
      if (answer.status === 500) assert.fail(`${answer.text}\n${await faultsOf(smalt)}`)
      checkRefusal(answer, path)
      note(answer.text.includes('store-crud:OutcomeUnknown') ? 'unknown' : 'not')
      // somebody told to try again soon does not try at once
      await sleep(20)
    }
  }
}

async function faultsOf(smalt: SmaltProcess): Promise<string> {
  // lines of the log come in batches
  await sleep(1_000)
  const faults = smalt.lines().filter((line) => isError(line))
  return faults.map(({ text }) => text).join('\n')
}

/** Nothing happened, and it may be tried again soon; or nobody knows, and then it must not be. */
function checkRefusal({ status, headers, text }: Answer, what: string): void {
  const isUnknown = text.includes('"store-crud:OutcomeUnknown"')
  const expected = isUnknown ? [what, 504, undefined] : [what, 503, '1']
  assert.deepEqual([what, status, headers['retry-after']], expected, text)
  assert.match(text, /"crud:Unavailable"|"store-crud:OutcomeUnknown"/)
  assert.doesNotMatch(text, TELLTALE)
}

/** Addresses, statements, tables, what the system calls its errors. */
const TELLTALE =
  /127\.0\.0\.1|localhost|ECONN|EPIPE|\bselect\b|insert into|\bdoc_\d|claim_\d|smalt_|postgres|terminat/i

/** While the database is away, everything that needs it is refused at once. */
async function checkOutage(smalt: SmaltProcess): Promise<void> {
  const requests: readonly [method: string, path: string, body?: object][] = [
    [
      'POST',
      '/data/find/entry',
      { query: { field: 'batch', op: '=', rvalue: 1 }, projection: { field: '*' } },
    ],
    [
      'POST',
      '/data/find/note',
      { query: { field: '_id', op: '=', rvalue: 'x' }, projection: { field: '*' } },
    ],
    ['POST', '/data/find/entry?stream=true', { projection: { field: '*' } }],
    ['PUT', '/data/insert/entry', { data: { batch: -1, place: 0, code: 'outage' } }],
    [
      'POST',
      '/data/update/counter',
      { query: { field: '_id', op: '=', rvalue: 'none' }, update: { $add: { n: 1 } } },
    ],
    ['POST', '/data/save/note', { data: { _id: 'outage', v: 1 }, upsert: true }],
    ['POST', '/data/delete/entry', { query: { field: 'batch', op: '=', rvalue: -1 } }],
    ['POST', '/data/lock', { operation: 'acquire', domain: 'd', callerId: 'c', resourceId: 'r' }],
    ['PUT', '/metadata/late/1.0.0', metadataDocument('late', { a: { type: 'string' } })],
  ]
  for (const [method, path, body] of requests) {
    const began = performance.now()
    const answer = await smalt.ask(method, path, body as never)
    checkRefusal(answer, path)
    assert.doesNotMatch(answer.text, /OutcomeUnknown/, path)
    assert.ok(performance.now() - began < PROMPT_MS, path)
  }
  const ready = await readyUntil(smalt, 503)
  assert.equal(ready.headers['retry-after'], '1')
  assert.ok(ready.json.reason.length > 10, ready.text)
  assert.doesNotMatch(ready.text, TELLTALE)
  assert.equal((await smalt.ask('GET', '/health')).status, 200)
}

async function readyUntil(smalt: SmaltProcess, status: number): Promise<Answer> {
  for (const deadline = Date.now() + 60_000; ; await sleep(50)) {
    const answer = await smalt.ask('GET', '/ready')
    if (answer.status === status) return answer
    assert.ok(Date.now() < deadline, `it goes on being ${answer.text}`)
  }
}

/** Lines about errors and outages may say what went wrong; no others name the database. */
function checkLog(smalt: SmaltProcess, url: string): void {
  const { port } = new URL(url)
  const told = smalt.lines().filter((line) => !isError(line) && !isWarning(line) && line.msg !== 'listening')
  assert.ok(told.length > 0)
  const telling = told.filter(({ text }) =>
    new RegExp(`:${port}|insert into|doc_\\d|claim_\\d|smalt_`).test(text),
  )
  assert.deepEqual(telling, [])
}

function isError({ level }: LogLine): boolean {
  return level === 'error' || level === 50
}

function isWarning({ level }: LogLine): boolean {
  return level === 'warn' || level === 40
}
