/** Runs the tables about the GET forms. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { printResponse } from '../../../src/service/response.ts'
import { ADMIN, type TestService, codeOf, documentsOf, json, openTestService } from '../../support/service.ts'
import { SIMPLE_CASES, SIMPLE_PROJECTIONS, SIMPLE_REFUSALS } from './simple-find.ts'
import { onEveryStore } from '../../support/store-kind.ts'

onEveryStore(() => {
  let tester: TestService

  before(async () => {
    tester = await openTestService()
    await tester.define('t', {
      i: { type: 'integer' },
      s: { type: 'string' },
      m: { type: 'string' },
      b: { type: 'boolean' },
      dt: { type: 'date' },
      sa: { type: 'array', items: { type: 'string' } },
    })
    const odd: Readonly<Record<number, JsonObject>> = {
      4: { m: 'a:b' },
      5: { dt: '20240102T03:04:05.678+0000' },
      6: { m: 'x,y' },
      7: { m: 'x;y' },
      8: { m: 'null' },
    }
    const documents = Array.from({ length: 12 }, (_, i) => ({
      _id: String(i).padStart(2, '0'),
      i,
      s: `v${i}`,
      b: i % 2 === 1,
      sa: ['x'],
      ...odd[i],
    }))
    await tester.store('t', documents)
  })
  after(() => tester[Symbol.asyncDispose]())

  const simpleFind = (parameters: string) =>
    tester.service.data.simpleFind(ADMIN, { entity: 't' }, new URLSearchParams(parameters))

  for (const [rule, parameters, shown] of SIMPLE_CASES) {
    test(`simple find: ${rule}`, async () => {
      const response = await simpleFind(parameters)
      assert.equal(response.status, 'COMPLETE', printResponse(response))
      assert.deepEqual(
        documentsOf(response).map(({ i }) => i),
        shown,
      )
    })
  }

  for (const [rule, parameters, result] of SIMPLE_PROJECTIONS) {
    test(`simple find: ${rule}`, async () => {
      assert.deepEqual(documentsOf(await simpleFind(parameters)), [json(result)])
    })
  }

  for (const [rule, parameters, code] of SIMPLE_REFUSALS) {
    test(`simple find: refused is ${rule}`, async () => {
      assert.equal(codeOf(await simpleFind(parameters)), code)
    })
  }
})
