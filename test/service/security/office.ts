/** The service that is attacked: an office whose clerks may read everything about people but what is hidden from them. */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { assertUnpolluted } from '../bad-input/fixture.ts'
import { type TestServer, startTestServer } from '../../support/server.ts'

export const CLERK = ['clerk']
export const BOSS = ['boss', 'clerk']

/**
 * Every hidden value holds one of these, so that no answer to a clerk may. The number counts on its own only, because
 * document versions and ids may contain the same five digits.
 */
const SECRET = /SECRET|(?<!\d)98765(?!\d)/

const HIDDEN: JsonObject = { access: { find: ['boss'] } }

const FIELDS: JsonObject = {
  _id: { type: 'string', constraints: { identity: true } },
  name: { type: 'string' },
  note: { type: 'string' },
  n: { type: 'integer' },
  tags: { type: 'array', items: { type: 'string' } },
  ssn: { type: 'string', ...HIDDEN },
  pay: { type: 'integer', ...HIDDEN },
  codes: { type: 'array', items: { type: 'string' }, ...HIDDEN },
  vault: {
    type: 'object',
    ...HIDDEN,
    fields: { key: { type: 'string', access: { find: ['anyone'] } } },
  },
  box: { type: 'object', fields: { plain: { type: 'string' }, pin: { type: 'string', ...HIDDEN } } },
  items: {
    type: 'array',
    items: {
      type: 'object',
      fields: {
        n: { type: 'integer' },
        cost: { type: 'integer', ...HIDDEN },
        parts: {
          type: 'array',
          items: { type: 'object', fields: { x: { type: 'string', ...HIDDEN }, y: { type: 'string' } } },
        },
      },
    },
  },
  ticket: { type: 'integer', valueGenerator: { type: 'IntSequence', configuration: { name: 'tickets' } } },
}

function person(id: string, n: number, pay: number): JsonObject {
  return {
    _id: id,
    name: `name ${id}`,
    note: 'note',
    n,
    tags: ['a', 'b'],
    ssn: `SECRET-ssn-${id}`,
    pay,
    codes: [`SECRET-code-${id}`, 'SECRET-code'],
    vault: { key: `SECRET-key-${id}` },
    box: { plain: 'plain', pin: `SECRET-pin-${id}` },
    items: [
      { n: 1, cost: pay, parts: [{ x: `SECRET-x-${id}`, y: 'y' }] },
      { n: 2, cost: 987_650_002, parts: [] },
    ],
  }
}

/** Opposite orders by what is seen and by what is not. */
const PEOPLE: readonly JsonObject[] = [
  person('1', 1, 987_650_003),
  person('2', 2, 987_650_002),
  person('3', 3, 987_650_001),
]

const ROLES = ['clerk', 'boss']

/** One office for the tests of a file; at the end no fault was ours and nothing is polluted. */
export function openOffice(): () => TestServer {
  let server: TestServer
  before(async () => {
    server = await startTestServer()
    await server.define('person', FIELDS, {
      info: { history: true },
      schema: { access: { find: ROLES, insert: ROLES, update: ROLES, delete: ROLES } },
    })
    await put(server, 'person', PEOPLE)
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    assert.deepEqual(server.faults(), [])
    assertUnpolluted()
  })
  return () => server
}

export async function put(server: TestServer, entity: string, data: Json): Promise<void> {
  const answer = await server.ask('PUT', `/data/insert/${entity}`, {
    body: { data },
    roles: ['admin', ...BOSS],
  })
  assert.equal(answer.json.status, 'COMPLETE', answer.text)
}

/** Everybody, as who may read everything sees them: what an attack must not change. */
export async function everybody(server: TestServer): Promise<string> {
  const answer = await server.ask('GET', '/data/find/person?S=_id:a', { roles: BOSS })
  assert.equal(answer.json.status, 'COMPLETE', answer.text)
  return JSON.stringify(answer.json.processed)
}

/** Takes away whom entry points that insert have added; else all others have more to do each time. */
export async function removeNew(server: TestServer): Promise<void> {
  const query = { field: 'name', op: '=', rvalue: 'new' }
  const answer = await server.ask('POST', '/data/delete/person', { body: { query }, roles: BOSS })
  assert.equal(answer.json.status, 'COMPLETE', answer.text)
}

export function assertNoSecret(text: string, name: string): void {
  assert.doesNotMatch(text, SECRET, name)
}
