/** Thousands of spoiled requests: whatever comes, the answer is one that a client can read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CODES } from '../../../src/base/errors.ts'
import { SEED } from '../../support/seed.ts'
import { type Answer, type TestServer, startTestServer } from '../../support/server.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { COUNTRY, country, defineSeed, sound, store } from '../../service/seed/fixture.ts'
import { chanceFrom } from '../../support/seeded.ts'
import { type Sent, mutated } from './mutate.ts'
import {
  type Issued,
  type Request,
  PAGED,
  PAGED_LIST,
  REQUESTS,
  ROLES,
  requestsWith,
  searchedInfo,
  spare,
} from './requests.ts'

/** A request takes longer on PostgreSQL, and so does what is put back. */
const COUNTS = { sqlite: 20_000, postgres: 3_000 }
const CONNECTIONS = 8
const ROUND = 500

onEveryStore((kind) => {
  const count = Number(process.env['SMALT_FUZZ'] ?? COUNTS[kind])
  test(
    `fuzz: ${count} spoiled requests leave the service sound (SMALT_SEED=${SEED})`,
    { timeout: 180_000 },
    async (t) => {
      t.diagnostic(`SMALT_SEED=${SEED}`)
      await using server = await startTestServer()
      await defineSeed(server)
      await restore(server)
      const seen = new Map<string, number>()
      for (let start = 0; start < count; start += ROUND) {
        // mutations succeed in removing and emptying things, after which most of the rest would only be 404
        await restore(server)
        const requests = requestsWith(await issue(server))
        let next = start
        const work = async (): Promise<void> => {
          for (let i = next++; i < Math.min(start + ROUND, count); i = next++) {
            const status = await sendOne(server, requests, i)
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
    },
  )
})

/** Cursors and a ticket that are sound, each of which a request sends back. */
async function issue(server: TestServer): Promise<Issued> {
  const headers = ROLES
  const first = await server.ask('POST', '/data/find/country', {
    headers,
    body: { ...PAGED, page: { size: 1 } },
  })
  const list = await server.ask('GET', `/documents/country?${PAGED_LIST}`, { headers })
  const body = { path: '/documents/country' }
  const { ticket } = (await server.ask('POST', '/auth/ticket', { headers, body })).json
  const issued = { cursor: first.json.next, listCursor: list.json.next, ticket }
  for (const request of requestsWith(issued).slice(REQUESTS.length)) {
    const answer = await server.ask(request.method, request.path, request)
    // a cursor belongs to one version
    const expected = request.path.includes('/1.1.0') ? 400 : 200
    assert.equal(answer.status, expected, `${request.path} ${answer.text}`)
  }
  return issued
}

/** Returns what kind of answer came. */
async function sendOne(server: TestServer, requests: readonly Request[], i: number): Promise<string> {
  const chance = chanceFrom(SEED ^ Math.imul(i + 1, 0x9e3779b1))
  // bodies hold most of what can be spoiled
  const from = chance(4) === 0 ? requests : requests.filter(({ body }) => body !== undefined)
  const sent = mutated(from[chance(from.length)]!, chance)
  const answer = await server.ask(sent.method, sent.path, sent)
  try {
    checkAnswer(answer, sent.method)
    assert.equal(server.faults().join('\n'), '')
  } catch (error) {
    const about = `request ${i} of SMALT_SEED=${SEED}: ${describe(sent)}\n${answer.status} ${answer.text.slice(0, 2_000)}`
    throw new Error(about, { cause: error })
  }
  return `${sent.method} ${answer.status}`
}

/** Puts entities and documents back that requests got rid of. */
async function restore(server: TestServer): Promise<void> {
  const { indexes: _, ...info } = searchedInfo()
  const known = await server.ask('PUT', '/metadata/country', { body: info })
  if (known.status === 404) await server.define('country', COUNTRY, { info })
  sound(await server.ask('PUT', '/metadata/country/1.0.0/active'))
  sound(await server.ask('POST', '/data/delete/country', { body: { query: { $and: [] } } }))
  sound(await server.ask('PUT', '/metadata/country', { body: searchedInfo() }))
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

function checkAnswer(answer: Answer, method: string): void {
  assert.ok(answer.status < 500 || answer.status === 503)
  assert.ok(answer.headers['x-request-id'])
  if (
    method === 'HEAD' ||
    answer.text === '' ||
    !answer.headers['content-type']?.startsWith('application/json')
  )
    return
  const { json } = answer
  if (answer.status < 300) checkDocument(json)
  else if (Array.isArray(json.errors)) {
    // plain documents have a list of errors and nothing else
    if (Object.keys(json).length > 1) assert.equal(json.status, 'ERROR')
    for (const error of json.errors) checkError(error)
    assert.equal(statusOf(json.errors[0]), answer.status)
  } else {
    checkError(json)
    assert.equal(statusOf(json), answer.status)
  }
}

function statusOf({ errorCode }: { readonly errorCode: keyof typeof CODES }): number {
  return CODES[errorCode]
}

/** What a data response says must fit together. */
// eslint-disable-next-line typescript/no-explicit-any -- looks into whatever came
function checkDocument(json: any): void {
  for (const { response } of json.responses ?? []) checkDocument(response)
  if (json.matchCount === undefined) return
  const { status, modifiedCount, matchCount, processed, resultMetadata, errors, dataErrors } = json
  assert.ok(['COMPLETE', 'PARTIAL', 'ERROR'].includes(status))
  assert.ok(Number.isSafeInteger(modifiedCount) && Number.isSafeInteger(matchCount))
  assert.equal(status === 'COMPLETE', errors === undefined && dataErrors === undefined)
  if (resultMetadata) assert.equal(resultMetadata.length, processed.length)
  for (const error of errors ?? []) checkError(error)
  for (const { errors: own } of dataErrors ?? []) for (const error of own) checkError(error)
}

function checkError(error: unknown): void {
  const { objectType, context, errorCode, msg, ...rest } = error as Record<string, unknown>
  assert.equal(Object.keys(rest).join(), '')
  assert.equal(objectType, 'error')
  assert.ok(typeof errorCode === 'string' && Object.hasOwn(CODES, errorCode))
  assert.notEqual(errorCode, 'crud:Internal')
  assert.ok(typeof context === 'string' && context !== '')
  assert.ok(typeof msg === 'string' && msg !== '')
  assert.doesNotMatch(msg, /undefined|\[object [A-Z]|doc_\d|SQLITE_|TypeError|at file:/)
}

function describe({ method, path, headers, body }: Sent): string {
  return `${method} ${path} ${JSON.stringify(headers)} ${body?.toString().slice(0, 3_000) ?? ''}`
}
