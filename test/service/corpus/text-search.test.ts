/** Runs the tables about text search on the evaluator and through the service, as JSON and as a filter. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { compileQuery } from '../../../src/lang/evaluate/match.ts'
import { compileSort } from '../../../src/lang/evaluate/order.ts'
import { parseQuery } from '../../../src/lang/parse/parse-query.ts'
import { resolveQuery, resolveSort } from '../../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../../src/lang/resolve/scope.ts'
import { parseSort } from '../../../src/lang/sort.ts'
import { printResponse } from '../../../src/service/response.ts'
import { compiledSchema } from '../../support/schema.ts'
import {
  EVERYTHING,
  type TestService,
  callerWith,
  codeOf,
  documentsOf,
  json,
  jsonObject,
  openTestService,
} from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { TEXT_CASES, TEXT_FIELDS, TEXT_INDEXES, TEXT_REFUSALS } from './text-search.ts'

const scope = rootScope(compiledSchema('t', TEXT_FIELDS, { info: { indexes: TEXT_INDEXES } }))

onEveryStore(() => {
  let tester: TestService
  let cases = 0

  before(async () => {
    tester = await openTestService()
    await tester.define('t', TEXT_FIELDS, { info: { indexes: TEXT_INDEXES } })
  })
  after(() => tester[Symbol.asyncDispose]())

  async function stored(documents: readonly string[]): Promise<readonly JsonObject[]> {
    const prefix = String(++cases).padStart(4, '0')
    return await tester.store(
      't',
      documents.map((text, i) => ({ _id: `${prefix}-${i}`, ...jsonObject(text) })),
    )
  }

  const ids = (documents: readonly JsonObject[]): readonly Json[] => documents.map(({ _id }) => _id!)

  for (const { rule, documents, search, index = 'text', sort, matches } of TEXT_CASES) {
    test(`text search: ${rule}`, async () => {
      const data = await stored(documents)
      const expected = matches.map((i) => data[i]!['_id'])
      const query = { text: search, index }
      const resolved = resolveQuery(parseQuery(query, '', DEFAULT_LIMITS), scope)
      const isMatch = compileQuery(resolved)
      const found = data.filter((value) => isMatch({ value }))
      const keys = sort === undefined ? [] : parseSort(json(sort), '')
      const inOrder = compileSort(resolveSort(keys, scope, { query: resolved }))
      const positions = inOrder(found.map((value) => ({ value })))
      assert.deepEqual(ids(positions.map((i) => found[i]!)), expected, 'evaluator')
      const among = { field: '_id', op: '$in', values: ids(data) }
      const request: JsonObject = {
        query: { $and: [query, among] },
        projection: EVERYTHING,
        ...(sort !== undefined && { sort: json(sort) }),
      }
      const response = await tester.find('t', request)
      assert.deepEqual(ids(documentsOf(response)), expected, printResponse(response))
      assert.equal(response.matchCount, expected.length)
      const filter = `text(${JSON.stringify(search)}, "${index}") and _id in (${ids(data)
        .map((id) => JSON.stringify(id))
        .join(', ')})`
      const { query: _, ...rest } = request
      const asText = await tester.find('t', { ...rest, filter })
      assert.deepEqual(asText.processed, response.processed, filter)
    })
  }

  for (const [rule, body, code, says] of TEXT_REFUSALS) {
    test(`text search: refused: ${rule}`, async () => {
      const response = await tester.find('t', { projection: EVERYTHING, ...jsonObject(body) })
      assert.equal(codeOf(response), code)
      assert.match(response.errors![0]!.msg, says)
    })
  }

  test('text search: without an index it is refused, and the declaration that would serve is named', async () => {
    await tester.define('plain', TEXT_FIELDS)
    for (const body of [{ query: { text: 'blue' } }, { filter: 'text("blue")' }]) {
      const response = await tester.find('plain', { projection: EVERYTHING, ...body })
      assert.equal(codeOf(response), 'query-api:InvalidQuery')
      assert.match(
        response.errors![0]!.msg,
        /declare one in "indexes" of entityInfo, such as \{.*"kind":"text"/,
      )
    }
  })

  test('text search: the caller must be allowed to read all fields of the index', async () => {
    const fields = { ...TEXT_FIELDS, body: { type: 'string', access: { find: ['editor'] } } }
    await tester.define('veiled', fields, { info: { indexes: TEXT_INDEXES } })
    await tester.store('veiled', [{ _id: '1', title: 'blue' }])
    const ask = (role: string, index: string) =>
      tester.service.data.find(
        callerWith(role),
        { entity: 'veiled' },
        {
          query: { text: 'blue', index },
          projection: { field: '_id' },
        },
      )
    assert.equal((await ask('editor', 'text')).matchCount, 1)
    for (const index of ['text', 'english']) assert.equal(codeOf(await ask('reader', index)), 'crud:NoAccess')
    assert.equal((await ask('reader', 'tags')).matchCount, 0)
  })
})
