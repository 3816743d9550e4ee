/** Plain documents: which members `fields` returns, and the time of the request in a merge patch. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { type Ask, type TestServer, startTestServer } from '../support/server.ts'
import { textOf } from '../support/service.ts'
import { onEveryStore } from '../support/store-kind.ts'

const HIDDEN = { access: { find: ['hr'] } }
const FIELDS: JsonObject = {
  name: { type: 'string' },
  born: { type: 'date' },
  left: { type: 'date' },
  text: { type: 'string' },
  more: { type: 'any' },
  pay: { type: 'integer', ...HIDDEN },
  home: { type: 'object', ...HIDDEN, fields: { city: { type: 'string' } } },
  trips: { type: 'array', items: { type: 'object', fields: { at: { type: 'date' } } } },
}
const PERSON: JsonObject = {
  _id: '1',
  name: 'Ann',
  pay: 5,
  home: { city: 'Bern' },
  trips: [{ at: '2024-01-02T03:04:05.678Z' }],
}
const NOW = { $now: true }

/** The `fields` that a caller without the role asks for, what they name, and what both callers receive. */
const ASKED: readonly (readonly [fields: string, what: string, hr: JsonObject, other: JsonObject])[] = [
  ['pay', 'a hidden field', { pay: 5 }, {}],
  ['nothing', 'an unknown field', {}, {}],
  ['name,pay', 'a hidden field beside another one', { name: 'Ann', pay: 5 }, { name: 'Ann' }],
  ['name,nothing', 'an unknown field beside another one', { name: 'Ann' }, { name: 'Ann' }],
  ['home', 'a hidden object', { home: { city: 'Bern' } }, {}],
  ['home.city', 'a member of a hidden object', { home: { city: 'Bern' } }, {}],
  ['home.nothing', 'an unknown member of a hidden object', {}, {}],
  ['trips.*.nothing', 'an unknown member of elements', {}, {}],
  ['__proto__,constructor,toString', 'names that every object has', {}, {}],
]

onEveryStore(() => {
  let server: TestServer

  before(async () => {
    server = await startTestServer()
    await server.define('person', FIELDS)
    const answer = await server.ask('POST', '/documents/person', { body: PERSON, roles: ['hr'] })
    assert.equal(answer.status, 201, answer.text)
  })
  after(() => server[Symbol.asyncDispose]())

  for (const [fields, what, hr, other] of ASKED) {
    test(`documents: fields returns what the caller may read, without ${what}`, async () => {
      const shown = async (path: string, roles: readonly string[]): Promise<Json> => {
        const { status, json, text } = await server.ask('GET', `${path}?fields=${fields}`, { roles })
        assert.equal(status, 200, text)
        return json
      }
      for (const [roles, document] of [
        [['hr'], hr],
        [['x'], other],
      ] as const) {
        assert.deepEqual(await shown('/documents/person/1', roles), document)
        assert.deepEqual(await shown('/documents/person', roles), { items: [document] })
      }
    })
  }

  test('documents: a hidden field in fields looks like an unknown one', async () => {
    const headers = { 'X-Request-Id': 'same' }
    for (const path of ['/documents/person', '/documents/person/1']) {
      const [hidden, unknown] = await Promise.all(
        ['pay', 'pax'].map((field) => server.ask('GET', `${path}?fields=${field}`, { headers })),
      )
      const { date: _, ...same } = hidden!.headers
      const { date: __, ...others } = unknown!.headers
      assert.deepEqual([hidden!.status, hidden!.text, same], [unknown!.status, unknown!.text, others])
    }
  })

  async function patched(body: JsonObject, ask: Ask = {}): Promise<{ status: number; json: JsonObject }> {
    const headers = { 'Content-Type': 'application/merge-patch+json' }
    return await server.ask('PATCH', '/documents/person/1', { headers, ...ask, body: JSON.stringify(body) })
  }

  test('documents: in a merge patch {"$now": true} is the time of the request, for dates', async () => {
    const from = Date.now()
    const { status, json } = await patched({ born: NOW, left: NOW, trips: [{ at: NOW }, { at: NOW }] })
    const to = Date.now()
    assert.equal(status, 200, JSON.stringify(json))
    const { left, trips } = json
    const born = textOf(json['born'])
    const time = Date.parse(born)
    assert.ok(time >= from && time <= to, `${born} is not between ${from} and ${to}`)
    assert.deepEqual([left, trips], [born, [{ at: born }, { at: born }]])
    const again = await server.ask('GET', '/documents/person/1')
    assert.deepEqual([again.json.born, again.json.trips], [born, trips])
  })

  test('documents: in a merge patch {"$now": true} stays what it is in a field of type any', async () => {
    for (const [before, patch, more] of [
      [null, NOW, NOW],
      [{ a: 1 }, { b: NOW }, { a: 1, b: NOW }],
      [null, [NOW], [NOW]],
    ] as const) {
      await patched({ more: null })
      await patched({ more: before })
      const { status, json } = await patched({ more: patch })
      assert.deepEqual([status, json['more']], [200, more])
    }
  })

  test('documents: {"$now": true} is refused where there is no date, and in a whole document', async () => {
    for (const [method, path, body, code] of [
      ['PATCH', '/1', { text: NOW }, 'metadata:IncompatibleValue'],
      ['PATCH', '/1', { born: { $now: false } }, 'metadata:IncompatibleValue'],
      ['PATCH', '/1', { born: { ...NOW, more: 1 } }, 'metadata:IncompatibleValue'],
      ['PATCH', '/1', NOW, 'metadata:InvalidFieldReference'],
      ['POST', '', { born: NOW }, 'metadata:IncompatibleValue'],
      ['PUT', '/1', { born: NOW }, 'metadata:IncompatibleValue'],
    ] as const) {
      const { status, json } = await server.ask(method, `/documents/person${path}`, { body })
      assert.deepEqual([status, json.errorCode], [400, code], `${method} ${JSON.stringify(body)}`)
    }
  })
})
