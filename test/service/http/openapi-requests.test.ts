/** The service and the OpenAPI document agree about which forms of a request there are, and where null stands for no key. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { openapiDocument } from '../../../src/http/routes/openapi.ts'
import { ROUTES } from '../../../src/http/routes/routes.ts'
import { startTestServer } from '../../support/server.ts'
import { onEveryStore } from '../../support/store-kind.ts'

type Row = readonly [operation: string, request: JsonObject]

const ALL = { $and: [] }
const projection = { field: '*' }
const update = { $set: { s: 'x' } }
const NO_RANGE = { range: null, from: null, to: null, maxResults: null }

const ACCEPTED: readonly Row[] = [
  ['find', { projection, query: ALL, filter: null }],
  ['find', { projection, query: null, filter: 'true' }],
  ['find', { projection, query: null, filter: null }],
  ['find', { projection, range: [0, 9], page: null }],
  ['find', { projection, page: {}, range: null }],
  ['find', { projection, page: { size: 5 }, from: null, to: null, maxResults: null }],
  ['find', { projection, page: null, ...NO_RANGE }],
  ['find', { projection, query: null, filter: 'true', page: {}, ...NO_RANGE }],
  ['explain', { projection, query: null, filter: 'true', page: {}, range: null }],
  ['aggregate', { groupBy: ['s'], query: ALL, filter: null }],
  ['aggregate', { groupBy: ['s'], query: null, filter: 'true' }],
  ['aggregate', { groupBy: null, values: { n: { $count: true } } }],
  ['aggregate', { groupBy: ['s'], values: null }],
  ['update', { query: ALL, filter: null, update }],
  ['update', { query: null, filter: 'true', update }],
  ['delete', { query: ALL, filter: null }],
  ['delete', { query: null, filter: 'true' }],
]

const REFUSED: readonly Row[] = [
  ['find', { projection, query: ALL, filter: 'true' }],
  ['find', { projection, page: {}, range: [0, 9] }],
  ['find', { projection, page: {}, from: 0 }],
  ['update', { query: null, filter: null, update }],
  ['delete', { query: null }],
  ['aggregate', { query: ALL }],
  ['aggregate', { groupBy: null, values: null }],
  ['aggregate', { values: { n: { $count: true, $sum: null } } }],
  ['aggregate', { values: { n: { $sum: 'i', $count: null } } }],
]

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema(openapiDocument(ROUTES), 'openapi')

onEveryStore(() => {
  test('openapi: nulls that the service accepts are documented, and what it refuses is not', async () => {
    await using server = await startTestServer()
    await server.define('thing', { i: { type: 'integer' }, s: { type: 'string' } })
    for (const [rows, isAccepted] of [
      [ACCEPTED, true],
      [REFUSED, false],
    ] as const) {
      for (const [operation, body] of rows) {
        const row = `${operation} ${JSON.stringify(body)}`
        const { status, text } = await server.ask('POST', `/data/${operation}/thing`, { body })
        assert.equal(status, isAccepted ? 200 : 400, `${row}: ${text}`)
        assert.equal(isDocumented(operation, body), isAccepted, row)
        const entry = { seq: 1, op: operation, request: { entity: 'thing', ...body } }
        assert.equal(ajv.validate(refTo('BulkEntry'), entry), isAccepted, `in a bulk: ${row}`)
      }
    }
  })
})

function isDocumented(operation: string, body: JsonObject): boolean {
  return ajv.validate(refTo(`${operation[0]!.toUpperCase()}${operation.slice(1)}Request`), body)
}

function refTo(name: string): object {
  return { $ref: `openapi#/components/schemas/${name}` }
}
