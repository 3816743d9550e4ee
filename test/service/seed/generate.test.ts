/** The published interface: generate. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addresses, dataError, seed, sound } from './fixture.ts'
import { onEveryStore } from '../../support/store-kind.ts'

onEveryStore(() => {
  const { ask, define } = seed()

  for (const path of addresses('generate', 'staff', '1.0.0', '/badge')) {
    test(`generate: ${path}?n=<count> answers status and processed, the generated values`, async () => {
      const { processed, ...rest } = sound(await ask('GET', `${path}?n=3`, { roles: ['hr'] })).json
      assert.deepEqual(rest, {
        entity: 'staff',
        entityVersion: '1.0.0',
        status: 'COMPLETE',
        modifiedCount: 0,
        matchCount: 0,
      })
      assert.equal(processed.length, 3)
      for (const value of processed) assert.match(value, /^\d+$/)
    })
  }

  test('generate: sequence values are never handed out twice, also to callers at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => ask('GET', '/data/generate/staff/badge?n=50', { roles: ['hr'] })),
    )
    const values = answers.flatMap((answer) => sound(answer).json.processed)
    assert.equal(new Set(values).size, 1_000)
  })

  test('generate: without n gives one', async () => {
    assert.equal(
      sound(await ask('GET', '/data/generate/staff/badge', { roles: ['hr'] })).json.processed.length,
      1,
    )
  })

  test('generate: field is a dotted path that may contain * for array elements', async () => {
    for (const path of addresses('generate', 'staff', '1.0.0', '/tags.*.code')) {
      const { processed } = sound(await ask('GET', `${path}?n=2`, { roles: ['hr'] })).json
      for (const value of processed) assert.match(value, /^[\da-f-]{36}$/)
    }
  })

  test('generate: a CurrentTime is a date', async () => {
    const { processed } = sound(await ask('GET', '/data/generate/staff/hired', { roles: ['hr'] })).json
    assert.match(processed[0], /^\d{8}T\d\d:\d\d:\d\d\.\d{3}\+0000$/)
  })

  test('generate: a field without generator is success with an empty processed', async () => {
    for (const path of addresses('generate', 'staff', '1.0.0', '/name')) {
      const { status, processed } = sound(await ask('GET', `${path}?n=5`, { roles: ['hr'] })).json
      assert.deepEqual([status, processed], ['COMPLETE', []])
    }
  })

  for (const [access, role] of [
    ['read', 'reader'],
    ['insert', 'inserter'],
    ['update', 'updater'],
  ] as const) {
    test(`generate: ${access} access to the entity is enough`, async () => {
      const schema = {
        access: { find: ['reader'], insert: ['inserter'], update: ['updater'], delete: ['x'] },
      }
      const fields = { id: { type: 'string', valueGenerator: { type: 'UUID' } } }
      await define(`one_${role}`, fields, { schema })
      sound(await ask('GET', `/data/generate/one_${role}/id`, { roles: [role] }))
      dataError(await ask('GET', `/data/generate/one_${role}/id`, { roles: ['x'] }), 403, 'crud:NoAccess')
    })
  }

  test('generate: without read, insert or update access gives crud:NoAccess', async () => {
    for (const path of addresses('generate', 'staff', '1.0.0', '/badge'))
      dataError(await ask('GET', path), 403, 'crud:NoAccess')
  })

  for (const n of ['0', '-1', '10001', '1.5', 'x', '', '1e3', '99999999999999999999']) {
    test(`generate: n=${n} is crud:InvalidRequest`, async () => {
      const answer = await ask('GET', `/data/generate/staff/badge?n=${n}`, { roles: ['hr'] })
      assert.match(dataError(answer, 400, 'crud:InvalidRequest')['msg'] as string, /"n"/)
    })
  }

  test('generate: n may be 10000', async () => {
    const { processed } = sound(
      await ask('GET', '/data/generate/staff/token?n=10000', { roles: ['hr'] }),
    ).json
    assert.equal(new Set(processed).size, 10_000)
  })

  const PROBLEMS: readonly [rule: string, path: string, status: number, code: string][] = [
    [
      'an unknown field is metadata:InvalidFieldReference',
      'staff/nothing',
      400,
      'metadata:InvalidFieldReference',
    ],
    ['the field must be a simple one', 'staff/tags', 400, 'crud:InvalidRequest'],
    ['an unknown entity is crud:UnknownEntity', 'nothing/id', 404, 'crud:UnknownEntity'],
    ['an unknown version is crud:UnknownEntity', 'staff/9.9.9/badge', 404, 'crud:UnknownEntity'],
    ['no default version is crud:NoDefaultVersion', 'draft/text', 404, 'crud:NoDefaultVersion'],
  ]
  for (const [rule, path, status, code] of PROBLEMS) {
    test(`generate: ${rule}`, async () => {
      dataError(await ask('GET', `/data/generate/${path}`, { roles: ['hr'] }), status, code)
    })
  }

  test('generate: an entity without default version generates where the version is named', async () => {
    assert.deepEqual(sound(await ask('GET', '/data/generate/draft/1.0.0/text')).json.processed, [])
  })
})
