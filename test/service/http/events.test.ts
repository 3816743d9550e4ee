/** Reading events: what makes one, what is in it, and who sees what of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestServer } from '../../support/server.ts'
import {
  type Seen,
  change,
  defineSandwich,
  defineSecret,
  done,
  eventsOf,
  insert,
  remove,
} from './events-kitchen.ts'
import { onEveryStore } from '../../support/store-kind.ts'

onEveryStore(() => {
  test('events: another order of toppings makes none, a new topping makes one', async () => {
    await using server = await startTestServer()
    await defineSandwich(server)
    await insert(server, 'sandwich', { _id: 'club', name: 'Club', toppings: ['bacon', 'egg'] })
    await change(server, 'sandwich', 'club', { $set: { toppings: ['egg', 'bacon'] } })
    await change(server, 'sandwich', 'club', { $set: { name: 'Club sandwich' } })
    await change(server, 'sandwich', 'club', { $append: { toppings: 'tomato' } })
    const [made, ...others] = await eventsOf(server, 2)
    assert.equal(made.operation, 'insert')
    const { id, seq, date, ...event } = others[0]
    assert.equal(others.length, 1)
    assert.match(id, /^[0-9a-f-]{36}$/)
    assert.ok(seq > made.seq)
    assert.ok(Math.abs(Date.parse(date) - Date.now()) < 60_000)
    assert.deepEqual(event, {
      hook: 'toppings',
      entity: 'sandwich',
      entityVersion: '1.0.0',
      operation: 'update',
      documentId: 'club',
      principal: 'ann',
      changed: ['toppings.2'],
      removed: [],
      before: { toppings: ['egg', 'bacon'] },
      after: { toppings: ['egg', 'bacon', 'tomato'] },
      include: { name: 'Club sandwich' },
    })
  })

  test('events: another order makes one where order is significant', async () => {
    await using server = await startTestServer()
    await defineSandwich(server, { arrayOrderingSignificant: true })
    await insert(server, 'sandwich', { _id: 'club', toppings: ['bacon', 'egg'] })
    await change(server, 'sandwich', 'club', { $set: { toppings: ['egg', 'bacon'] } })
    const [, moved] = await eventsOf(server, 2)
    assert.deepEqual([moved.operation, moved.after], ['update', { toppings: ['egg', 'bacon'] }])
  })

  const WRITES = [
    ['PUT', '/data/insert/sandwich', { data: { _id: 'a', toppings: ['egg'] } }, 'insert'],
    ['POST', '/data/save/sandwich', { data: { _id: 'a', toppings: ['ham'] } }, 'update'],
    ['POST', '/data/save/sandwich', { data: { _id: 'a', toppings: ['ham'] } }, undefined],
    ['POST', '/data/save/sandwich', { data: { _id: 'b', toppings: ['ham'] }, upsert: true }, 'insert'],
    [
      'POST',
      '/data/update/sandwich',
      { query: { field: '_id', op: '=', rvalue: 'b' }, update: { $unset: 'toppings' } },
      'update',
    ],
    ['POST', '/data/delete/sandwich', { query: { field: '_id', op: '=', rvalue: 'a' } }, 'delete'],
  ] as const

  test('events: insert, save, upsert, update and delete make the events of what they do', async () => {
    await using server = await startTestServer()
    await defineSandwich(server)
    for (const [method, path, body] of WRITES) await done(server, method, path, body)
    const expected = WRITES.flatMap(([, , , operation]) => operation ?? [])
    const events = await eventsOf(server, expected.length)
    assert.deepEqual(
      events.map(({ operation }) => operation),
      expected,
    )
    assert.deepEqual(
      events.map(({ documentId }) => documentId),
      ['a', 'a', 'b', 'b', 'a'],
    )
    assert.equal('before' in events[0], false)
    assert.equal('after' in events.at(-1), false)
  })

  for (const mode of [{}, { ordered: false }, { atomic: true }]) {
    test(`events: a bulk makes those of its entries: ${JSON.stringify(mode)}`, async () => {
      await using server = await startTestServer()
      await defineSandwich(server)
      const requests = ['a', 'b', 'c'].map((_id, seq) => ({
        seq,
        op: 'insert',
        request: { entity: 'sandwich', data: { _id, toppings: [_id] } },
      }))
      await done(server, 'POST', '/data/bulk', { requests, ...mode })
      const ids = (await eventsOf(server, 3)).map(({ documentId }) => documentId)
      assert.deepEqual(ids.toSorted(), ['a', 'b', 'c'])
    })
  }

  test('events: what is refused or taken back makes none', async () => {
    await using server = await startTestServer()
    await defineSandwich(server)
    await insert(server, 'sandwich', { _id: 'a', toppings: [] })
    const twice = [
      { _id: 'b', toppings: ['egg'] },
      { _id: 'b', toppings: ['egg'] },
    ]
    const atomic = { data: twice, execution: { atomic: true } }
    await server.ask('PUT', '/data/insert/sandwich', { body: atomic })
    await server.ask('PUT', '/data/insert/sandwich', { body: { data: { _id: 'a', toppings: ['egg'] } } })
    await insert(server, 'sandwich', { _id: 'c', toppings: ['egg'] })
    const ids = (await eventsOf(server, 1)).map(({ documentId }) => documentId)
    assert.deepEqual(ids, ['c'])
  })

  test('events: a field that the reader may not see is in none, and its change is none', async () => {
    await using server = await startTestServer()
    await defineSecret(server)
    await insert(server, 'secret', { _id: '1', owner: 'me', open: 'a', hidden: 'x' })
    await change(server, 'secret', '1', { $set: { hidden: 'y' } })
    await change(server, 'secret', '1', { $set: { open: 'b', hidden: 'z' } })
    const all = await eventsOf(server, 3, { roles: ['boss'] })
    assert.deepEqual(
      all.map(({ changed }) => changed),
      [['objectType', '_id', 'owner', 'open', 'hidden'], ['hidden'], ['open', 'hidden']],
    )
    const seen = await eventsOf(server, 2, { principal: 'me' })
    assert.doesNotMatch(JSON.stringify(seen), /hidden|"[xyz]"/)
    assert.deepEqual(
      seen.map(({ operation, changed, include }) => [operation, changed, include]),
      [
        ['insert', ['objectType', '_id', 'owner', 'open'], {}],
        ['update', ['open'], {}],
      ],
    )
  })

  test('events: documents that no rule admits the reader to have none, before or after', async () => {
    await using server = await startTestServer()
    await defineSecret(server)
    await insert(server, 'secret', [
      { _id: 'mine', owner: 'me', open: 'a' },
      { _id: 'yours', owner: 'you', open: 'a' },
    ])
    await change(server, 'secret', 'yours', { $set: { owner: 'me' } })
    await change(server, 'secret', 'yours', { $set: { open: 'b' } })
    await remove(server, 'secret', 'mine')
    const seen = await eventsOf(server, 3, { principal: 'me' })
    assert.deepEqual(
      seen.map(({ operation, documentId }) => [operation, documentId]),
      [
        ['insert', 'mine'],
        ['update', 'yours'],
        ['delete', 'mine'],
      ],
    )
    assert.equal((await eventsOf(server, 5, { roles: ['boss'] })).length, 5)
  })

  test('events: the lists of the version that a document was changed by count as they are now', async () => {
    await using server = await startTestServer()
    await defineSandwich(server)
    await insert(server, 'sandwich', { _id: 'a', toppings: ['egg'] })
    assert.equal((await eventsOf(server, 1)).length, 1)
    const metadata = (await server.ask('GET', '/metadata/sandwich/1.0.0')).json
    const version = { value: '2.0.0', changelog: 'closed' }
    const access = { find: ['boss'], insert: ['boss'], update: ['boss'], delete: ['boss'] }
    const closed = { ...metadata.schema, version, access }
    await done(server, 'PUT', '/metadata/sandwich/2.0.0', {
      entityInfo: { ...metadata.entityInfo, defaultVersion: '2.0.0' },
      schema: closed,
    })
    await insert(server, 'sandwich', { _id: 'b', toppings: ['ham'] })
    const all = await eventsOf(server, 2, { roles: ['boss'] })
    assert.deepEqual(
      all.map(({ entityVersion }) => entityVersion),
      ['1.0.0', '2.0.0'],
    )
    assert.equal((await server.ask('GET', '/events')).json.events.length, 1)
    const off = await server.ask('PUT', '/metadata/sandwich/1.0.0/disabled')
    assert.equal(off.status, 200, off.text)
    const left = (await server.ask('GET', '/events', { roles: ['boss'] })).json.events
    assert.deepEqual(
      left.map(({ entityVersion }: Seen) => entityVersion),
      ['2.0.0'],
    )
  })

  test('events: entities that are gone have none', async () => {
    await using server = await startTestServer()
    await defineSandwich(server)
    await insert(server, 'sandwich', { _id: 'a', toppings: ['egg'] })
    const [{ seq }] = await eventsOf(server, 1)
    await server.ask('DELETE', '/metadata/sandwich/default')
    await server.ask('PUT', '/metadata/sandwich/1.0.0/disabled')
    const gone = await server.ask('DELETE', '/metadata/sandwich?documents=delete')
    assert.equal(gone.status, 200, gone.text)
    assert.deepEqual((await server.ask('GET', '/events')).json, { events: [], next: seq })
    assert.equal((await server.ask('GET', '/events?entity=sandwich')).status, 404)
  })

  test('events: a hook of kind audit tells field by field from what to what', async () => {
    await using server = await startTestServer()
    const hooks = [{ name: 'audit', actions: ['update'], configuration: { kind: 'audit' } }]
    await server.define('note', { text: { type: 'string' }, stars: { type: 'integer' } }, { info: { hooks } })
    await insert(server, 'note', { _id: '1', text: 'a', stars: 1 })
    await change(server, 'note', '1', { $set: { stars: 2 } })
    const [event] = await eventsOf(server, 1)
    assert.deepEqual(event.changes, [{ path: 'stars', from: 1, to: 2 }])
    assert.equal('before' in event, false)
  })
})
