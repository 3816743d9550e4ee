/** Rows 13 and 34: time and size of an answer have their limits at every entry point. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/base/json/json.ts'
import { type TestServer, startTestServer } from '../../support/server.ts'
import { freshPlace } from '../../support/store-kind.ts'
import { ENTRY_POINTS, throughEach } from './entry-points.ts'
import { put } from './office.ts'

const many = (count: number, each: Json): readonly Json[] => Array.from({ length: count }, () => each)

test('results: what is larger than the limit is refused at every entry point that is not a stream', async () => {
  await using small = await startTestServer({ limits: { resultBytes: 2_000 } })
  await small.define(
    'person',
    {
      _id: { type: 'string' },
      name: { type: 'string' },
      note: { type: 'string' },
    },
    { info: { history: true } },
  )
  await put(small, 'person', many(3, { name: 'x'.repeat(1_000) }))
  const outcomes = await throughEach(small, { parts: {}, by: 'sort', roles: [] })
  for (const { name, code, response } of outcomes) {
    if (/stream|ndjson|explain/.test(name)) assert.equal(response['status'], 'COMPLETE', name)
    else assert.equal(code, 'crud:ResultSizeTooLarge', name)
  }
})

const SLOW: Json = { field: 'name', regex: '(a|b)*(b|a)*7$' }

/** The clock covers all that a request does, so the documents are stored by a server that has more time. */
async function startHurried(opened: AsyncDisposableStack): Promise<TestServer> {
  const { location } = opened.use(await freshPlace())
  const patient = await startTestServer({ location })
  await patient.define(
    'person',
    {
      _id: { type: 'string' },
      name: { type: 'string' },
      note: { type: 'string' },
    },
    { info: { history: true } },
  )
  for (let i = 0; i < 4; i++) await put(patient, 'person', many(2_000, { name: 'ab'.repeat(200) }))
  await patient[Symbol.asyncDispose]()
  return opened.use(await startTestServer({ location, limits: { queryTimeMs: 1 } }))
}

async function timedOut(isAtomic: boolean): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const hurried = await startHurried(opened)
  for (const { name, send } of ENTRY_POINTS.filter(({ carries }) => carries.includes('query'))) {
    if (name.includes('atomic') !== isAtomic) continue
    const outcome = await send(hurried, { query: SLOW }, [])
    if (outcome) assert.equal(outcome.code, 'store-crud:Timeout', `${name}: ${outcome.text.slice(0, 300)}`)
  }
}

test('time: what takes too long is ended at every entry point', () => timedOut(false))

test('time: what takes too long is ended inside of an atomic bulk, too', () => timedOut(true))
