/** Who may do what, over HTTP: explanations, tables, findings, and the warnings in answers to changes of metadata. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { metadataDocument } from '../../support/service.ts'
import { metadataError, seed, sound } from './fixture.ts'

const OWN = { field: 'owner', op: '=', rvalue: '$caller.principal' }
const string = { type: 'string' }
const NOTE = {
  owner: string,
  text: string,
  salary: { ...string, access: { find: ['hr'], insert: ['hr'], update: ['hr'] } },
}
const ACCESS: JsonObject = {
  find: ['hr', { role: 'clerk', where: OWN }],
  insert: ['hr'],
  update: ['hr'],
  delete: ['hr'],
}
const SOUND: JsonObject = { find: ['hr', 'guest'], insert: ['hr'], update: ['hr'], delete: ['hr'] }
const OWNER_INDEX = [{ name: 'owner', fields: [{ field: 'owner' }] }]

const { ask } = seed(async (server) => {
  await server.define('note', NOTE, { info: { indexes: OWNER_INDEX }, schema: { access: ACCESS } })
})

const both = (path: string): readonly string[] => [path, `/rest${path}`]
const explain = (body: JsonObject) => ask('POST', '/metadata/access/explain', { body })

for (const path of both('/metadata/access/explain')) {
  test(`explain access: POST ${path} tells the decision, the rule and the reason`, async () => {
    const body = { roles: ['clerk'], principal: 'ann', entity: 'note', field: 'salary', op: 'find' }
    assert.deepEqual(sound(await ask('POST', path, { body })).json, {
      entity: 'note',
      version: '1.0.0',
      field: 'salary',
      op: 'find',
      decision: 'deny',
      reason: 'the list "find" of "salary" names none of the caller\'s roles',
      rule: {
        at: '/fields/salary/access/find',
        field: 'salary',
        operation: 'find',
        list: ['hr'],
        entries: [],
        because: 'unlisted',
        inherited: false,
      },
    })
  })
}

test('explain access: a row rule is told as it was written', async () => {
  const body = { roles: ['clerk'], principal: 'ann', entity: 'note', version: '1.0.0', op: 'find' }
  const { decision, where } = sound(await explain(body)).json
  assert.deepEqual([decision, where], ['conditional', [OWN]])
  const { principal: _, ...nameless } = body
  assert.equal(sound(await explain(nameless)).json.rule.because, 'unanswered')
})

test('explain access: claims count, and null is the same as absent', async () => {
  const access = {
    ...ACCESS,
    find: [{ role: 'clerk', where: { field: 'owner', op: '=', rvalue: '$caller.claims.a.b' } }],
  }
  const body = metadataDocument('claimed', NOTE, { schema: { access } })
  sound(await ask('PUT', '/metadata/claimed/1.0.0', { body }))
  const asked = { roles: ['clerk'], claims: { a: { b: 'x' } }, field: null, entity: 'claimed', op: 'find' }
  assert.equal(sound(await explain(asked)).json.decision, 'conditional')
  assert.equal(sound(await explain({ ...asked, claims: null })).json.decision, 'deny')
})

test('explain access: a disabled version is denied to everybody', async () => {
  const body = metadataDocument('gone', NOTE, { info: { defaultVersion: null }, schema: { access: SOUND } })
  sound(await ask('PUT', '/metadata/gone/1.0.0', { body }))
  sound(await ask('PUT', '/metadata/gone/1.0.0/disabled'))
  const { decision, rule } = sound(
    await explain({ roles: ['hr'], entity: 'gone', version: '1.0.0', op: 'find' }),
  ).json
  assert.deepEqual([decision, rule.because], ['deny', 'disabled'])
})

const ASKED: JsonObject = { roles: [], entity: 'note', op: 'find' }
const REFUSED: readonly [rule: string, body: JsonObject, status: number, code: string][] = [
  ['an unknown entity', { ...ASKED, entity: 'nothing' }, 404, 'metadata:MissingEntityInfo'],
  ['an unknown version', { ...ASKED, version: '9.0.0' }, 404, 'metadata:MissingSchema'],
  ['no default version', { ...ASKED, entity: 'draft' }, 404, 'ERR_NO_METADATA'],
  ['an unknown field', { ...ASKED, field: 'nothing' }, 400, 'metadata:InvalidFieldReference'],
  [
    'a path that goes on below a text',
    { ...ASKED, field: 'text.more' },
    400,
    'metadata:InvalidFieldReference',
  ],
  ['a delete of a field', { ...ASKED, op: 'delete', field: 'text' }, 400, 'crud:InvalidRequest'],
  ['an unknown operation', { ...ASKED, op: 'save' }, 400, 'crud:InvalidRequest'],
  ['an unknown key', { ...ASKED, role: 'hr' }, 400, 'crud:InvalidRequest'],
  ['roles that are none', { ...ASKED, roles: 'hr' }, 400, 'crud:InvalidRequest'],
  ['roles of another type', { ...ASKED, roles: [1] }, 400, 'crud:InvalidRequest'],
  ['claims that are no object', { ...ASKED, claims: ['a'] }, 400, 'crud:InvalidRequest'],
  ['no operation', { roles: [], entity: 'note' }, 400, 'crud:InvalidRequest'],
  ['no roles', { entity: 'note', op: 'find' }, 400, 'crud:InvalidRequest'],
]

for (const [rule, body, status, code] of REFUSED) {
  test(`explain access: ${rule} is ${code}`, async () => {
    metadataError(await explain(body), status, code)
  })
}

test('explain access: a body that is no object is refused', async () => {
  metadataError(await ask('POST', '/metadata/access/explain'), 400, 'crud:InvalidRequest')
  metadataError(await ask('POST', '/metadata/access/explain', { body: [] }), 400, 'crud:InvalidRequest')
})

for (const path of ['/metadata/note/access', '/metadata/note/1.0.0/access'].flatMap(both)) {
  test(`access table: GET ${path} shows who may do what to which field`, async () => {
    const { json } = sound(await ask('GET', path))
    assert.deepEqual([json.entity, json.version, json.status], ['note', '1.0.0', 'active'])
    assert.deepEqual(json.roles, ['clerk', 'hr', 'anyone else'])
    assert.deepEqual(json.access.find, { clerk: 'where', hr: 'yes', 'anyone else': 'no' })
    assert.deepEqual(json.fields[2], {
      path: 'salary',
      find: { clerk: 'no', hr: 'yes', 'anyone else': 'no' },
      insert: { clerk: 'no', hr: 'yes', 'anyone else': 'no' },
      update: { clerk: 'no', hr: 'yes', 'anyone else': 'no' },
    })
  })
}

test('access table: what is not there is told as elsewhere', async () => {
  metadataError(await ask('GET', '/metadata/nothing/access'), 404, 'metadata:MissingEntityInfo')
  metadataError(await ask('GET', '/metadata/note/9.0.0/access'), 404, 'metadata:MissingSchema')
  metadataError(await ask('GET', '/metadata/draft/access'), 404, 'ERR_NO_METADATA')
})

test('names: no entity is called access', async () => {
  const body = metadataDocument('access', NOTE)
  metadataError(await ask('PUT', '/metadata/access/1.0.0', { body }), 422, 'metadata:InvalidName')
})

test('lint: GET /metadata/{entity}/lint lists warnings and hints', async () => {
  const { json } = sound(await ask('GET', '/metadata/country/lint'))
  assert.equal(json.entity, 'country')
  assert.ok(json.findings.some(({ code }: JsonObject) => code === 'anyone-writes'))
  for (const finding of json.findings) {
    assert.deepEqual(Object.keys(finding), ['severity', 'code', 'at', 'version', 'msg'])
  }
  assert.deepEqual(sound(await ask('GET', '/metadata/note/lint')).json.findings, [])
  metadataError(await ask('GET', '/metadata/nothing/lint'), 404, 'metadata:MissingEntityInfo')
})

test('lint: an entity is looked at again when one that it refers to changes', async () => {
  const put = async (entity: string, version: string, fields: JsonObject): Promise<void> => {
    const schema = { access: SOUND, version: { value: version, changelog: 'made' } }
    const body = metadataDocument(entity, fields, { info: { defaultVersion: version }, schema })
    sound(await ask('PUT', `/metadata/${entity}/${version}`, { body }))
  }
  const codes = async (): Promise<readonly string[]> =>
    sound(await ask('GET', '/metadata/desk/lint')).json.findings.map(({ code }: { code: string }) => code)
  const query = { field: 'salary', op: '=', rfield: '$parent.salary' }
  await put('sitter', '1.0.0', { salary: string })
  await put('desk', '1.0.0', { salary: string, sitters: { type: 'reference', entity: 'sitter', query } })
  assert.equal((await codes()).includes('reference-over-hidden'), false)
  await put('sitter', '2.0.0', { salary: NOTE.salary })
  assert.equal((await codes()).includes('reference-over-hidden'), true)
})

test('warnings: a change that brings doubts says so, once, and what was answered can be written again', async () => {
  const fields = { name: string, salary: NOTE.salary }
  const first = metadataDocument('staffed', fields, { schema: { access: SOUND } })
  const made = sound(await ask('PUT', '/metadata/staffed/1.0.0', { body: first }))
  assert.deepEqual(Object.keys(made.json), ['entityInfo', 'schema'])

  const version = { value: '2.0.0', changelog: 'shows too much' }
  const open = metadataDocument(
    'staffed',
    { name: string, salary: string },
    { schema: { access: SOUND, version } },
  )
  const { json } = sound(await ask('PUT', '/metadata/staffed/schema=2.0.0', { body: open['schema']! }))
  assert.deepEqual(Object.keys(json), ['entityInfo', 'schema', 'warnings'])
  assert.deepEqual(
    json.warnings.map(({ severity, code, at, version: where }: JsonObject) => [severity, code, at, where]),
    [['warning', 'version-downgrade', '/schema/fields/salary/access/find', '2.0.0']],
  )

  const again = sound(await ask('PUT', '/metadata/staffed/2.0.0', { body: json }))
  assert.equal('warnings' in again.json, false)
  const read = sound(await ask('GET', '/metadata/staffed/2.0.0')).json
  assert.deepEqual(read, again.json)
})

test('warnings: a change of entity info or status that brings none answers the document alone', async () => {
  const hooks = [{ name: 'h', actions: ['insert'], configuration: { watchProjection: { field: 'salary' } } }]
  const info = { ...(metadataDocument('note', {})['entityInfo'] as JsonObject), indexes: OWNER_INDEX }
  const warned = sound(await ask('PUT', '/metadata/note', { body: { ...info, hooks } })).json
  assert.deepEqual(
    warned.warnings.map(({ code, at }: JsonObject) => [code, at]),
    [['hook-carries-hidden', '/entityInfo/hooks/0']],
  )
  const without = sound(await ask('PUT', '/metadata/note', { body: info })).json
  assert.deepEqual(
    without.warnings.map(({ code }: JsonObject) => code),
    ['dropped-hook'],
  )
  assert.equal('warnings' in sound(await ask('PUT', '/metadata/note', { body: info })).json, false)
  assert.equal('warnings' in sound(await ask('PUT', '/metadata/note/1.0.0/deprecated')).json, false)
})

test('warnings: a version that comes back into use brings its own', async () => {
  const body = metadataDocument('back', NOTE, {
    info: { defaultVersion: null },
    schema: { status: { value: 'disabled' } },
  })
  assert.equal('warnings' in sound(await ask('PUT', '/metadata/back/1.0.0', { body })).json, false)
  const { warnings } = sound(await ask('PUT', '/metadata/back/1.0.0/active')).json
  assert.ok(warnings.some(({ code }: JsonObject) => code === 'anyone-writes'))
})
