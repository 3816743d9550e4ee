/** Requests as the clients of Lightblue send them, in both modes, with the answers that their parsers need. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { type Answer, type TestServer, startTestServer } from '../../support/server.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const FIELDS: JsonObject = {
  iso2Code: { type: 'string', constraints: { identity: 1 } },
  name: { type: 'string', constraints: { required: true } },
  population: { type: 'integer' },
  places: {
    type: 'array',
    items: {
      type: 'object',
      fields: { name: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
    },
  },
}

const JAVA = {
  'content-type': 'application/json; charset=utf-8',
  'accept-encoding': 'lzf',
  'accept-charset': 'utf-8',
}
const EVERYTHING = { field: '*', include: true, recursive: true }
const CH: JsonObject = { iso2Code: 'CH', name: 'Switzerland', population: 9 }

async function open(compatibility?: 'lightblue'): Promise<TestServer> {
  const server = await startTestServer(compatibility ? { compatibility } : {})
  await server.define('country', FIELDS)
  return server
}

/** What every parser of theirs needs of a data response. */
function checkResponse({ json, text }: Answer): void {
  assert.ok(['COMPLETE', 'PARTIAL', 'ERROR'].includes(json.status), text)
  assert.equal(typeof json.modifiedCount, 'number')
  assert.equal(typeof json.matchCount, 'number')
  for (const key of ['processed', 'resultMetadata', 'errors', 'dataErrors'])
    if (json[key] !== undefined) assert.ok(Array.isArray(json[key]), key)
  for (const each of json.resultMetadata ?? []) assert.equal(typeof each.documentVersion, 'string')
  const errors = [
    ...(json.errors ?? []),
    ...(json.dataErrors ?? []).flatMap((each: { errors: Json[] }) => each.errors),
  ]
  for (const { objectType, context, errorCode, msg } of errors) {
    assert.equal(objectType, 'error')
    for (const part of [context, errorCode, msg]) assert.equal(typeof part, 'string')
  }
}

interface Step {
  readonly method: string
  readonly path: string
  readonly body?: JsonObject
  readonly expected: readonly [status: string, modified: number, processed: number | undefined]
}

const step = (method: string, path: string, body: JsonObject, expected: Step['expected']): Step => ({
  method,
  path,
  body,
  expected,
})

/** No entity and no version in the body; one document is an object, one projection is an object. */
const FROM_JAVA: readonly Step[] = [
  step('PUT', '/rest/data/insert/country/1.0.0', { data: CH, projection: EVERYTHING }, ['COMPLETE', 1, 1]),
  step(
    'POST',
    '/rest/data/find/country',
    {
      query: { field: 'iso2Code', op: '$eq', rvalue: 'CH' },
      projection: [
        { field: 'name', include: true, recursive: false },
        { field: 'iso2Code', include: true, recursive: false },
      ],
      sort: { name: '$asc' },
      from: 0,
      maxResults: 10,
      execution: { readPreference: 'primaryPreferred', maxQueryTimeMS: 7500 },
    },
    ['COMPLETE', 0, 1],
  ),
  step(
    'POST',
    '/rest/data/save/country/1.0.0',
    {
      data: [{ ...CH, population: 10 }],
      upsert: true,
      projection: EVERYTHING,
      execution: { writeConcern: 'majority' },
    },
    ['COMPLETE', 1, 1],
  ),
  step(
    'POST',
    '/rest/data/update/country/1.0.0',
    {
      query: { field: 'iso2Code', op: '=', rvalue: 'CH' },
      projection: EVERYTHING,
      update: [{ $set: { name: 'Suisse' } }, { $add: { population: 1 } }],
    },
    ['COMPLETE', 1, 1],
  ),
  step('PUT', '/rest/data/insert/country/1.0.0', { data: { iso2Code: 'XX' }, projection: EVERYTHING }, [
    'ERROR',
    0,
    0,
  ]),
  step('POST', '/rest/data/delete/country/1.0.0', { query: { field: 'iso2Code', op: '=', rvalue: 'CH' } }, [
    'COMPLETE',
    1,
    undefined,
  ]),
]

/** `objectType` and `version` in every body, `range` with an open end. */
const FROM_JAVASCRIPT: readonly Step[] = [
  step(
    'PUT',
    '/data/insert/country/1.0.0',
    { objectType: 'country', version: '1.0.0', data: [CH], projection: [{ field: '*', recursive: true }] },
    ['COMPLETE', 1, 1],
  ),
  step(
    'POST',
    '/data/find/country/1.0.0',
    {
      objectType: 'country',
      version: '1.0.0',
      query: { field: 'name', regex: '^swi', caseInsensitive: 1 },
      projection: { field: '*', recursive: 1 },
      range: [0, null],
    },
    ['COMPLETE', 0, 1],
  ),
  step(
    'POST',
    '/data/save/country',
    { objectType: 'country', data: { ...CH, population: 11 }, upsert: true, projection: EVERYTHING },
    ['COMPLETE', 1, 1],
  ),
  step(
    'POST',
    '/data/delete/country/1.0.0',
    { objectType: 'country', version: '1.0.0', query: { field: 'iso2Code', op: '=', rvalue: 'CH' } },
    ['COMPLETE', 1, undefined],
  ),
]

/** Arrays everywhere, `upsert`, `client` and `execution` in every body. */
const GO = { entity: 'country', entityVersion: '1.0.0', client: { id: 'go' }, execution: {}, upsert: false }
const FROM_GO: readonly Step[] = [
  step('PUT', '/rest/data/insert/country/1.0.0', { ...GO, data: [CH], projection: [EVERYTHING] }, [
    'COMPLETE',
    1,
    1,
  ]),
  step(
    'POST',
    '/rest/data/find/country/1.0.0',
    {
      ...GO,
      query: { field: 'iso2Code', op: '$in', values: ['CH'] },
      projection: [EVERYTHING],
      sort: [{ name: '$asc' }],
      range: [0, 9],
    },
    ['COMPLETE', 0, 1],
  ),
  step(
    'POST',
    '/rest/data/update/country/1.0.0',
    {
      ...GO,
      query: { field: 'iso2Code', op: '=', rvalue: 'CH' },
      update: [{ $set: { name: 'Svizra' } }],
      projection: [EVERYTHING],
    },
    ['COMPLETE', 1, 1],
  ),
  step(
    'POST',
    '/rest/data/save/country/1.0.0',
    { ...GO, data: [{ iso2Code: 'NO', name: 'Norway' }], projection: [EVERYTHING] },
    ['ERROR', 0, 0],
  ),
  step(
    'POST',
    '/rest/data/delete/country/1.0.0',
    { ...GO, query: { field: 'iso2Code', op: '=', rvalue: 'CH' } },
    ['COMPLETE', 1, undefined],
  ),
]

const CLIENTS: readonly (readonly [name: string, headers: Record<string, string>, steps: readonly Step[]])[] =
  [
    ['Java', JAVA, FROM_JAVA],
    ['JavaScript', { 'content-type': 'application/json' }, FROM_JAVASCRIPT],
    ['Go', { 'content-type': 'application/json' }, FROM_GO],
  ]

onEveryStore(() => {
  for (const mode of [undefined, 'lightblue'] as const) {
    const form = mode ?? 'our own form'
    for (const [name, headers, steps] of CLIENTS) {
      test(`${name} client: every operation, answered in ${form}`, async () => {
        await using server = await open(mode)
        for (const { method, path, body, expected } of steps) {
          const answer = await server.ask(method, path, { body: body!, headers })
          checkResponse(answer)
          const { status, modifiedCount, processed, hostname } = answer.json
          assert.deepEqual([status, modifiedCount, processed?.length], expected, `${path} ${answer.text}`)
          assert.equal(typeof hostname, mode ? 'string' : 'undefined')
        }
        assert.deepEqual(server.faults(), [])
      })
    }

    test(`Java client: bulk, streams and locks, answered in ${form}`, async () => {
      await using server = await open(mode)
      const requests = [
        {
          seq: 0,
          op: 'insert',
          request: {
            entity: 'country',
            entityVersion: null,
            data: [CH, { iso2Code: 'AT', name: 'Austria' }],
            projection: EVERYTHING,
          },
        },
        {
          seq: 1,
          op: 'find',
          request: {
            entity: 'country',
            entityVersion: '1.0.0',
            query: { field: 'name', op: '=', rvalue: 'Austria' },
            projection: EVERYTHING,
            execution: { readPreference: 'nearest' },
          },
        },
        { seq: 2, op: 'save', request: { entity: 'country', data: { iso2Code: 'NO', name: 'Norway' } } },
      ]
      const { json } = await server.ask('POST', '/rest/data/bulk', {
        body: { ordered: true, requests },
        headers: JAVA,
      })
      assert.deepEqual(
        json.responses.map(({ seq, response }: { seq: number; response: { status: string } }) => [
          seq,
          response.status,
        ]),
        [
          [0, 'COMPLETE'],
          [1, 'COMPLETE'],
          [2, 'ERROR'],
        ],
      )
      const [{ errorCode }] = json.responses[2].response.dataErrors[0].errors
      assert.equal(
        errorCode,
        mode ? 'mongo-crud:SaveError:InsertionAttemptWithNoUpsert' : 'store-crud:SaveError',
      )

      const found = await server.ask('POST', '/rest/data/find/country?stream=true', {
        body: { projection: EVERYTHING, sort: { name: '$asc' } },
        headers: JAVA,
      })
      const lines = found.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as JsonObject)
      assert.equal(lines[0]!['status'], 'COMPLETE')
      assert.equal(typeof lines[0]!['hostname'], mode ? 'string' : 'undefined')
      assert.deepEqual(
        lines.slice(1, -1).map(({ last }) => last),
        [undefined, true],
      )
      assert.equal((lines[1]!['processed'] as JsonObject)['name'], 'Austria')

      const lock = { domain: 'd', callerId: 'c', resourceId: 'a/b' }
      const ask = async (operation: string): Promise<Answer> =>
        await server.ask('POST', '/rest/data/lock', {
          body: { operation, ...lock, ttl: '60000' },
          headers: JAVA,
        })
      assert.deepEqual((await ask('acquire')).json, { result: true })
      assert.deepEqual((await ask('release')).json, { result: true })
      const refused = (await ask('release')).json
      assert.match(refused.errors[0].msg, /^.*InvalidLockException: a\/b$/)
      assert.equal(refused.errors[0].errorCode, mode ? 'rest-crud:RestError' : 'crud:InvalidLock')
    })

    test(`JavaScript client: names of entities by status, empty bodies, answered in ${form}`, async () => {
      await using server = await open(mode)
      const names = await server.ask('GET', '/metadata/s=active,disabled')
      assert.ok(names.json.entities.includes('country'))
      const empty = await server.ask('PUT', '/metadata/country/1.0.0', {
        headers: { 'content-type': 'application/json' },
      })
      assert.equal(empty.json.objectType, 'error')
    })
  }
})
