/** Messages about a value of the wrong form show one of the right form. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { startTestServer } from '../../support/server.ts'
import { onEveryStore } from '../../support/store-kind.ts'

type Row = readonly [method: string, path: string, body: Json, example: string]

const ALL = { $and: [] }
const find = (body: JsonObject): Json => ({ query: ALL, projection: { field: '*' }, ...body })

const field = (more: JsonObject): Json => ({
  entityInfo: { name: 'bad', datastore: {} },
  schema: {
    name: 'bad',
    version: { value: '1.0.0', changelog: 'x' },
    status: { value: 'active' },
    access: {},
    fields: { x: { type: 'integer', ...more } },
  },
})
const METADATA = '/metadata/bad/1.0.0'
const generator = (configuration: Json): Json =>
  field({ valueGenerator: { type: 'IntSequence', configuration } })

const ROWS: readonly Row[] = [
  ['POST', '/data/find/thing', find({ query: { field: 'x', regex: '(' } }), 'a valid one is "^B.*n$"'],
  ['POST', '/data/find/thing', find({ range: [0] }), 'such as [0, 9]'],
  ['POST', '/data/find/thing', find({ from: 'x' }), 'such as 0'],
  ['POST', '/data/find/thing', find({ maxResults: 'x' }), 'such as 10'],
  ['POST', '/data/find/thing', find({ projection: { field: 'l', range: [0] } }), 'such as [0, 9]'],
  ['POST', '/data/find/thing', find({ projection: { field: 'l', range: [0, 'x'] } }), 'such as 0'],
  ['POST', '/data/find/thing', find({ execution: { maxTimeMs: 0 } }), 'such as 5000'],
  ['POST', '/data/update/thing', { query: ALL, update: { $append: {} } }, 'such as {"tags": "new"}'],
  ['POST', '/data/update/thing', { query: ALL, update: { $insert: { l: 1 } } }, 'such as "tags.0"'],
  ['GET', '/data/find/thing?from=x', null, 'such as 10'],
  ['GET', '/documents/thing?size=x', null, 'such as 100'],
  ['PUT', METADATA, generator({ name: 's', initialValue: 1.5 }), 'such as 1000'],
  ['PUT', METADATA, generator({ name: 's', x: [] }), 'such as "orders" or 1000'],
  ['PUT', METADATA, field({ constraints: { minimum: 'x' } }), 'such as 0.5'],
  ['PUT', METADATA, field({ type: 'string', constraints: { maxLength: -1 } }), 'such as 10'],
  [
    'PUT',
    METADATA,
    field({ type: 'string', constraints: { matches: '(' } }),
    'a valid one is "[A-Z]{3}-[0-9]+"',
  ],
  ['POST', '/metadata/access/explain', { entity: 'thing', roles: 'x', op: 'find' }, 'such as ["hr"]'],
]

onEveryStore(() => {
  test('messages: a value of the wrong form is refused with an example', async () => {
    await using server = await startTestServer()
    await server.define('thing', {
      x: { type: 'string' },
      l: { type: 'array', items: { type: 'integer' } },
    })
    const wrong: Json[] = []
    for (const [method, path, body, example] of ROWS) {
      const { status, text, json } = await server.ask(method, path, body === null ? {} : { body })
      const said = JSON.stringify(json).replaceAll('\\"', '"')
      // the whole example, not the beginning of another one
      const isShown = ['"', ',', ';', ' (at'].some((end) => said.includes(`${example}${end}`))
      if ((status !== 400 && status !== 422) || !isShown) wrong.push([path, body, text])
    }
    assert.deepEqual(wrong, [])
  })
})
