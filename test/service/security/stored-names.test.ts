/** Row 8: names and values that reach the store never become SQL. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { Answer } from '../../support/server.ts'
import { metadataDocument } from '../../support/service.ts'
import { onEveryStore, storeKind } from '../../support/store-kind.ts'
import { throughEach } from './entry-points.ts'
import { HOSTILE } from './hostile-names.ts'
import { BOSS, everybody, openOffice } from './office.ts'

onEveryStore(() => {
  const office = openOffice()

  test('values: a hostile value matches nothing, at every entry point', async () => {
    const before = await everybody(office())
    for (const rvalue of [...HOSTILE, "' or 1=1 --", '%', '_%', "\\' or true --", '{{', '${name}']) {
      const parts = { query: { field: 'name', op: '=', rvalue } }
      for (const { name, response, text } of await throughEach(office(), {
        parts,
        by: 'query',
        roles: BOSS,
      })) {
        assert.deepEqual([response['status'], response['matchCount']], ['COMPLETE', 0], `${name}: ${text}`)
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
    // Hyphens are allowed: no name becomes part of a statement.
    const names = HOSTILE.filter((name) => !/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name))
    const store = { backend: storeKind() }
    const fields = { a: { type: 'string' } }
    for (const collection of [...names, 'name--']) {
      const info = { datastore: { ...store, collection } }
      const body = metadataDocument('stored', fields, { info })
      const answer = await office().ask('PUT', '/metadata/stored/1.0.0', { body })
      const isSound = collection === 'name--'
      assert.equal(answer.status, isSound ? 200 : 422, answer.text)
      if (!isSound) assert.match(answer.json.errorCode, /^metadata:Invalid(?:Datastore|Name)$/, answer.text)
    }
    for (const name of names) {
      const path = `/metadata/${encodeURIComponent(name)}/1.0.0`
      const answer = await office().ask('PUT', path, { body: metadataDocument(name, fields) })
      assert.deepEqual([answer.status, answer.json.errorCode], [422, 'metadata:InvalidName'], answer.text)
    }
  })
})
