/** Thousands of spoiled requests: whatever comes, the answer is one that a client can read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CODES } from '../../src/base/errors.ts'
import { type Answer, type TestServer, startTestServer } from '../support/server.ts'
import { COUNTRY, COUNTRY_INFO, country, defineSeed, sound, store } from '../seed/fixture.ts'
import { type Sent, chanceFrom, mutated } from './mutate.ts'
import { REQUESTS, spare } from './requests.ts'

const SEED = Number(process.env['SMALT_SEED'] ?? Math.floor(Math.random() * 2 ** 32))
const COUNT = Number(process.env['SMALT_FUZZ'] ?? 20_000)
const CONNECTIONS = 8
const ROUND = 500

test(`fuzz: ${COUNT} spoiled requests leave the service sound (SMALT_SEED=${SEED})`, async (t) => {
  t.diagnostic(`SMALT_SEED=${SEED}`)
  await using server = await startTestServer()
  await defineSeed(server)
  await restore(server)
  const seen = new Map<string, number>()
  for (let start = 0; start < COUNT; start += ROUND) {
    // mutations succeed in removing and emptying things, after which most of the rest would only be 404
    await restore(server)
    let next = start
    const work = async (): Promise<void> => {
      for (let i = next++; i < Math.min(start + ROUND, COUNT); i = next++) {
        const status = await sendOne(server, i)
        seen.set(status, (seen.get(status) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, work))
  }
  t.diagnostic([...seen].sort().join('  '))
  assert.deepEqual(Object.keys(Object.prototype), [])
  assert.equal(Object.getOwnPropertyNames(Object.prototype).length, 12)
  await restore(server)
  assert.equal(sound(await server.ask('GET', '/data/find/country?Q=_id:1')).json.matchCount, 1)
})

/** Returns what kind of answer came. */
async function sendOne(server: TestServer, i: number): Promise<string> {
  const chance = chanceFrom(SEED + i)
  const sent = mutated(REQUESTS[chance(REQUESTS.length)]!, chance)
  const answer = await server.ask(sent.method, sent.path, sent)
  checkAnswer(answer, sent, i)
  assert.deepEqual(server.faults(), [], `a fault of ours about request ${i}: ${describe(sent)}`)
  return `${sent.method} ${answer.status}`
}

/** Puts entities and documents back that requests got rid of. */
async function restore(server: TestServer): Promise<void> {
  const { indexes: _, ...info } = COUNTRY_INFO
  const known = await server.ask('PUT', '/metadata/country', { body: info })
  if (known.status === 404) await server.define('country', COUNTRY, { info })
  sound(await server.ask('PUT', '/metadata/country/1.0.0/active'))
  sound(await server.ask('POST', '/data/delete/country', { body: { query: { $and: [] } } }))
  sound(await server.ask('PUT', '/metadata/country', { body: COUNTRY_INFO }))
  for (const version of ['1.0.0', '2.0.0-SNAPSHOT'])
    await server.ask('PUT', `/metadata/spare/${version}`, { body: spare(version) })
  await store(server, 'country', [
    {
      _id: '1',
      ...country('CH', 'Switzerland', 9),
      neighbours: ['FR', 'IT'],
      places: [{ name: 'Bern', height: 540 }],
    },
    { _id: '2', ...country('FR', 'France', 68) },
    { _id: '3', ...country('IT', 'Italy', 59), places: [{ height: 2 }, { name: 'Roma' }] },
  ])
}

function checkAnswer(answer: Answer, sent: Sent, i: number): void {
  const about = `request ${i} of SMALT_SEED=${SEED}: ${describe(sent)}\n${answer.status} ${answer.text.slice(0, 2_000)}`
  assert.ok(answer.status < 500 || answer.status === 503, about)
  assert.ok(answer.headers['x-request-id'], about)
  if (sent.method === 'HEAD' || !answer.headers['content-type']?.startsWith('application/json')) return
  const { json } = answer
  if (answer.status === 200) checkDocument(json, about)
  else if (Array.isArray(json.errors)) {
    assert.equal(json.status, 'ERROR', about)
    assert.ok(json.errors.length > 0, about)
    for (const error of json.errors) checkError(error, about)
    assert.equal(statusOf(json.errors[0]), answer.status, about)
  } else {
    checkError(json, about)
    if (answer.status !== 431) assert.equal(statusOf(json), answer.status, about)
  }
}

interface ErrorObject {
  readonly errorCode: keyof typeof CODES
}

function statusOf({ errorCode }: ErrorObject): number {
  return CODES[errorCode]
}

/** What a data response says must fit together. */
// eslint-disable-next-line typescript/no-explicit-any -- looks into whatever came
function checkDocument(json: any, about: string): void {
  for (const { response } of json.responses ?? []) checkDocument(response, about)
  if (json.matchCount === undefined) return
  const { status, modifiedCount, matchCount, processed, resultMetadata, errors, dataErrors } = json
  assert.ok(['COMPLETE', 'PARTIAL', 'ERROR'].includes(status), about)
  assert.ok(Number.isSafeInteger(modifiedCount) && Number.isSafeInteger(matchCount), about)
  assert.equal(status === 'COMPLETE', errors === undefined && dataErrors === undefined, about)
  if (resultMetadata) assert.equal(resultMetadata.length, processed.length, about)
  for (const error of errors ?? []) checkError(error, about)
  for (const { errors: own } of dataErrors ?? []) for (const error of own) checkError(error, about)
}

function checkError(error: unknown, about: string): void {
  const { objectType, context, errorCode, msg, ...rest } = error as Record<string, unknown>
  assert.deepEqual(rest, {}, about)
  assert.equal(objectType, 'error', about)
  assert.ok(typeof errorCode === 'string' && Object.hasOwn(CODES, errorCode), about)
  assert.notEqual(errorCode, 'crud:Internal', about)
  assert.ok(typeof context === 'string' && context !== '', about)
  assert.ok(typeof msg === 'string' && msg !== '', about)
  assert.doesNotMatch(msg, /undefined|\[object|(?<!drop table )doc_\d|SQLITE_|TypeError|at file:/, about)
}

function describe({ method, path, headers, body }: Sent): string {
  return `${method} ${path} ${JSON.stringify(headers)} ${body?.toString().slice(0, 3_000) ?? ''}`
}
