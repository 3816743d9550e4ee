/** Runs the table about aggregates on the evaluator and through the service, on every store. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { aggregateInMemory } from '../../support/aggregate-evaluator.ts'
import { compiledSchema } from '../../support/schema.ts'
import { ADMIN, type TestService, jsonObject, openTestService } from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { CASES, DOCUMENTS, FIELDS, REFUSALS } from './cases.ts'

const schema = compiledSchema('sale', FIELDS)

onEveryStore(() => {
  let tester: TestService
  let stored: readonly JsonObject[]

  before(async () => {
    tester = await openTestService()
    await tester.define('sale', FIELDS)
    stored = await tester.store(
      'sale',
      DOCUMENTS.map((text, i): Json => ({ _id: String(i), ...jsonObject(text) })),
    )
  })
  after(() => tester[Symbol.asyncDispose]())

  for (const { name, request, processed, matchCount = processed.length } of CASES) {
    void test(`aggregate: ${name}`, async () => {
      const body = jsonObject(request)
      const response = await tester.service.data.aggregate(ADMIN, { entity: 'sale' }, body)
      assert.deepEqual(response.errors, undefined)
      assert.deepEqual(response.processed, processed)
      assert.equal(response.matchCount, matchCount)
      assert.deepEqual(aggregateInMemory(schema, body, stored), { processed, matchCount })
      const explained = await tester.service.data.explain(ADMIN, { entity: 'sale' }, body)
      assert.deepEqual(explained.errors, undefined)
      assert.equal(explained.matchCount, matchCount)
    })
  }

  for (const { name, request, code, says } of REFUSALS) {
    void test(`aggregate: ${name} is refused`, async () => {
      const { errors } = await tester.service.data.aggregate(ADMIN, { entity: 'sale' }, jsonObject(request))
      assert.match(errors?.[0]?.errorCode ?? '', new RegExp(`:${code}$`))
      assert.ok(errors![0]!.msg.includes(says), errors![0]!.msg)
    })
  }
})
