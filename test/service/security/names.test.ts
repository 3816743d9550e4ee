/** Row 8: what is no name of anything is refused or ignored as such, wherever it stands. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/base/json/json.ts'
import { type Part, type Parts, throughEach } from './entry-points.ts'
import { HOSTILE } from './hostile-names.ts'
import { BOSS, everybody, openOffice, removeNew } from './office.ts'

const office = openOffice()

const REFUSED = /^(?:metadata:Invalid(?:Field|Array)Reference|query-api:Invalid\w+|crud:InvalidRequest)$/

const PLACES: readonly [rule: string, by: Part, parts: (name: string) => Parts][] = [
  ['a query', 'query', (field) => ({ query: { field, op: '=', rvalue: 'x' } })],
  ['rfield', 'query', (rfield) => ({ query: { field: 'name', op: '=', rfield } })],
  ['a regex', 'query', (field) => ({ query: { field, regex: 'x' } })],
  ['contains', 'query', (array) => ({ query: { array, contains: '$any', values: ['x'] } })],
  [
    'elemMatch',
    'query',
    (field) => ({ query: { array: 'items', elemMatch: { field, op: '=', rvalue: 1 } } }),
  ],
  ['an operator', 'query', (op) => ({ query: { field: 'name', op, rvalue: 'x' } })],
  ['a sort', 'sort', (name) => ({ sort: { [name]: '$asc' } })],
  ['an order', 'sort', (order) => ({ sort: [{ n: '$asc' }, { name: order }] })],
  ['an update', 'update', (name) => ({ update: { $set: { [name]: 'x' } } })],
  ['$unset', 'update', (name) => ({ update: { $unset: name } })],
  ['$valueof', 'update', (name) => ({ update: { $set: { note: { $valueof: name } } } })],
  ['$foreach', 'update', (name) => ({ update: { $foreach: { [name]: '$all', $update: '$remove' } } })],
  ['a document', 'data', (name) => ({ data: { [name]: 'x' } })],
]
for (const [rule, by, parts] of PLACES) {
  test(`names: in ${rule} a hostile name is refused as a name at every entry point`, async () => {
    const before = await everybody(office())
    for (const name of HOSTILE) {
      // a sort that a query string can say has only two words for its order
      const outcomes = (await throughEach(office(), { parts: parts(name), by, roles: BOSS })).filter(
        (outcome) => rule !== 'an order' || !/^GET|with P and S/.test(outcome.name),
      )
      assert.ok(outcomes.length >= 6)
      for (const { name: point, code, text } of outcomes) {
        assert.match(code ?? '', REFUSED, `${point} ${name}: ${text}`)
        checkText(text, point)
      }
    }
    assert.equal(await everybody(office()), before)
  })
}

test('names: in a projection a hostile name is the name of nothing', async () => {
  for (const field of HOSTILE) {
    const parts = { projection: [{ field }, { field: 'name' }] }
    for (const outcome of await throughEach(office(), { parts, by: 'projection', roles: BOSS })) {
      const isRefused = outcome.code !== undefined
      if (isRefused) assert.match(outcome.code, REFUSED, `${outcome.name} ${field}: ${outcome.text}`)
      checkText(outcome.text, outcome.name)
    }
    await removeNew(office())
  }
})

const ADDRESSES: readonly ((name: string) => readonly [method: string, path: string, body?: Json])[] = [
  (name) => ['GET', `/data/find/${name}`],
  (name) => ['GET', `/data/find/person/${name}`],
  (name) => ['GET', `/data/explain/person/${name}`],
  (name) => ['GET', `/data/generate/person/${name}`],
  (name) => ['GET', `/data/generate/${name}/n`],
  (name) => ['GET', `/data/search/person/${name}`],
  (name) => ['POST', `/data/search/person/${name}/x`, {}],
  (name) => ['PUT', `/data/insert/${name}`, { data: {} }],
  (name) => ['POST', `/data/save/person/${name}`, { data: {} }],
  (name) => ['POST', `/data/update/${name}`, { query: null, update: { $unset: 'n' } }],
  (name) => ['POST', `/data/delete/${name}`, { query: { $and: [] } }],
  (name) => ['GET', `/metadata/${name}`],
  (name) => ['GET', `/metadata/person/${name}`],
  (name) => ['GET', `/metadata/${name}/roles`],
  (name) => ['GET', `/metadata/${name}/history`],
  (name) => ['PUT', `/metadata/${name}/1.0.0`, {}],
  (name) => ['PUT', `/metadata/person/${name}`, {}],
  (name) => ['DELETE', `/metadata/${name}`],
]
test('names: in an address a hostile name is that of nothing', async () => {
  const before = await everybody(office())
  for (const address of ADDRESSES) {
    for (const name of HOSTILE) {
      const [method, path, body] = address(encodeURIComponent(name))
      const answer = await office().ask(method, path, { roles: BOSS, ...(body !== undefined && { body }) })
      assert.ok(answer.status >= 400 && answer.status < 500, `${method} ${path}: ${answer.text}`)
      checkText(answer.text.replaceAll(/"context":"[^"]*"/g, ''), path)
    }
  }
  assert.equal(await everybody(office()), before)
})

/** No engine has been made to speak. */
function checkText(text: string, name: string): void {
  assert.doesNotMatch(
    text,
    /SQLITE|near "|syntax error|at or near|relation "|no such (?:table|column)|crud:Internal/,
    name,
  )
}
