/** Requests that need the write lock for bookkeeping only, such as locks and sequences, keep their time limit as well. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { Work } from '../../src/base/work/work.ts'
import type { DataResponse } from '../../src/service/response.ts'
import type { Service } from '../../src/service/service.ts'
import { createWriter } from '../../src/store/sqlite/write/writer.ts'
import { ADMIN, openTestService } from '../support/service.ts'
import { directoryOf, freshPlace, useStore } from '../support/store-kind.ts'
import { openTwoDatasources } from '../support/two-datasources.ts'

useStore('sqlite')

const LIMIT_MS = 300
/** Far less than work waits that is not part of a request. */
const SOON_MS = 5_000
const TIMEOUT = { code: 'store-crud:Timeout', message: /longer than 300 ms/ }
const FIELDS = {
  _id: { type: 'string' },
  n: {
    type: 'integer',
    constraints: { required: true },
    valueGenerator: { type: 'IntSequence', configuration: { name: 'q' } },
  },
}
const LOCK = { domain: 'd', callerId: 'c', resourceId: 'r' }

const context = () => ({ work: new Work({ timeLimitMs: LIMIT_MS }) })
const target = () => ({ entity: 'e', ...context() })

function lockElsewhere(location: string): Disposable {
  const other = new DatabaseSync(join(directoryOf(location), 'smalt.db'), { timeout: 5_000 })
  other.exec('begin immediate')
  return { [Symbol.dispose]: () => other.close() }
}

async function lend(service: Service, datasource: string): Promise<Disposable> {
  const loan = await service.lendWriter(datasource)
  return { [Symbol.dispose]: () => loan.giveBack({ lastVersion: 0, hasEvents: false }) }
}

async function allTimeOut(service: Service): Promise<void> {
  const began = performance.now()
  const refused = async (response: Promise<DataResponse>): Promise<void> =>
    assert.equal((await response).errors?.[0]?.errorCode, TIMEOUT.code)
  const { data } = service
  const request = { entity: 'e', field: 'n', execution: { maxTimeMs: LIMIT_MS } }
  const bulk = data.bulk(ADMIN, { requests: [{ seq: 1, op: 'generate', request }] })
  await Promise.all([
    ...['acquire', 'release', 'ping'].map((operation) =>
      assert.rejects(data.lock(ADMIN, { ...LOCK, operation }, context()), TIMEOUT),
    ),
    refused(data.generate(ADMIN, target(), 'n', '2')),
    refused(data.insert(ADMIN, target(), { data: [{ _id: 'a' }] })),
    bulk.then((text) => assert.match(text, TIMEOUT.message)),
  ])
  assert.ok(performance.now() - began < SOON_MS)
}

test('locks, sequences: while another process has the file locked, requests end with their time limit', async () => {
  await using tester = await openTestService()
  await tester.define('e', FIELDS)
  using _other = lockElsewhere(tester.location)
  await allTimeOut(tester.service)
})

test('locks, sequences: while a larger write has the lock, requests end with their time limit', async () => {
  await using tester = await openTestService()
  await tester.define('e', FIELDS)
  using _loan = await lend(tester.service, 'default')
  await allTimeOut(tester.service)
})

test('sequences: one that is kept in another datasource keeps the time limit as well', async () => {
  await using both = await openTwoDatasources()
  await both.define('e', 'far', FIELDS)
  using _loan = await lend(both.service, 'near')
  const { data, once } = both.service
  const body = { data: [{ _id: 'a' }] }
  const plain = await data.insert(ADMIN, target(), body)
  assert.equal(plain.errors?.[0]?.errorCode, TIMEOUT.code)
  const insert = { operation: 'insert', target: target(), body } as const
  const { status, text } = await once.data(ADMIN, insert, { key: 'k', fingerprint: 'f' })
  assert.equal(status, 504, text)
})

test('run: work without a time limit waits for a loan, but not for ever', async () => {
  await using place = await freshPlace('sqlite')
  using database = new DatabaseSync(join(directoryOf(place.location), 'smalt.db'))
  const writer = createWriter(database, () => undefined, { lockedMs: 10, lentMs: 300 })
  const giveBack = await writer.lend()
  const began = performance.now()
  const work = () => writer.run(() => undefined)
  const unavailable = { code: 'crud:Unavailable', message: /^a larger write, or an index that is built, has/ }
  await assert.rejects(work(), unavailable)
  await assert.rejects(
    writer.transact(async () => undefined),
    unavailable,
  )
  assert.ok(performance.now() - began >= 600)
  giveBack()
  await work()
})
