/** The entities that the tests of the interface speak of, and the few ways they speak. */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { type Answer, type Ask, type TestServer, startTestServer } from '../../support/server.ts'
import { ANYONE, metadataDocument } from '../../support/service.ts'
import { storeKind } from '../../support/store-kind.ts'

export const EVERYTHING: JsonObject = { field: '*', include: true, recursive: true }

const readableBy = (...roles: readonly string[]): JsonObject => ({
  access: { find: roles, insert: roles, update: roles },
})

/** Open to anyone; 1.1.0 knows one field more than the default version 1.0.0. */
export const COUNTRY: JsonObject = {
  iso2Code: { type: 'string', constraints: { required: true, maxLength: 2 } },
  name: { type: 'string' },
  population: { type: 'integer' },
  neighbours: { type: 'array', items: { type: 'string' } },
  places: {
    type: 'array',
    items: { type: 'object', fields: { name: { type: 'string' }, height: { type: 'integer' } } },
  },
}

/** Who may do what depends on the role; `salary` is for the boss alone. */
export const STAFF: JsonObject = {
  name: { type: 'string' },
  salary: { type: 'integer', ...readableBy('boss') },
  floor: { type: 'integer' },
  badge: {
    type: 'string',
    valueGenerator: { type: 'IntSequence', configuration: { name: 'badges', initialValue: 500 } },
  },
  token: { type: 'uid', valueGenerator: { type: 'UUID' } },
  hired: { type: 'date', valueGenerator: { type: 'CurrentTime' } },
  tags: {
    type: 'array',
    items: {
      type: 'object',
      fields: { code: { type: 'string', valueGenerator: { type: 'UUID' } }, text: { type: 'string' } },
    },
  },
}

export const STAFF_ACCESS: JsonObject = {
  insert: ['hr', 'boss'],
  update: ['hr', 'boss'],
  find: ['hr', 'boss', 'guest'],
  delete: ['boss'],
}

export function countryInfo(): JsonObject {
  return {
    name: 'country',
    defaultVersion: '1.0.0',
    datastore: { backend: storeKind(), collection: 'country', datasource: 'default' },
    indexes: [{ name: 'iso2', unique: true, fields: [{ field: 'iso2Code', dir: '$asc' }] }],
  }
}

export function country(iso2Code: string, name: string, population: number): JsonObject {
  return { iso2Code, name, population }
}

export interface Seed {
  readonly ask: TestServer['ask']
  readonly raw: TestServer['raw']
  readonly define: TestServer['define']
  /** The server of the file that calls; started before its tests and ended after them. */
  readonly server: () => TestServer
}

/** Starts a server for the tests of a file, with the entities above and what `fill` adds. */
export function seed(fill: (server: TestServer) => Promise<unknown> = async () => {}): Seed {
  let server: TestServer
  before(async () => {
    server = await startTestServer()
    await defineSeed(server)
    await fill(server)
  })
  after(async () => {
    assert.deepEqual(server.faults(), [])
    await server[Symbol.asyncDispose]()
  })
  return {
    server: () => server,
    ask: (...call) => server.ask(...call),
    raw: (...parts) => server.raw(...parts),
    define: (...call) => server.define(...call),
  }
}

export async function defineSeed(server: TestServer): Promise<void> {
  await server.define('country', COUNTRY, { info: countryInfo() })
  const schema = { version: { value: '1.1.0', changelog: 'capital' }, access: ANYONE }
  const next = metadataDocument('country', { ...COUNTRY, capital: { type: 'string' } }, { schema })
  sound(await server.ask('PUT', '/metadata/country/schema=1.1.0', { body: next['schema']! }))
  await server.define('staff', STAFF, { schema: { access: STAFF_ACCESS } })
  await server.define(
    'draft',
    { text: { type: 'string' } },
    {
      info: { defaultVersion: null },
      schema: { access: { find: ['anyone'], insert: ['anyone'] } },
    },
  )
}

/** Inserts documents, all of which must be sound. */
export async function store(
  { ask }: Pick<TestServer, 'ask'>,
  entity: string,
  data: Json,
): Promise<readonly JsonObject[]> {
  const body = { data, projection: EVERYTHING }
  const answer = sound(await ask('PUT', `/data/insert/${entity}`, { body, roles: ['hr', 'boss'] }))
  assert.equal(answer.json.status, 'COMPLETE', answer.text)
  return answer.json.processed
}

export function sound(answer: Answer): Answer {
  assert.equal(answer.status, 200, answer.text)
  return answer
}

/** The error that ended a data request: the whole document has the shape that every client relies on. */
export function dataError(answer: Answer, status: number, code: string): JsonObject {
  assert.equal(answer.status, status, answer.text)
  const { entity: _entity, entityVersion: _version, errors, ...rest } = answer.json
  assert.deepEqual(rest, { status: 'ERROR', modifiedCount: 0, matchCount: 0 }, answer.text)
  assert.equal(errors.length, 1, answer.text)
  return errorObject(errors[0], code)
}

/** The bare error object with which metadata routes answer. */
export function metadataError(answer: Answer, status: number, code: string): JsonObject {
  assert.equal(answer.status, status, answer.text)
  return errorObject(answer.json, code)
}

export function errorObject(error: JsonObject, code: string): JsonObject {
  assert.deepEqual(Object.keys(error), ['objectType', 'context', 'errorCode', 'msg'])
  for (const value of Object.values(error)) assert.ok(typeof value === 'string' && value !== '')
  assert.equal(error['objectType'], 'error')
  assert.equal(error['errorCode'], code, JSON.stringify(error))
  return error
}

/** Every address of an operation: with and without `/rest`, with and without a version. */
export function addresses(operation: string, entity: string, version: string, tail = ''): readonly string[] {
  const paths = [`/data/${operation}/${entity}${tail}`, `/data/${operation}/${entity}/${version}${tail}`]
  return paths.flatMap((path) => [path, `/rest${path}`])
}

export type { Answer, Ask }
