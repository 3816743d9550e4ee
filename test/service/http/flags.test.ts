/** Query parameters that are either true or false may also be 1 or 0, on every route that has one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { type Answer, startTestServer } from '../../support/server.ts'
import { onEveryStore } from '../../support/store-kind.ts'

interface Row {
  readonly flag: string
  readonly method: string
  readonly path: string
  readonly body?: JsonObject | string
  readonly type?: string
}

const NDJSON = 'application/x-ndjson'
const INFO: JsonObject = { name: 'thing', colour: 'red' }
const ROWS: readonly Row[] = [
  { flag: 'count', method: 'GET', path: '/data/find/thing?size=1' },
  { flag: 'count', method: 'GET', path: '/documents/thing?size=1' },
  { flag: 'stream', method: 'POST', path: '/data/find/thing?', body: { projection: { field: '*' } } },
  { flag: 'upsert', method: 'POST', path: '/data/import/thing?', body: '{"_id":"1"}', type: NDJSON },
  { flag: 'upsert', method: 'PUT', path: '/documents/thing/2?', body: {} },
  { flag: 'dryRun', method: 'PUT', path: '/metadata/thing?', body: INFO },
  { flag: 'strict', method: 'PUT', path: '/metadata/thing?', body: INFO },
]

onEveryStore(() => {
  test('parameters: 1 is true, 0 is false, and a refusal names all four', async () => {
    await using server = await startTestServer()
    let entities = 0
    for (const { flag, method, path, body, type } of ROWS) {
      const answers = new Map<string, string>()
      for (const value of ['true', '1', 'false', '0', 'yes', 'TRUE', '2']) {
        // one of its own for each request, so that none sees what another wrote
        const entity = `thing${++entities}`
        await server.define(entity, { name: { type: 'string' } })
        await server.ask('PUT', `/data/insert/${entity}`, { body: { data: [{ _id: '1' }, { _id: '3' }] } })
        const headers = type === undefined ? {} : { 'Content-Type': type }
        const own = body === INFO ? { ...INFO, name: entity } : body
        const sent = own === undefined ? { headers } : { body: own, headers }
        const address = `${path}&${flag}=${value}`.replace('/thing', `/${entity}`)
        answers.set(value, told(await server.ask(method, address, sent), entity))
      }
      const where = `${method} ${path}${flag}`
      const of = (value: string): string => answers.get(value)!
      assert.equal(of('1'), of('true'), where)
      assert.equal(of('0'), of('false'), where)
      assert.notEqual(of('1'), of('0'), where)
      for (const other of ['yes', 'TRUE', '2']) {
        assert.match(of(other), new RegExp(`^400 .*"?${flag}\\\\?" must be true or false, or 1 or 0`), where)
      }
    }
  })
})

/** Cursors and versions are of each entity. */
function told({ status, text }: Answer, entity: string): string {
  return `${status} ${text.replaceAll(entity, 'thing').replaceAll(/"(next|documentVersion)":"[^"]*"/g, '')}`
}
