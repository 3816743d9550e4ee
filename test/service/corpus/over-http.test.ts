/**
 * Runs the tables of cases once more, over HTTP: what programs send and receive means the same as inside of the process,
 * and each answer is as the OpenAPI document says. A table is one test, because its rows are requests of a millisecond.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Json, type JsonObject, sameJson } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { parseQuery } from '../../../src/lang/parse/parse-query.ts'
import { printFilter } from '../../../src/lang/text/print-filter.ts'
import { withoutReferences } from '../../support/references-service.ts'
import { type Answer, type TestServer, startTestServer } from '../../support/server.ts'
import { EVERYTHING, json, jsonObject, metadataDocument } from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import * as aggregates from '../aggregate/cases.ts'
import { D1, FIELDS } from './fixture.ts'
import { ORDER_CASES, RANGE_CASES } from './orders.ts'
import { PROJECTION_CASES } from './projections.ts'
import { QUERY_CASES } from './queries.ts'
import { COUNTS } from './references-counts.ts'
import { ENTITIES, type Held } from './references-entities.ts'
import { FOUND } from './references-found.ts'
import { SORTS } from './references-sorts.ts'
import { VECTORS } from './references-vectors.ts'
import { REFUSALS } from './refusals.ts'
import { TEXT_CASES, TEXT_FIELDS, TEXT_INDEXES, TEXT_REFUSALS } from './text-search.ts'

onEveryStore(() => {
  let server: TestServer

  before(async () => {
    server = await startTestServer()
    await server.define('t', FIELDS)
    await server.define('words', TEXT_FIELDS, { info: { indexes: TEXT_INDEXES } })
    await server.define('sale', aggregates.FIELDS)
    await insert(
      server,
      'sale',
      aggregates.DOCUMENTS.map((text, i) => ({ _id: String(i), ...jsonObject(text) })),
    )
    await hold(server, ENTITIES)
  })
  after(() => server[Symbol.asyncDispose]())

  /** Stores the documents of a whole table at once; gives back the `_id`s for each row. */
  async function stored(
    entity: string,
    table: string,
    rows: readonly (readonly string[])[],
  ): Promise<readonly (readonly string[])[]> {
    const ids = rows.map((documents, row) =>
      documents.map((_, i) => `${table}-${String(row).padStart(4, '0')}-${String(i).padStart(2, '0')}`),
    )
    const documents = rows.flatMap((texts, row) =>
      texts.map((text, i) => ({ _id: ids[row]![i]!, ...jsonObject(text) })),
    )
    await insert(server, entity, documents)
    return ids
  }

  const find = (entity: string, body: JsonObject): Promise<Answer> =>
    server.ask('POST', `/data/find/${entity}`, { body })

  test('over HTTP: queries, as JSON and as filters', async () => {
    const ids = await stored(
      't',
      'query',
      QUERY_CASES.map(({ documents }) => documents),
    )
    for (const [row, { rule, query, matches }] of QUERY_CASES.entries()) {
      const expected = matches.map((i) => ({ _id: ids[row]![i]! }))
      const restricted = only(ids[row]!, json(query))
      const filter = printFilter(parseQuery(restricted, '', DEFAULT_LIMITS))
      for (const condition of [{ query: restricted }, { filter }])
        shows(rule, await find('t', { ...condition, projection: { field: '_id' } }), expected)
    }
  })

  test('over HTTP: projections', async () => {
    const ids = await stored(
      't',
      'projection',
      PROJECTION_CASES.map(({ document = D1 }) => [document]),
    )
    for (const [row, { rule, projection, result }] of PROJECTION_CASES.entries()) {
      const [id] = ids[row]!
      const answer = await find('t', { query: only([id!]), projection: json(projection) })
      shows(rule, answer, [json(result.replace('"ID"', JSON.stringify(id)))])
    }
  })

  test('over HTTP: sorts and ranges', async () => {
    const ids = await stored(
      't',
      'sort',
      ORDER_CASES.map(({ documents }) => documents),
    )
    for (const [row, { rule, sort, order }] of ORDER_CASES.entries()) {
      const projection = { field: '_id' }
      const answer = await find('t', { query: only(ids[row]!), projection, sort: json(sort) })
      shows(
        rule,
        answer,
        order.map((i) => ({ _id: ids[row]![i]! })),
      )
    }
    const [twelve] = await stored('t', 'range', [Array.from({ length: 12 }, (_, i) => `{"i":${i}}`)])
    for (const [rule, part, shown] of RANGE_CASES) {
      const request = { query: only(twelve!), projection: { field: 'i' }, ...jsonObject(`{${part}}`) }
      shows(
        rule,
        await find('t', request),
        shown.map((i) => ({ i })),
        12,
      )
    }
  })

  test('over HTTP: what is refused, and where', async () => {
    for (const [rule, body, code, at] of REFUSALS) {
      const [error] = refused(rule, await find('t', { projection: EVERYTHING, ...jsonObject(body) }), code)
      const place = at === '' ? 'the top' : at
      assert.ok(at === undefined || error!.msg.endsWith(`(at ${place})`), `${rule}: ${error!.msg}`)
    }
  })

  test('over HTTP: text searches', async () => {
    const ids = await stored(
      'words',
      'text',
      TEXT_CASES.map(({ documents }) => documents),
    )
    for (const [row, { rule, search, index = 'text', sort, matches }] of TEXT_CASES.entries()) {
      const answer = await find('words', {
        query: only(ids[row]!, { text: search, index }),
        projection: { field: '_id' },
        ...(sort !== undefined && { sort: json(sort) }),
      })
      shows(
        rule,
        answer,
        matches.map((i) => ({ _id: ids[row]![i]! })),
      )
    }
    for (const [rule, body, code, says] of TEXT_REFUSALS) {
      const answer = await find('words', { projection: EVERYTHING, ...jsonObject(body) })
      assert.match(refused(rule, answer, code)[0]!.msg, says)
    }
  })

  test('over HTTP: aggregates', async () => {
    const ask = (operation: string, body: JsonObject): Promise<Answer> =>
      server.ask('POST', `/data/${operation}/sale`, { body })
    for (const { name, request, processed, matchCount = processed.length } of aggregates.CASES) {
      const answer = await ask('aggregate', jsonObject(request))
      assert.equal(answer.status, 200, `${name}: ${answer.text}`)
      // the exact text, with every digit
      assert.ok(answer.text.includes(`"processed":[${processed.join(',')}]`), `${name}: ${answer.text}`)
      assert.equal(answer.json.matchCount, matchCount, name)
      assert.equal((await ask('explain', jsonObject(request))).json.matchCount, matchCount, name)
    }
    for (const { name, request, code, says } of aggregates.REFUSALS) {
      const answer = await ask('aggregate', jsonObject(request))
      const [error] = refused(name, answer)
      assert.ok(error!.errorCode.endsWith(`:${code}`) && error!.msg.includes(says), `${name}: ${answer.text}`)
    }
  })

  test('over HTTP: references', async () => {
    for (const { rule, entity, body, answer, matchCount } of [...VECTORS, ...SORTS, ...COUNTS]) {
      const found = await find(entity, body)
      if (typeof answer === 'string') refused(rule, found, answer)
      else shows(rule, found, answer, matchCount)
    }
  })

  test('over HTTP: differences about references that were found once', async () => {
    for (const { entities, cases } of FOUND) {
      await using own = await startTestServer()
      await hold(own, entities)
      for (const { rule, entity, body, answer } of cases) {
        const found = await own.ask('POST', `/data/find/${entity}`, { body })
        shows(rule, found, answer, found.json.matchCount)
      }
    }
  })
})

async function insert(server: TestServer, entity: string, data: readonly JsonObject[]): Promise<void> {
  const { status, text } = await server.ask('PUT', `/data/insert/${entity}`, { body: { data } })
  assert.equal(status, 200, text)
  assert.match(text, /"status":"COMPLETE"/)
}

/** Entities may refer to each other in a circle, so they are defined without references first. */
async function hold(server: TestServer, entities: Readonly<Record<string, Held>>): Promise<void> {
  for (const version of ['0.1.0', '1.0.0']) {
    for (const [name, { fields, info }] of Object.entries(entities)) {
      const own = version === '1.0.0' ? fields : withoutReferences(fields)
      const body = metadataDocument(name, own, {
        info: { defaultVersion: version, ...info },
        schema: { version: { value: version, changelog: 'made' } },
      })
      const { status, text } = await server.ask('PUT', `/metadata/${name}/${version}`, { body })
      assert.equal(status, 200, text)
    }
  }
  for (const [name, { documents }] of Object.entries(entities)) await insert(server, name, documents)
}

function only(ids: readonly string[], query: Json = { $and: [] }): JsonObject {
  return { $and: [query, { field: '_id', op: '$in', values: ids }] }
}

function shows(
  rule: string,
  { status, text }: Answer,
  expected: readonly Json[],
  matchCount = expected.length,
): void {
  assert.equal(status, 200, `${rule}: ${text}`)
  const response = parseTrusted(text) as JsonObject
  assert.ok(sameJson(response['processed'], expected), `${rule}: ${text}`)
  assert.equal(response['matchCount'], matchCount, `${rule}: ${text}`)
}

interface ErrorShown {
  readonly errorCode: string
  readonly msg: string
}

function refused(rule: string, { status, json, text }: Answer, code?: string): readonly ErrorShown[] {
  const errors = json.errors as readonly ErrorShown[] | undefined
  assert.ok(status >= 400 && json.status === 'ERROR' && errors?.length === 1, `${rule}: ${status} ${text}`)
  assert.ok(code === undefined || errors[0]!.errorCode === code, `${rule}: ${text}`)
  return errors
}
