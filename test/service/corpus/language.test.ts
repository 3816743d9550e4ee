/** Runs the tables about queries, projections, sorts and ranges on the evaluator and through the service. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Json, type JsonObject, sameJson } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { compileQuery } from '../../../src/lang/evaluate/match.ts'
import { compileSort } from '../../../src/lang/evaluate/order.ts'
import { parseProjection } from '../../../src/lang/parse/parse-projection.ts'
import { parseQuery } from '../../../src/lang/parse/parse-query.ts'
import { compileProjection } from '../../../src/lang/evaluate/project.ts'
import { resolveProjection, resolveQuery, resolveSort } from '../../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../../src/lang/resolve/scope.ts'
import { printFilter } from '../../../src/lang/text/print-filter.ts'
import { parseSort } from '../../../src/lang/sort.ts'
import { printResponse } from '../../../src/service/response.ts'
import { compiledSchema } from '../../support/schema.ts'
import {
  EVERYTHING,
  type TestService,
  codeOf,
  documentsOf,
  json,
  jsonObject,
  openTestService,
  textOf,
} from '../../support/service.ts'
import { D1, FIELDS } from './fixture.ts'
import { ORDER_CASES, RANGE_CASES } from './orders.ts'
import { PROJECTION_CASES } from './projections.ts'
import { QUERY_CASES } from './queries.ts'
import { REFUSALS } from './refusals.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const schema = compiledSchema('t', FIELDS)
const scope = rootScope(schema)
onEveryStore(() => {
  let tester: TestService
  let cases = 0

  before(async () => {
    tester = await openTestService()
    await tester.define('t', FIELDS)
  })
  after(() => tester[Symbol.asyncDispose]())

  /** Stores documents that only this case sees, with ids that sort in their order. */
  async function stored(documents: readonly string[]): Promise<readonly JsonObject[]> {
    const prefix = String(++cases).padStart(4, '0')
    const sent = documents.map((text, i) => ({
      _id: `${prefix}-${String(i).padStart(2, '0')}`,
      ...jsonObject(text),
    }))
    return tester.store('t', sent)
  }

  function ids(documents: readonly JsonObject[]): readonly Json[] {
    return documents.map((document) => document['_id']!)
  }

  function only(documents: readonly JsonObject[], query: Json = { $and: [] }): JsonObject {
    return { $and: [query, { field: '_id', op: '$in', values: ids(documents) }] }
  }

  for (const { rule, documents, query, matches } of QUERY_CASES) {
    test(`query: ${rule}`, async () => {
      const data = await stored(documents)
      const expected = matches.map((i) => data[i]!['_id'])
      const isMatch = compileQuery(resolveQuery(parseQuery(json(query), '/query', DEFAULT_LIMITS), scope))
      assert.deepEqual(ids(data.filter((value) => isMatch({ value }))), expected, 'evaluator')
      const response = await tester.find('t', {
        query: only(data, json(query)),
        projection: { field: '_id' },
      })
      assert.deepEqual(ids(documentsOf(response)), expected, printResponse(response))
      assert.equal(response.matchCount, expected.length)
      const filter = printFilter(parseQuery(only(data, json(query)), '', DEFAULT_LIMITS))
      const asText = await tester.find('t', { filter, projection: { field: '_id' } })
      assert.deepEqual(asText.processed, response.processed, filter)
    })
  }

  for (const { rule, projection, result, document = D1 } of PROJECTION_CASES) {
    test(`projection: ${rule}`, async () => {
      const data = await stored([document])
      const id = textOf(data[0]!['_id'])
      const expected = json(result.replace('"ID"', JSON.stringify(id)))
      const parsed = resolveProjection(parseProjection(json(projection), '/projection'), scope)
      const evaluated = compileProjection(parsed, schema.root)(data[0]!, '')
      assert.ok(sameJson(evaluated, expected), `evaluator: ${JSON.stringify(evaluated)}`)
      const response = await tester.find('t', { query: only(data), projection: json(projection) })
      const [found] = documentsOf(response)
      assert.ok(sameJson(found, expected), printResponse(response))
    })
  }

  for (const { rule, documents, sort, order } of ORDER_CASES) {
    test(`sort: ${rule}`, async () => {
      const data = await stored(documents)
      const expected = order.map((i) => data[i]!['_id'])
      const inOrder = compileSort(resolveSort(parseSort(json(sort), '/sort'), scope))
      const positions = inOrder(data.map((value) => ({ value })))
      assert.deepEqual(
        positions.map((i) => data[i]!['_id']),
        expected,
        'evaluator',
      )
      const response = await tester.find('t', { query: only(data), projection: EVERYTHING, sort: json(sort) })
      assert.deepEqual(ids(documentsOf(response)), expected, printResponse(response))
    })
  }

  for (const [rule, part, shown] of RANGE_CASES) {
    test(`range: ${rule}`, async () => {
      const data = await stored(Array.from({ length: 12 }, (_, i) => `{"i":${i}}`))
      const request = { query: only(data), projection: { field: 'i' }, ...jsonObject(`{${part}}`) }
      const response = await tester.find('t', request)
      assert.deepEqual(
        documentsOf(response),
        shown.map((i) => ({ i })),
      )
      assert.equal(response.matchCount, 12, 'all matches are counted, whatever the range')
      assert.equal(response.resultMetadata?.length, shown.length)
    })
  }

  for (const [rule, body, code, at] of REFUSALS) {
    test(`refused: ${rule}`, async () => {
      const response = await tester.find('t', { projection: EVERYTHING, ...jsonObject(body) })
      assert.equal(codeOf(response), code)
      if (at === undefined) return
      const place = at === '' ? 'the top' : at
      assert.ok(response.errors![0]!.msg.endsWith(`(at ${place})`), response.errors![0]!.msg)
    })
  }

  test('find: null as the query means everything', async () => {
    const all = await tester.find('t', { projection: { field: '_id' } })
    const same = await tester.find('t', { query: null, projection: { field: '_id' } })
    assert.deepEqual(same.processed, all.processed)
  })

  test('find: keys of other operations, client and clientId are tolerated', async () => {
    const body = {
      projection: EVERYTHING,
      upsert: true,
      client: { x: 1 },
      clientId: 'c',
      execution: { count: 'none' },
    }
    assert.equal((await tester.find('t', body)).status, 'COMPLETE')
  })
})
