/** Row rules as metadata: what may be written, where a fault is told, and what is given back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../../src/base/errors.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { ADMIN, ANYONE, metadataDocument, openTestService } from '../../support/service.ts'
import { equals } from './ruled.ts'

const FIELDS: JsonObject = {
  owner: { type: 'string' },
  level: { type: 'integer' },
  blob: { type: 'any' },
  tags: { type: 'array', items: { type: 'string' } },
  list: { type: 'array', items: { type: 'object', fields: { n: { type: 'integer' } } } },
}

const SOUND: readonly Json[] = [
  equals('owner', '$caller.principal'),
  equals('owner', '$callers are no placeholder'),
  equals('owner', null),
  { field: 'level', op: '>', rvalue: '$caller.claims.max' },
  { field: 'owner', op: '$in', values: ['x', '$caller.claims.a.b', null] },
  { array: 'tags', contains: '$any', values: ['$caller.claims.tags'] },
  { array: 'list', elemMatch: { field: 'n', op: '=', rvalue: '$caller.claims.n' } },
  { array: 'list', elemMatch: { field: '$parent.owner', op: '=', rvalue: '$caller.principal' } },
  { $not: { $or: [{ $and: [] }, { field: 'owner', regex: '^x' }] } },
  { field: 'owner', op: '=', rfield: 'tags.0' },
]

for (const where of SOUND) {
  test(`metadata: a rule is given back as it was written: ${JSON.stringify(where)}`, async () => {
    await using on = await openTestService()
    const find = ['boss', { role: 'clerk', where }]
    const fields = {
      ...FIELDS,
      text: { type: 'string', access: { find, update: [{ role: 'anyone', where }] } },
    }
    await on.define('t', fields, { schema: { access: { ...ANYONE, find } } })
    const read = on.service.metadata.get(ADMIN, 't', '1.0.0') as unknown as { schema: Schema }
    assert.deepEqual(read.schema.access['find'], find)
    assert.deepEqual(read.schema.fields['text']!.access, { find, update: [{ role: 'anyone', where }] })
    await on.service.metadata.create(ADMIN, { entity: 't', version: '1.0.0' }, read as unknown as Json)
    assert.equal(((await on.service.metadata.history(ADMIN, 't')) as readonly Json[]).length, 1)
    const response = await on.insert('t', { data: { level: 1 } })
    assert.equal(response.status, 'COMPLETE')
  })
}

interface Schema {
  readonly access: JsonObject
  readonly fields: Readonly<Record<string, { readonly access: JsonObject }>>
}

/** `at` is where the fault stands, below the entry. */
const UNSOUND: readonly (readonly [rule: string, entry: Json, at: string])[] = [
  ['noone with a rule', { role: 'noone', where: equals('level', 1) }, '/where'],
  ['no role', { where: equals('level', 1) }, ''],
  ['no rule', { role: 'a' }, ''],
  ['a blank role', { role: ' ', where: equals('level', 1) }, '/role'],
  ['another key', { role: 'a', where: equals('level', 1), when: 1 }, ''],
  ['no query', { role: 'a', where: 'x' }, '/where'],
  ['null', { role: 'a', where: null }, '/where'],
  ['an unknown operator', { role: 'a', where: { field: 'level', op: '~', rvalue: 1 } }, '/where/op'],
  ['an unknown field', { role: 'a', where: { $not: equals('lvel', 1) } }, '/where/$not/field'],
  ['a value of another type', { role: 'a', where: equals('level', 'x') }, '/where/rvalue'],
  ['an unknown placeholder', { role: 'a', where: equals('owner', '$caller.roles') }, '/where/field'],
  ['the claims as a whole', { role: 'a', where: equals('owner', '$caller.claims') }, '/where/field'],
  ['the caller as a whole', { role: 'a', where: equals('owner', '$caller') }, '/where/field'],
  ['an empty step', { role: 'a', where: equals('owner', '$caller.claims.a..b') }, '/where/field'],
  ['more than a name', { role: 'a', where: equals('owner', '$caller.principal.x') }, '/where/field'],
  [
    'a placeholder for what has no order',
    { role: 'a', where: equals('blob', '$caller.principal') },
    '/where/field',
  ],
  ['a placeholder for an array', { role: 'a', where: equals('tags', '$caller.principal') }, '/where/field'],
  [
    'a placeholder among the values of objects',
    { role: 'a', where: { array: 'list', contains: '$any', values: ['$caller.principal'] } },
    '/where/array',
  ],
  [
    'a placeholder as a pattern',
    { role: 'a', where: { field: 'owner', regex: '$caller.principal' } },
    '/where/field',
  ],
  [
    'a placeholder as a field',
    { role: 'a', where: { field: 'owner', op: '=', rfield: '$caller.principal' } },
    '/where/rfield',
  ],
  [
    'a fault inside elemMatch',
    { role: 'a', where: { array: 'list', elemMatch: equals('n', '$caller.x') } },
    '/where/elemMatch/field',
  ],
]

for (const [rule, entry, at] of UNSOUND) {
  test(`metadata: refuses a rule with ${rule}, and says where`, async () => {
    await using on = await openTestService()
    const access = { find: ['boss', entry] }
    const places: readonly (readonly [fields: JsonObject, schema: JsonObject, place: string])[] = [
      [FIELDS, { access: { ...ANYONE, ...access } }, 'access/find/1'],
      [{ ...FIELDS, text: { type: 'string', access } }, {}, 'fields/text/access/find/1'],
      [
        {
          ...FIELDS,
          more: { type: 'array', items: { type: 'object', fields: { a: { type: 'string', access } } } },
        },
        {},
        'fields/more/items/fields/a/access/find/1',
      ],
    ]
    for (const [fields, schema, place] of places) {
      const body = metadataDocument('t', fields, { schema })
      const target = { entity: 't', version: '1.0.0' }
      await assert.rejects(on.service.metadata.create(ADMIN, target, body), (error) => {
        assert.ok(error instanceof ServiceError)
        assert.equal(error.code, 'metadata:InvalidAccess')
        assert.ok(error.message.endsWith(`(at /schema/${place}${at})`), error.message)
        return true
      })
    }
  })
}

test('roles: an entry with a rule shows its role where it stands, once', async () => {
  await using on = await openTestService()
  const find = [
    'boss',
    { role: 'clerk', where: equals('level', 1) },
    { role: 'clerk', where: equals('level', 2) },
  ]
  const fields = {
    ...FIELDS,
    text: { type: 'string', access: { update: [{ role: 'clerk', where: equals('level', 3) }] } },
  }
  await on.define('t', fields, { schema: { access: { find } } })
  const roles = on.service.metadata.roles(ADMIN, 't', '1.0.0') as readonly JsonObject[]
  assert.deepEqual(
    roles.find(({ role }) => role === 'clerk'),
    { role: 'clerk', find: ['t'], update: ['t.text'] },
  )
})

test('diff: tells a rule that differs', async () => {
  await using on = await openTestService()
  const withRule = (level: number): JsonObject => ({
    access: { ...ANYONE, find: [{ role: 'clerk', where: equals('level', level) }] },
  })
  await on.define('t', FIELDS, { schema: withRule(1) })
  const version = { value: '2.0.0', changelog: 'x' }
  const body = metadataDocument('t', FIELDS, { schema: { ...withRule(2), version } })
  await on.service.metadata.create(ADMIN, { entity: 't', version: '2.0.0' }, body)
  const changes = on.service.metadata.diff(ADMIN, 't', ['1.0.0', '2.0.0'])
  assert.match(JSON.stringify(changes), /find\.0\.where\.rvalue/)
})
