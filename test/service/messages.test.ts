/** Messages that say what a right value looks like, and that name no more than the caller may know. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import type { DataResponse } from '../../src/service/response.ts'
import { ADMIN, callerWith, metadataDocument, openTestService } from '../support/service.ts'
import { type Tenant, openTenant } from '../support/shared-service.ts'
import { onEveryStore } from '../support/store-kind.ts'

const BOSS = { access: { find: ['boss'] } }

async function open(): Promise<Tenant> {
  const tester = await openTenant()
  const fields = {
    code: { type: 'string' },
    city: { type: 'string' },
    street: { type: 'string' },
    secret: { type: 'string', ...BOSS },
    owned: {
      type: 'string',
      access: { find: [{ role: 'clerk', where: { field: 'city', op: '=', rvalue: 'Bern' } }] },
    },
    key: { type: 'string', constraints: { identity: true } },
    tags: { type: 'array', items: { type: 'object', fields: { no: { type: 'integer' } } } },
    when: { type: 'date' },
    n: { type: 'integer' },
    on: { type: 'boolean' },
    raw: { type: 'binary' },
  }
  const unique = (name: string | null, ...paths: readonly string[]): JsonObject => ({
    name,
    unique: true,
    fields: paths.map((field) => ({ field, dir: '$asc' })),
  })
  const indexes = [
    unique('by code', 'code'),
    unique('by place', 'city', 'street'),
    unique('by secret', 'secret'),
    unique('by secret place', 'n', 'secret'),
    unique('by owner', 'owned'),
    unique(null, 'tags.*.no'),
  ]
  await tester.define(tester.entity, fields, { info: { indexes } })
  await tester.store(tester.entity, [
    {
      _id: '1',
      key: 'k1',
      code: 'a',
      city: 'Bern',
      street: 'x',
      secret: 's',
      owned: 'o',
      tags: [{ no: 1 }],
      n: 7,
    },
    {
      _id: '2',
      key: 'k2',
      code: 'b',
      city: 'Bern',
      street: 'y',
      secret: 't',
      owned: 'p',
      tags: [{ no: 2 }],
      n: 8,
    },
  ])
  return tester
}

const GENERIC = 'another document has this identity or one of these unique values'

/** A document that repeats a value of the first one, and what its error says to a clerk. */
const DUPLICATES: readonly [document: JsonObject, message: string, context: string][] = [
  [{ _id: '1', key: 'new' }, 'another document has this "_id"', '/_id'],
  [{ key: 'k1' }, 'another document has this identity ("key")', '/key'],
  [
    { key: 'new', code: 'a' },
    'another document has this value of the unique index "by code" ("code")',
    '/code',
  ],
  [
    { key: 'new', city: 'Bern', street: 'x' },
    'another document has this value of the unique index "by place" ("city", "street")',
    '/city',
  ],
  [
    { key: 'new', tags: [{ no: 5 }, { no: 1 }] },
    'another document has this value of the unique index of "tags.*.no"',
    '/tags.*.no',
  ],
  [{ key: 'new', secret: 's' }, GENERIC, ''],
  [{ key: 'new', secret: 's2', owned: 'o' }, GENERIC, ''],
]

function errorOf(response: DataResponse): {
  readonly errorCode: string
  readonly msg: string
  readonly context: string
} {
  return (response.errors ?? response.dataErrors![0]!.errors)[0]!
}

onEveryStore(() => {
  test('duplicate: names index and fields, unless the caller may not read one of them', async () => {
    await using tester = await open()
    const { data } = tester.service
    const target = { entity: tester.entity }
    const clerk = callerWith('clerk')
    for (const [document, message, context] of DUPLICATES) {
      const response = await data.insert(clerk, target, { data: document })
      const error = errorOf(response)
      assert.deepEqual([error.errorCode, error.msg], ['store-crud:Duplicate', message])
      assert.equal(error.context, `insert(${tester.entity}:1.0.0)${context}`)
      const many = await data.insert(clerk, target, { data: [document, document] })
      for (const { errors } of many.dataErrors!) assert.equal(errors[0]!.msg, message)
    }
    const boss = await data.insert(callerWith('boss'), target, { data: { key: 'new', secret: 's' } })
    assert.match(errorOf(boss).msg, /"by secret" \("secret"\)/)
  })

  test('duplicate: names no index where a row rule hides documents', async () => {
    await using tester = await openTestService()
    const fields = { owner: { type: 'string' }, code: { type: 'string' } }
    const where = { field: 'owner', op: '=', rvalue: '$caller.principal' }
    await tester.define('owned', fields, {
      info: { indexes: [{ name: 'by code', unique: true, fields: [{ field: 'code' }] }] },
      schema: { access: { find: [{ role: 'anyone', where }], insert: ['anyone'], update: [], delete: [] } },
    })
    const insert = (principal: string) =>
      tester.service.data.insert(
        { ...callerWith('clerk'), principal },
        { entity: 'owned' },
        {
          data: { owner: principal, code: 'a' },
        },
      )
    assert.equal((await insert('ann')).status, 'COMPLETE')
    assert.equal(errorOf(await insert('bob')).msg, GENERIC)
  })

  test('duplicate: update and save name the index, too', async () => {
    await using tester = await open()
    const { data } = tester.service
    const target = { entity: tester.entity }
    const query = { field: '_id', op: '=', rvalue: '2' }
    const message = /"by code" \("code"\)/
    const updated = await data.update(ADMIN, target, { query, update: { $set: { code: 'a' } } })
    assert.match(errorOf(updated).msg, message)
    const saved = await data.save(ADMIN, target, { data: { key: 'k2', code: 'a' } })
    assert.match(errorOf(saved).msg, message)
    const upserted = await data.save(ADMIN, target, { data: { key: 'k3', code: 'a' }, upsert: true })
    assert.match(errorOf(upserted).msg, message)
    const tagged = await data.update(ADMIN, target, { query, update: { $append: { tags: [{ no: 1 }] } } })
    assert.match(errorOf(tagged).msg, /"tags\.\*\.no"/)
  })

  const PROJECTION = { field: '_id' }
  const compare = (field: string, rvalue: Json, op = '='): JsonObject => ({
    query: { field, op, rvalue },
    projection: PROJECTION,
  })
  const FINDS: readonly [body: JsonObject, code: string, message: RegExp][] = [
    [
      compare('n', 5, '=='),
      'query-api:InvalidQuery',
      /"==" is not an operator; known are =, \$eq, !=, .*\$in, \$nin/,
    ],
    [compare('when', 'yesterday'), 'metadata:IncompatibleValue', /such as "2024-01-02T03:04:05\.678Z"/],
    [
      compare('when', '2024-02-30T00:00:00Z'),
      'metadata:IncompatibleValue',
      /such as "2024-01-02T03:04:05\.678Z"/,
    ],
    [compare('n', 'five'), 'metadata:IncompatibleValue', /such as 42/],
    [compare('on', 'yes'), 'metadata:IncompatibleValue', /true or false/],
    [{ projection: PROJECTION, limit: 5 }, 'crud:InvalidRequest', /"limit"; "range": \[0, 9\]/],
    [{ projection: PROJECTION, offset: 5 }, 'crud:InvalidRequest', /"range": \[10, 19\]/],
    [{ projections: PROJECTION }, 'crud:InvalidRequest', /did you mean "projection"\?/],
    [{ projection: PROJECTION, sort: 'n' }, 'query-api:InvalidSort', /such as \{"name": "\$asc"\}/],
    [{ projection: PROJECTION, where: {} }, 'crud:InvalidRequest', /as "query"/],
    [
      { query: { city: 'Bern' }, projection: PROJECTION },
      'query-api:InvalidQuery',
      /, such as \{"field": "city", "op": "=", "rvalue": "Bern"\} \(at \/query\)$/,
    ],
    [{ query: [], projection: PROJECTION }, 'query-api:InvalidQuery', /must be an object, such as \{"field"/],
    [{ projection: '*' }, 'query-api:InvalidProjection', /an array of objects, such as \{"field": "\*"\}/],
    [
      { projection: ['n'] },
      'query-api:InvalidProjection',
      /such as \{"field": "\*"\} \(at \/projection\/0\)$/,
    ],
    [{}, 'store-crud:NullProjection', /"projection" must name the fields to return, such as/],
    [
      compare('city', ['Bern']),
      'metadata:IncompatibleValue',
      /; for several values: "op": "\$in", "values": \[…\] \(at \/query\/rvalue\)$/,
    ],
    [compare('citi', 'Bern'), 'metadata:InvalidFieldReference', /^there is no field "citi" \(at/],
    [{ projection: PROJECTION, asOf: 'x' }, 'crud:InvalidRequest', /^"asOf" is a date such as/],
  ]

  test('find: a refusal says what a right value looks like', async () => {
    await using tester = await open()
    for (const [body, code, message] of FINDS) {
      const { errorCode, msg } = errorOf(await tester.find(tester.entity, body))
      assert.equal(errorCode, code)
      assert.match(msg, message)
    }
  })

  test('insert, save: a document that is not in "data" is told to go there', async () => {
    await using tester = await open()
    const { data } = tester.service
    for (const operation of ['insert', 'save'] as const) {
      const response = await data[operation](ADMIN, { entity: tester.entity }, { name: 'x' })
      assert.match(errorOf(response).msg, /"name"; put the document into "data", such as \{"data": \{…\}\}/)
    }
  })

  test('find: the number of joined documents is compared with numbers, and a refusal says so', async () => {
    await using tester = await open()
    const kids = {
      type: 'reference',
      entity: tester.entity,
      query: { field: 'code', op: '=', rfield: '$parent.code' },
    }
    await tester.define('parent', { code: { type: 'string' }, n: { type: 'integer' }, kids })
    await tester.store('parent', [{ _id: '1', code: 'a', n: 1 }])
    for (const query of [
      { field: 'kids#', op: '>', rfield: 'n' },
      { field: 'n', op: '!=', rfield: 'kids#' },
    ]) {
      const { errorCode, msg } = errorOf(await tester.find('parent', { query, projection: { field: '_id' } }))
      assert.equal(errorCode, 'query-api:InvalidQuery')
      assert.match(
        msg,
        /"kids#" is the number of documents .* \("rvalue"\) .* \("values"\), not with another field/,
      )
    }
    const query = { field: 'kids#', op: '>', rvalue: 0 }
    assert.equal((await tester.find('parent', { query, projection: { field: '_id' } })).matchCount, 1)
  })

  const VALUES: readonly [field: string, value: Json, message: RegExp][] = [
    ['when', 'yesterday', /"when" is of type date.*such as "2024-01-02T03:04:05\.678Z"/],
    ['n', 1.5, /such as 42/],
    ['raw', '?', /base64/],
  ]

  test('insert, update: a value of the wrong type is told what a right one looks like', async () => {
    await using tester = await open()
    const { data } = tester.service
    const target = { entity: tester.entity }
    for (const [field, value, message] of VALUES) {
      const inserted = await data.insert(ADMIN, target, { data: { key: 'new', [field]: value } })
      assert.match(errorOf(inserted).msg, message)
      const update = { $set: { [field]: value } }
      assert.match(errorOf(await data.update(ADMIN, target, { query: { $and: [] }, update })).msg, message)
    }
  })

  test('update: an element that cannot be written is named with its index', async () => {
    await using tester = await open()
    await tester.store(tester.entity, { key: 'one' })
    for (const path of ['tags.-1', 'tags.1001'])
      for (const update of [{ $set: { [path]: {} } }, { $insert: { [path]: {} } }]) {
        const body = { query: { $and: [] }, update }
        const { context, msg } = errorOf(
          await tester.service.data.update(ADMIN, { entity: tester.entity }, body),
        )
        assert.ok(context.endsWith(`/${path}`) && msg.startsWith(`"${path}" lies `), `${context}: ${msg}`)
      }
  })

  test('metadata: an unknown type is told which ones there are', async () => {
    await using tester = await openTestService()
    for (const field of [{ type: 'text' }, { type: 'array', items: { type: 'text' } }]) {
      const body = metadataDocument('thing', { field })
      const written = tester.service.metadata.create(ADMIN, { entity: 'thing', version: '1.0.0' }, body)
      await assert.rejects(written, /type "text"; the(re are|y can be of) boolean, integer, .*object/)
    }
  })

  test('$foreach: an unknown word in place of a selector is query-api:InvalidUpdate', async () => {
    await using tester = await open()
    for (const selector of ['$any', 'all', '', 5, true, null, []] as readonly Json[]) {
      const update = { $foreach: { tags: selector, $update: '$remove' } }
      const body = { query: { $and: [] }, update }
      const { errorCode, msg } = errorOf(
        await tester.service.data.update(ADMIN, { entity: tester.entity }, body),
      )
      assert.equal(errorCode, 'query-api:InvalidUpdate', JSON.stringify(selector))
      assert.match(msg, /"\$all" or by a query \(at \/update\/\$foreach\/tags\)/)
    }
  })
})
