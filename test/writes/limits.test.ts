/** How much one request may hold, and how much all answers of a bulk together. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/base/json/json.ts'
import { ADMIN, EVERYTHING, callerWith, codeOf, openTestService } from '../support/service.ts'

test('insert, save: more documents than the limit are refused as a whole', async () => {
  await using tester = await openTestService({ limits: { documents: 2 } })
  await tester.define('t', { a: { type: 'string' } })
  const data = [{ a: '1' }, { a: '2' }, { a: '3' }]
  assert.equal(codeOf(await tester.insert('t', { data })), 'crud:LimitExceeded')
  assert.equal(codeOf(await tester.service.data.save(ADMIN, { entity: 't' }, { data })), 'crud:LimitExceeded')
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
