/** How much one request may hold, and how much all answers of a bulk together. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import {
  ADMIN,
  EVERYTHING,
  callerWith,
  codeOf,
  type TestService,
  dataErrorCodes,
  openTestService,
} from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'

onEveryStore(() => {
  test('insert, save: more documents than the limit are refused as a whole', async () => {
    await using tester = await openTestService({ limits: { documents: 2 } })
    await tester.define('t', { a: { type: 'string' } })
    const data = [{ a: '1' }, { a: '2' }, { a: '3' }]
    assert.equal(codeOf(await tester.insert('t', { data })), 'crud:LimitExceeded')
    assert.equal(
      codeOf(await tester.service.data.save(ADMIN, { entity: 't' }, { data })),
      'crud:LimitExceeded',
    )
    await tester.store('t', data.slice(0, 2))
  })

  for (const mode of [{ ordered: true }, { ordered: false }, { atomic: true }]) {
    test(`bulk: answers together have a limit; what comes after is not begun: ${JSON.stringify(mode)}`, async () => {
      await using tester = await openTestService({ limits: { resultBytes: 3_000 } })
      await tester.define('t', { a: { type: 'string' } })
      await tester.store('t', { a: 'x'.repeat(1_000) })
      const find = { entity: 't', projection: EVERYTHING }
      const requests: readonly Json[] = Array.from({ length: 40 }, (_, seq) => ({
        seq,
        op: 'find',
        request: find,
      }))
      const text = await tester.service.data.bulk(ADMIN, { ...mode, requests })
      assert.ok(text.includes('"crud:ResultSizeTooLarge"'), text)
      assert.ok(text.length < 40_000, 'the answer stays small')
    })
  }

  test('generate: values count in the size of the answer, in an atomic bulk of all entries together', async () => {
    await using tester = await openTestService({ limits: { resultBytes: 3_000 } })
    await tester.define('t', { a: { type: 'string', valueGenerator: { type: 'UUID' } } })
    const { data } = tester.service
    assert.equal((await data.generate(ADMIN, { entity: 't' }, 'a', '50')).status, 'COMPLETE')
    assert.equal(codeOf(await data.generate(ADMIN, { entity: 't' }, 'a', '100')), 'crud:ResultSizeTooLarge')
    const request = { entity: 't', field: 'a', n: 50 }
    const requests = [1, 2].map((seq) => ({ seq, op: 'generate', request }))
    const text = await data.bulk(ADMIN, { atomic: true, requests })
    assert.deepEqual(
      JSON.parse(text).responses.map((each: JsonObject) => codeOf(each['response'] as never)),
      ['crud:Rolledback', 'crud:ResultSizeTooLarge'],
    )
  })

  const SHORT = { _id: { type: 'string' }, a: { type: 'string', constraints: { maxLength: 700 } } }
  const within = (length: number): Json => 'x'.repeat(length)
  const failing = (count: number): readonly Json[] =>
    Array.from({ length: count }, (_, i) => ({ _id: `failing${i}`, a: within(900) }))
  const write = (tester: TestService, operation: 'insert' | 'save', body: JsonObject) =>
    tester.service.data[operation](ADMIN, { entity: 't' }, { upsert: true, ...body })
  const ALL = { field: '_id', op: '!=', rvalue: 'none' }
  async function countIn(tester: TestService, query: JsonObject = ALL): Promise<number> {
    const response = await tester.find('t', { query, projection: { field: '_id' } })
    assert.equal(response.status, 'COMPLETE')
    return response.matchCount
  }

  for (const operation of ['insert', 'save'] as const) {
    test(`${operation}: documents that fail count in the size of the answer, and too many leave all unwritten`, async () => {
      await using tester = await openTestService({ limits: { resultBytes: 3_000 } })
      await tester.define('t', SHORT)
      const sound = { _id: 'sound', a: 'x' }
      for (const data of [[sound, ...failing(3)], [...failing(3), sound], failing(3)]) {
        assert.equal(codeOf(await write(tester, operation, { data })), 'crud:ResultSizeTooLarge')
        assert.equal(await countIn(tester), 0)
      }
      const told = await write(tester, operation, { data: [sound, ...failing(2)] })
      assert.deepEqual(dataErrorCodes(told), [['crud:TooLong'], ['crud:TooLong']])
      assert.equal(told.modifiedCount, 1)
    })

    test(`${operation}: of an atomic one that fails, only what is told counts`, async () => {
      await using tester = await openTestService({ limits: { resultBytes: 3_000 } })
      await tester.define('t', SHORT)
      const sound = Array.from({ length: 3 }, (_, i) => ({ _id: `${i}`, a: within(600) }))
      const send = (data: readonly Json[]) =>
        write(tester, operation, { data, projection: EVERYTHING, execution: { atomic: true } })
      // Shown and taken back, the first two would be too large together.
      assert.equal(dataErrorCodes(await send([...sound.slice(0, 2), ...failing(1)])).length, 3)
      assert.equal(codeOf(await send([...sound, ...failing(1)])), 'crud:ResultSizeTooLarge')
      assert.equal(await countIn(tester), 0)
    })
  }

  test('update: documents that fail count in the size of the answer, as far as they are shown', async () => {
    await using tester = await openTestService({ limits: { resultBytes: 3_000 } })
    await tester.define('t', { ...SHORT, b: { type: 'string', constraints: { maxLength: 9 } } })
    await tester.store('t', { _id: '0', a: 'x' })
    for (const _id of ['1', '2', '3', '4', '5']) await tester.store('t', { _id, a: within(600) })
    const update = (projection: Json) =>
      tester.service.data.update(
        ADMIN,
        { entity: 't' },
        {
          query: ALL,
          update: { $set: { b: { $valueof: 'a' } } },
          projection,
        },
      )
    assert.equal(codeOf(await update(EVERYTHING)), 'crud:ResultSizeTooLarge')
    assert.equal(await countIn(tester, { field: 'b', op: '!=', rvalue: null }), 0)
    const told = await update({ field: '_id' })
    assert.deepEqual([told.modifiedCount, dataErrorCodes(told).length], [1, 5])
  })

  test('bulk: documents that fail count in the answers together, and what is refused wrote nothing', async () => {
    await using tester = await openTestService({ limits: { resultBytes: 3_000 } })
    await tester.define('t', SHORT)
    for (const ordered of [true, false]) {
      const requests = Array.from({ length: 20 }, (_, seq) => ({
        seq,
        op: 'insert',
        request: { entity: 't', data: [{ _id: `${String(ordered)}${seq}` }, ...failing(1)] },
      }))
      const text = await tester.service.data.bulk(ADMIN, { ordered, requests })
      const written = text.split('"PARTIAL"').length - 1
      assert.ok(written > 0 && written < 4, text)
      const query = { field: '_id', regex: `${String(ordered)}.*` }
      assert.equal(await countIn(tester, query), written)
    }
  })

  test('generate: a field that the caller may neither read nor write gives no values', async () => {
    await using tester = await openTestService()
    const generator = { type: 'IntSequence', configuration: { name: 'numbers' } }
    const access = { find: ['boss'], insert: ['boss'], update: ['boss'] }
    await tester.define('t', { n: { type: 'integer', valueGenerator: generator, access } })
    const ask = (role: string) =>
      tester.service.data.generate(callerWith(role), { entity: 't' }, 'n', undefined)
    assert.equal(codeOf(await ask('guest')), 'crud:NoAccess')
    assert.equal((await ask('boss')).status, 'COMPLETE')
  })
})
