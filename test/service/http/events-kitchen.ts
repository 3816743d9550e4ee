/** Entities whose changes the tests of events watch. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import assert from 'node:assert/strict'
import type { TestServer } from '../../support/server.ts'

// eslint-disable-next-line typescript/no-explicit-any -- tests look into whatever came
export type Seen = any

const ACTIONS = ['insert', 'update', 'delete']

/** Sandwiches, with a hook that watches their toppings and tells their name. */
export async function defineSandwich(server: TestServer, hook: JsonObject = {}): Promise<void> {
  const fields = {
    name: { type: 'string' },
    price: { type: 'integer', access: { find: ['boss'] } },
    toppings: { type: 'array', items: { type: 'string' } },
  }
  const configuration = {
    watchProjection: { field: 'toppings', recursive: true },
    includeProjection: { field: 'name' },
    arrayOrderingSignificant: false,
    ...hook,
  }
  const hooks = [{ name: 'toppings', actions: ACTIONS, configuration }]
  await server.define('sandwich', fields, { info: { hooks } })
}

/** Secrets: `open` is for anybody, `hidden` for the boss, and documents of others for nobody but the boss. */
export async function defineSecret(server: TestServer): Promise<void> {
  const fields = {
    owner: { type: 'string' },
    open: { type: 'string' },
    hidden: { type: 'string', access: { find: ['boss'] } },
  }
  const own = { role: 'anyone', where: { field: 'owner', op: '=', rvalue: '$caller.principal' } }
  const access = { find: ['boss', own], insert: ['anyone'], update: ['boss'], delete: ['boss'] }
  const hooks = [{ name: 'all', actions: ACTIONS, configuration: { includeProjection: { field: 'hidden' } } }]
  await server.define('secret', fields, { info: { hooks }, schema: { access } })
}

/** Asks as the boss, and fails unless all went well. */
export async function done(
  server: TestServer,
  method: string,
  path: string,
  body: JsonObject,
): Promise<Seen> {
  const answer = await server.ask(method, path, {
    body,
    roles: ['boss'],
    headers: { 'Smalt-Principal': 'ann' },
  })
  assert.equal(answer.status, 200, answer.text)
  assert.doesNotMatch(answer.text, /"errorCode"/)
  return answer.json
}

export async function insert(server: TestServer, entity: string, data: Json): Promise<void> {
  await done(server, 'PUT', `/data/insert/${entity}`, { data })
}

export async function change(server: TestServer, entity: string, id: string, update: Json): Promise<void> {
  const query = { field: '_id', op: '=', rvalue: id }
  await done(server, 'POST', `/data/update/${entity}`, { query, update })
}

export async function remove(server: TestServer, entity: string, id: string): Promise<void> {
  await done(server, 'POST', `/data/delete/${entity}`, { query: { field: '_id', op: '=', rvalue: id } })
}

export interface Reading {
  readonly query?: string
  readonly roles?: readonly string[]
  readonly principal?: string
}

/** Reads until there are so many. */
export async function eventsOf(
  server: TestServer,
  count: number,
  { query = '', roles = [], principal = '' }: Reading = {},
): Promise<readonly Seen[]> {
  const events: Seen[] = []
  for (let next = 0; events.length < count;) {
    const answer = await server.ask('GET', `/events?since=${next}&wait=5&${query}`, {
      roles,
      headers: { 'Smalt-Principal': principal },
    })
    assert.equal(answer.status, 200, answer.text)
    assert.ok(answer.json.events.length > 0, `there are only ${JSON.stringify(events)}`)
    events.push(...answer.json.events)
    next = answer.json.next
  }
  return events
}
