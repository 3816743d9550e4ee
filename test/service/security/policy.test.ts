/** Rows 25, 26 and 35: no list means nobody; what is unknown and what is forbidden; what a clash tells. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { metadataDocument } from '../../support/service.ts'
import { ENTRY_POINTS, throughEach } from './entry-points.ts'
import { CLERK, openOffice, put } from './office.ts'
import { onEveryStore } from '../../support/store-kind.ts'

onEveryStore(() => {
  const office = openOffice()
  const FIELDS = { _id: { type: 'string' }, name: { type: 'string' }, note: { type: 'string' } }

  const EVERYBODY = ['anyone', 'admin', 'clerk', '*', 'root', 'noone', 'undefined', 'null', '[object Object]']
  const UNIDENTIFIED_CALLER: readonly [rule: string, access: Json][] = [
    ['no lists', {}],
    ['empty lists', { find: [], insert: [], update: [], delete: [] }],
    ['noone', { find: ['noone'], insert: ['noone'], update: ['noone'], delete: ['noone'] }],
    [
      'noone beside anyone',
      {
        find: ['anyone', 'noone'],
        insert: ['noone', 'anyone'],
        update: ['noone', 'anyone'],
        delete: ['noone', 'anyone'],
      },
    ],
  ]
  for (const [i, [rule, access]] of UNIDENTIFIED_CALLER.entries()) {
    test(`access: ${rule} admit nobody to any entry point`, async () => {
      const entity = `nobody${i}`
      await office().define(entity, FIELDS, { schema: { access } })
      for (const { name, send } of ENTRY_POINTS) {
        const outcome = await send(office(), { entity }, EVERYBODY)
        assert.equal(outcome!.code, 'crud:NoAccess', `${name}: ${outcome!.text}`)
      }
      for (const path of [`/data/generate/${entity}/name`, `/data/generate/${entity}/1.0.0/name`]) {
        assert.equal((await office().ask('GET', path, { roles: EVERYBODY })).status, 403)
      }
    })
  }

  const IMPOSSIBLE: readonly [rule: string, where: Json][] = [
    ['nothing matches', { $or: [] }],
    ['the caller has no such claim', { field: 'name', op: '=', rvalue: '$caller.claims.name' }],
    ['the caller has no name', { field: 'name', op: '=', rvalue: '$caller.principal' }],
    [
      'the claim is missing in a negation',
      { $not: { field: 'name', op: '=', rvalue: '$caller.claims.name' } },
    ],
  ]
  for (const [i, [rule, where]] of IMPOSSIBLE.entries()) {
    test(`access: a rule admits to no document where ${rule}`, async () => {
      const entity = `rule${i}`
      const list = [{ role: 'anyone', where }, 'keeper']
      const access = { find: list, insert: list, update: list, delete: list }
      await office().define(entity, FIELDS, { info: { history: true }, schema: { access } })
      const body = { data: { _id: '1', name: 'x' } }
      const kept = await office().ask('PUT', `/data/insert/${entity}`, { body, roles: ['keeper'] })
      assert.equal(kept.json.modifiedCount, 1, kept.text)
      for (const { name, send } of ENTRY_POINTS) {
        const { response, text } = (await send(office(), { entity }, ['clerk']))!
        assert.deepEqual(
          [response['matchCount'] ?? 0, response['modifiedCount'] ?? 0],
          [0, 0],
          `${name}: ${text}`,
        )
        assert.doesNotMatch(text, /"name":"x"/, name)
      }
      assert.equal(
        (await office().ask('GET', `/data/find/${entity}`, { roles: ['keeper'] })).json.matchCount,
        1,
      )
    })
  }

  test('metadata: an access list that is no list is refused rather than understood as anyone', async () => {
    const wrong: readonly Json[] = [
      'anyone',
      {},
      true,
      1,
      null,
      [1],
      [null],
      [{}],
      [{ role: 'x', where: null }],
      [['anyone']],
    ]
    for (const find of wrong) {
      const inEntity = metadataDocument('loose', FIELDS, { schema: { access: { find } } })
      const inField = metadataDocument('loose', { a: { type: 'string', access: { find } } })
      for (const body of [inEntity, inField]) {
        const answer = await office().ask('PUT', '/metadata/loose/1.0.0', { body })
        assert.equal(answer.status, 422, `${JSON.stringify(find)}: ${answer.text}`)
        assert.match(answer.json.context, /access/, answer.text)
      }
    }
  })

  test('errors: nobody is helped to guess names', async () => {
    for (const field of ['sn', 'ssm', 'SSN', 'payy', 'cods']) {
      const parts = { query: { field, op: '=', rvalue: '1' } }
      for (const { name, code, text } of await throughEach(office(), { parts, by: 'query', roles: CLERK })) {
        assert.equal(code, 'metadata:InvalidFieldReference', name)
        assert.doesNotMatch(text, /did you mean|"(?:ssn|pay|codes)"|known (?:fields|are)/i, name)
      }
    }
    for (const entity of ['persn', 'Person', 'people']) {
      for (const { name, send } of ENTRY_POINTS) {
        const { code, text } = (await send(office(), { entity }, CLERK))!
        assert.equal(code, 'crud:UnknownEntity', name)
        assert.doesNotMatch(text, /did you mean|"person"|savedSearch"/, name)
      }
    }
  })

  test('openapi, docs, links: what anybody may read names no entity and no field of one', async () => {
    for (const path of ['/', '/openapi.json', '/docs', '/version', '/health', '/ready']) {
      const { text } = await office().ask('GET', path)
      assert.doesNotMatch(text, /\bssn\b|nobody0/, path)
    }
  })

  test('duplicates: a clash tells neither value nor index nor table, at every entry point', async () => {
    const indexes = [{ name: 'hiddenIndex', unique: true, fields: [{ field: 'pin' }] }]
    const fields = { ...FIELDS, pin: { type: 'string', access: { find: ['boss'] } } }
    await office().define('vaults', fields, { info: { indexes } })
    await put(office(), 'vaults', [
      { _id: '1', pin: '4711' },
      { _id: '2', pin: '4712' },
    ])
    const data = { name: 'x', pin: '4711' }
    const update = { $set: { pin: '4711' } }
    const outcomes = [
      ...(await throughEach(office(), { parts: { entity: 'vaults', data }, by: 'data', roles: [] })),
      ...(await throughEach(office(), { parts: { entity: 'vaults', update }, by: 'update', roles: [] })),
    ]
    assert.ok(outcomes.length >= 16)
    for (const { name, code, text, response } of outcomes) {
      assert.equal(code, 'store-crud:Duplicate', `${name}: ${text}`)
      const told = JSON.stringify(
        (response['dataErrors'] as readonly JsonObject[]).map(({ errors }) => errors),
      )
      assert.doesNotMatch(told, /4711|hiddenIndex|idx_|doc_\d|pin/, name)
    }
  })
})
