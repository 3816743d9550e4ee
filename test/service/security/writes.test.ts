/** Rows 15, 21 and 23: who may only read writes nothing, and who may write writes only what is theirs to write. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { EVERYTHING } from '../../support/service.ts'
import { ENTRY_POINTS, type EntryPoint, throughEach } from './entry-points.ts'
import { BOSS, CLERK, everybody, openOffice } from './office.ts'
import { onEveryStore } from '../../support/store-kind.ts'

onEveryStore(() => {
  const office = openOffice()
  const ALL: Json = { field: '_id', op: '!=', rvalue: null }

  const WRITES: readonly EntryPoint[] = ENTRY_POINTS.filter(({ name }) =>
    /insert|\bPUT\b|save|update|delete/.test(name),
  )

  function lists(...operations: readonly string[]): JsonObject {
    const of = (operation: string): readonly string[] => (operations.includes(operation) ? ['anyone'] : [])
    return { find: of('find'), insert: of('insert'), update: of('update'), delete: of('delete') }
  }

  test('read only: a role that may only find changes nothing through any entry point', async () => {
    assert.ok(WRITES.length >= 26)
    const fields = { _id: { type: 'string' }, name: { type: 'string' }, note: { type: 'string' } }
    await office().define('book', fields, { schema: { access: lists('find') } })
    for (const { name, send } of WRITES) {
      for (const data of [{ name: 'new' }, { _id: '1', name: 'new' }]) {
        const outcome = await send(office(), { entity: 'book', data, upsert: true }, [
          'clerk',
          'find',
          'anyone',
        ])
        assert.equal(outcome!.code, 'crud:NoAccess', `${name}: ${outcome!.text}`)
        assert.equal(outcome!.response['modifiedCount'], 0, name)
      }
    }
    assert.equal((await office().ask('GET', '/data/find/book')).json.matchCount, 0)
  })

  const HALVES: readonly [rule: string, may: readonly string[], body: JsonObject][] = [
    ['update alone does not insert by upsert', ['find', 'update'], { data: { _id: 'new' }, upsert: true }],
    ['insert alone does not change by save', ['find', 'insert'], { data: { _id: 'old', name: 'x' } }],
    [
      'insert alone does not change by upsert',
      ['find', 'insert'],
      { data: { _id: 'old', name: 'x' }, upsert: true },
    ],
  ]
  for (const [i, [rule, may, body]] of HALVES.entries()) {
    test(`save: ${rule}`, async () => {
      const entity = `half${i}`
      const fields = { _id: { type: 'string' }, name: { type: 'string' } }
      await office().define(entity, fields, { schema: { access: lists(...may) } })
      const bulk = (atomic: boolean): JsonObject => ({
        atomic,
        requests: [{ seq: 1, op: 'save', request: { entity, ...body } }],
      })
      const answers = [
        await office().ask('POST', `/data/save/${entity}`, { body }),
        await office().ask('POST', '/data/bulk', { body: bulk(false) }),
        await office().ask('POST', '/data/bulk', { body: bulk(true) }),
      ]
      for (const { text } of answers) assert.match(text, /crud:NoAccess/)
      assert.equal((await office().ask('GET', `/data/find/${entity}`)).json.matchCount, 0)
    })
  }

  test('bulk: each entry is judged by itself, whatever stands beside it', async () => {
    await office().define(
      'closed',
      { _id: { type: 'string' }, name: { type: 'string' } },
      { schema: { access: lists() } },
    )
    const closed = {
      entity: 'closed',
      projection: EVERYTHING,
    }
    const decisive: Readonly<Record<string, JsonObject>> = {
      insert: { data: {} },
      save: { data: {} },
      update: { query: ALL, update: { $unset: 'name' } },
    }
    const closedFor = (op: string): JsonObject => ({
      ...closed,
      ...(decisive[op.toLowerCase()] ?? { query: ALL }),
    })
    const open = { entity: 'person', projection: { field: 'n' } }
    const operations = ['find', 'explain', 'insert', 'save', 'update', 'delete', 'generate', 'FIND', 'Insert']
    const requests = operations.flatMap((op, i) => [
      { seq: 2 * i, op: 'find', request: open },
      { seq: 2 * i + 1, op, request: op === 'generate' ? { entity: 'closed', field: '_id' } : closedFor(op) },
    ])
    for (const mode of [{}, { ordered: false }]) {
      const { json } = await office().ask('POST', '/data/bulk', { body: { ...mode, requests }, roles: CLERK })
      for (const { seq, response } of json.responses) {
        if (seq % 2 === 0) assert.equal(response.status, 'COMPLETE')
        else assert.equal(response.errors[0].errorCode, 'crud:NoAccess', String(operations[(seq - 1) / 2]))
      }
    }
  })

  test('bulk: one inside of another is refused, however it is spelled', async () => {
    const inner = {
      entity: 'person',
      requests: [{ seq: 1, op: 'delete', request: { entity: 'person', query: ALL } }],
    }
    const before = await everybody(office())
    for (const op of [
      'bulk',
      'BULK',
      ' bulk',
      'data/bulk',
      'search',
      'lock',
      'stream',
      '',
      null,
      ['find'],
      { op: 'find' },
    ]) {
      for (const mode of [{}, { atomic: true }]) {
        const body = { ...mode, requests: [{ seq: 1, op, request: inner }] } as JsonObject
        const { json } = await office().ask('POST', '/data/bulk', { body, roles: BOSS })
        assert.equal(
          json.responses[0].response.errors[0].errorCode,
          'crud:InvalidRequest',
          JSON.stringify(op),
        )
      }
    }
    assert.equal(await everybody(office()), before)
  })

  test('bulk: headers and parameters that name another method or path are ignored', async () => {
    const before = await everybody(office())
    const overrides = [
      'X-HTTP-Method-Override',
      'X-HTTP-Method',
      'X-Method-Override',
      'X-Original-URL',
      'X-Rewrite-URL',
    ]
    for (const name of overrides) {
      for (const value of ['DELETE', 'PUT', '/data/delete/person', '/metadata']) {
        const body = { query: ALL, projection: { field: 'n' } }
        const answer = await office().ask('POST', '/data/find/person', {
          body,
          headers: { [name]: value },
          roles: BOSS,
        })
        assert.equal(answer.json.matchCount, 3, answer.text)
        const path = `/data/find/person?_method=${encodeURIComponent(value)}`
        assert.equal((await office().ask('GET', path, { roles: BOSS })).status, 400)
      }
    }
    assert.equal(await everybody(office()), before)
  })

  const OWN: readonly [rule: string, data: JsonObject][] = [
    ['another objectType', { name: 'x', objectType: 'savedSearch' }],
    [
      'audit fields that are no fields',
      { name: 'x', createdBy: 'root', _version: 1, documentVersion: '1:1' },
    ],
    ['columns of a table', { name: 'x', id: '1', version: 1, doc: '{}', body: {} }],
    ['metadata', { name: 'x', access: { find: ['anyone'] }, entityInfo: {} }],
  ]
  for (const [rule, data] of OWN) {
    test(`documents: ${rule} cannot be set at any entry point`, async () => {
      const before = await everybody(office())
      for (const { name, code, text } of await throughEach(office(), {
        parts: { data },
        by: 'data',
        roles: BOSS,
      })) {
        assert.match(
          code ?? '',
          /^(?:metadata:InvalidFieldReference|crud:InvalidEntity)$/,
          `${name}: ${text}`,
        )
      }
      assert.equal(await everybody(office()), before)
    })
  }

  const MADE = { access: { insert: ['noone'], update: ['noone'] }, constraints: { required: true } }
  const LONG_AGO = '20000101T00:00:00.000+0000'

  test('documents: what the service makes it makes itself, at every entry point', async () => {
    const fields = {
      _id: { type: 'string' },
      list: { type: 'array', items: { type: 'integer' } },
      mark: { type: 'string', documentVersion: true },
      made: { type: 'date', ...MADE, valueGenerator: { type: 'CurrentTime' } },
      changed: { type: 'date', ...MADE, valueGenerator: { type: 'CurrentTime', overwrite: true } },
    }
    await office().define('made', fields)
    const data = { list: [1, 2], 'list#': 99, mark: 'forged' }
    for (const { name, response, text } of await throughEach(office(), {
      parts: { entity: 'made', data },
      by: 'data',
      roles: [],
    })) {
      // an import returns no documents; what it stored is read below
      const { processed = [] } = response as { readonly processed?: readonly JsonObject[] }
      if (name.includes('/import')) continue
      const [document] = processed
      assert.ok(document, `${name}: ${text}`)
      assert.equal(document['list#'], 2, name)
      assert.notEqual(document['mark'], 'forged', name)
    }
    const stored = (await office().ask('GET', '/data/find/made')).json.processed as readonly JsonObject[]
    assert.ok(stored.length > 4)
    for (const document of stored) {
      assert.equal(document['list#'], 2)
      assert.notEqual(document['mark'], 'forged')
    }
    for (const [field, value] of [
      ['list#', 99],
      ['_id', 'x'],
      ['objectType', 'x'],
      ['mark', 'x'],
      ['made', LONG_AGO],
    ]) {
      const update = { $set: { [field!]: value! } }
      for (const { name, code, text } of await throughEach(office(), {
        parts: { entity: 'made', update },
        by: 'update',
        roles: [],
      })) {
        assert.match(
          code ?? '',
          /query-api:Invalid(?:Update|Query)|crud:update:NoFieldAccess/,
          `${name} ${field}: ${text.slice(0, 300)}`,
        )
      }
    }
    // what is made anew at every change is made anew by this one, too
    const parts = { entity: 'made', update: { $set: { changed: LONG_AGO } } }
    await throughEach(office(), { parts, by: 'update', roles: [] })
    assert.ok(!(await office().ask('GET', '/data/find/made')).text.includes(LONG_AGO))
  })
})
