/** Row 8: names and values never become SQL, wherever they stand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json.ts'
import type { Answer } from '../support/server.ts'
import { metadataDocument } from '../support/service.ts'
import { storeKind } from '../support/store-kind.ts'
import { type Part, type Parts, throughEach } from './entry-points.ts'
import { BOSS, everybody, openOffice, removeNew } from './office.ts'

const office = openOffice()

const HOSTILE = [
  "'",
  '"',
  '\\',
  "name' or '1'='1",
  'name"); drop table doc_1; --',
  "name'); delete from doc_2; --",
  'name->>x',
  "doc->>'name'",
  '$1',
  '?',
  ':name',
  '@name',
  '%',
  '/* name */',
  'name--',
  'name[0]',
  'näme',
  'na\u202eme',
  'n'.repeat(64),
]

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

test('values: a hostile value matches nothing, at every entry point', async () => {
  const before = await everybody(office())
  for (const rvalue of [...HOSTILE, "' or 1=1 --", '%', '_%', "\\' or true --", '{{', '${name}']) {
    const parts = { query: { field: 'name', op: '=', rvalue } }
    for (const { name, response, text } of await throughEach(office(), { parts, by: 'query', roles: BOSS })) {
      assert.deepEqual([response['status'], response['matchCount']], ['COMPLETE', 0], `${name}: ${text}`)
    }
  }
  assert.equal(await everybody(office()), before)
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

test('names: fields may be called anything that is allowed, and are then fields like others', async () => {
  const names = HOSTILE.filter((name) => !name.startsWith('$'))
  const long = ['m', 'o'].map((end) => `${'n'.repeat(80)}${end}`)
  const all = [...names, ...long]
  const fields = Object.fromEntries(all.map((name): [string, Json] => [name, { type: 'string' }]))
  const indexes = all.map((field, i) => ({ name: `${field}${i}`, unique: false, fields: [{ field }] }))
  await office().define('odd', { _id: { type: 'string' }, ...fields }, { info: { indexes } })
  const document = Object.fromEntries(all.map((name, i): [string, Json] => [name, `value ${i}`]))
  const ask = (operation: string, body: JsonObject): Promise<Answer> =>
    office().ask(operation === 'insert' ? 'PUT' : 'POST', `/data/${operation}/odd`, { body })
  assert.equal((await ask('insert', { data: { _id: '1', ...document } })).json.modifiedCount, 1)
  for (const [i, field] of all.entries()) {
    const query = { field, op: '=', rvalue: `value ${i}` }
    const found = await ask('find', { query, projection: { field }, sort: { [field]: '$desc' } })
    assert.deepEqual(found.json.processed, [{ [field]: `value ${i}` }], found.text)
    const updated = await ask('update', {
      query,
      update: { $set: { [field]: 'new' } },
      projection: { field },
    })
    assert.deepEqual(updated.json.processed, [{ [field]: 'new' }], updated.text)
  }
  const left = await ask('find', { projection: { field: '*' } })
  const { _id, objectType, ...others } = left.json.processed[0]
  assert.deepEqual([_id, objectType], ['1', 'odd'])
  assert.deepEqual(others, Object.fromEntries(all.map((name) => [name, 'new'])))
})

test('names: entities that differ in the last of 128 letters do not share their documents', async () => {
  const [one, other] = ['a', 'b'].map((end) => `${'e'.repeat(127)}${end}`)
  for (const name of [one!, other!]) await office().define(name, { _id: { type: 'string' } })
  await office().ask('PUT', `/data/insert/${one}`, { body: { data: { _id: '1' } } })
  assert.equal((await office().ask('GET', `/data/find/${one}`)).json.matchCount, 1)
  assert.equal((await office().ask('GET', `/data/find/${other}`)).json.matchCount, 0)
})

test('metadata: a collection with a hostile name is refused, and so is an entity', async () => {
  const names = HOSTILE.filter((name) => !/^n+$/.test(name))
  const store = { backend: storeKind() }
  const fields = { a: { type: 'string' } }
  for (const collection of [...names, 'sound']) {
    const info = { datastore: { ...store, collection } }
    const body = metadataDocument('stored', fields, { info })
    const answer = await office().ask('PUT', '/metadata/stored/1.0.0', { body })
    const isSound = collection === 'sound'
    assert.equal(answer.status, isSound ? 200 : 422, answer.text)
    if (!isSound) assert.match(answer.json.errorCode, /^metadata:Invalid(?:Datastore|Name)$/, answer.text)
  }
  for (const name of names) {
    const path = `/metadata/${encodeURIComponent(name)}/1.0.0`
    const answer = await office().ask('PUT', path, { body: metadataDocument(name, fields) })
    assert.deepEqual([answer.status, answer.json.errorCode], [422, 'metadata:InvalidName'], answer.text)
  }
})

/** No engine has been made to speak. */
function checkText(text: string, name: string): void {
  assert.doesNotMatch(
    text,
    /SQLITE|near "|syntax error|at or near|relation "|no such (?:table|column)|crud:Internal/,
    name,
  )
}
