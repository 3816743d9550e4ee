/** Default values, and the name of the caller as a generated value. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Caller } from '../../../src/access/caller.ts'
import { ServiceError } from '../../../src/base/errors.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { type DataResponse, printResponse } from '../../../src/service/response.ts'
import {
  ADMIN,
  ANYONE,
  EVERYTHING,
  type TestService,
  callerWith,
  codeOf,
  documentsOf,
  json,
  metadataDocument,
  openTestService,
} from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const REQUIRED = { required: true }

const FIELDS: JsonObject = {
  status: { type: 'string', default: 'new', constraints: { ...REQUIRED, enum: 'statuses' } },
  pieces: { type: 'integer', default: '3' },
  price: { type: 'bigdecimal', default: JSON.rawJSON('1.50') as unknown as Json },
  day: { type: 'date', default: '2024-01-02T03:04:05Z' },
  more: { type: 'any', default: { a: [1, null] } },
  tags: { type: 'array', items: { type: 'string' }, default: ['a', null], constraints: { minItems: 1 } },
  lines: {
    type: 'array',
    items: { type: 'object', fields: { n: { type: 'integer', default: 1 }, s: { type: 'string' } } },
    default: [],
  },
  box: { type: 'object', fields: { on: { type: 'boolean', default: false }, s: { type: 'string' } } },
  kept: { type: 'string', default: 'kept', access: { insert: ['boss'], update: ['boss'] } },
  by: { type: 'string', constraints: REQUIRED, valueGenerator: { type: 'CurrentUser' } },
  last: { type: 'string', constraints: REQUIRED, valueGenerator: { type: 'CurrentUser', overwrite: true } },
}

const INFO: JsonObject = { enums: [{ name: 'statuses', values: ['new', 'old'] }] }

/** Document as sent, and what is stored of it besides `_id` and `objectType`. */
const CASES: readonly (readonly [rule: string, sent: string, stored: string])[] = [
  [
    'absent members get their defaults',
    '{}',
    '{"status":"new","pieces":3,"price":1.50,"day":"20240102T03:04:05.000+0000","more":{"a":[1,null]},"tags":["a",null],"tags#":2,"lines":[],"lines#":0,"kept":"kept","by":"ann","last":"ann"}',
  ],
  [
    'values that are sent stay, and null is not absent',
    '{"status":"old","pieces":null,"price":2,"day":null,"more":null,"tags":["b"],"lines":null,"by":"bob","last":"bob"}',
    '{"status":"old","price":2,"tags":["b"],"tags#":1,"lines#":0,"kept":"kept","by":"bob","last":"ann"}',
  ],
  [
    'members of objects and elements get theirs, absent objects do not come into being',
    '{"pieces":null,"price":null,"day":null,"more":null,"box":{"s":"x"},"lines":[{"s":"y"},{"n":null},null,{"n":7}]}',
    '{"status":"new","tags":["a",null],"tags#":2,"box":{"s":"x","on":false},"lines":[{"s":"y","n":1},{},null,{"n":7}],"lines#":4,"kept":"kept","by":"ann","last":"ann"}',
  ],
]

onEveryStore(() => {
  let tester: TestService
  let count = 0
  const named = (principal: string): Caller => ({ ...callerWith(), principal })

  before(async () => {
    tester = await openTestService()
    await tester.define('order', FIELDS, { info: INFO })
  })
  after(() => tester[Symbol.asyncDispose]())

  function stored(response: DataResponse): JsonObject {
    assert.equal(response.status, 'COMPLETE', printResponse(response))
    const { _id, objectType: _objectType, ...others } = documentsOf(response)[0]!
    return others
  }

  const save = (data: JsonObject, caller: Caller, upsert = true): Promise<DataResponse> =>
    tester.service.data.save(caller, { entity: 'order' }, { data, upsert, projection: EVERYTHING })

  for (const [rule, sent, expected] of CASES) {
    test(`default: ${rule}`, async () => {
      const document = json(sent) as JsonObject
      const inserted = await tester.insert('order', { data: document, projection: EVERYTHING }, named('ann'))
      assert.deepEqual(stored(inserted), json(expected))
      const saved = await save({ ...document, _id: `s${++count}` }, named('ann'))
      assert.deepEqual(stored(saved), json(expected))
    })
  }

  test('default: a document that exists gets none', async () => {
    await save({ _id: 'there', status: 'old', pieces: 5, tags: ['x'] }, named('ann'))
    const again = stored(
      await save({ _id: 'there', status: 'new', tags: ['x'], by: 'ann', kept: 'kept' }, named('bob')),
    )
    assert.deepEqual(
      [again['pieces'], again['price'], again['day'], again['by'], again['last']],
      [undefined, undefined, undefined, 'ann', 'bob'],
    )
    const updated = await tester.service.data.update(
      named('cat'),
      { entity: 'order' },
      {
        query: { field: '_id', op: '=', rvalue: 'there' },
        update: { $unset: 'more', $append: { lines: { s: 'z' } } },
        projection: EVERYTHING,
      },
    )
    const { lines, more, last } = stored(updated)
    assert.deepEqual([lines, more, last], [[{ s: 'z' }], undefined, 'cat'])
  })

  test('CurrentUser: values can be asked for', async () => {
    const response = await tester.service.data.generate(named('ann'), { entity: 'order' }, 'by', '2')
    assert.deepEqual(response.processed, ['"ann"', '"ann"'])
  })

  test('default: it comes back in metadata', async () => {
    const document = tester.service.metadata.get(ADMIN, 'order', '1.0.0') as {
      schema: { fields: Record<string, JsonObject> }
    }
    const { status, pieces, tags } = document.schema.fields
    assert.deepEqual([status!['default'], pieces!['default'], tags!['default']], ['new', '3', ['a', null]])
  })

  /** Field, and what is said about it. */
  const REFUSED: readonly (readonly [rule: string, field: JsonObject, code: string, message: RegExp])[] = [
    ['another type', { type: 'integer', default: 'x' }, 'metadata:InvalidDefault', /an integer of 64 bits/],
    ['an object for a text', { type: 'string', default: {} }, 'metadata:InvalidDefault', /must be a text/],
    ['no date', { type: 'date', default: { $now: true } }, 'metadata:InvalidDefault', /must be a date/],
    [
      'too long',
      { type: 'string', default: 'abc', constraints: { maxLength: 2 } },
      'metadata:InvalidDefault',
      /at most 2 characters/,
    ],
    [
      'no value of the enum',
      { type: 'string', default: 'x', constraints: { enum: 'statuses' } },
      'metadata:InvalidDefault',
      /enum statuses/,
    ],
    [
      'an element that is no value of the enum',
      { type: 'array', items: { type: 'string', constraints: { enum: 'statuses' } }, default: ['new', 'x'] },
      'metadata:InvalidDefault',
      /"default\.1" must be one of the values of the enum statuses/,
    ],
    [
      'beside a generator',
      { type: 'string', default: 'x', valueGenerator: { type: 'UUID' } },
      'metadata:InvalidDefault',
      /a generator or a default/,
    ],
    [
      'of an identity',
      { type: 'string', default: 'x', constraints: { identity: true } },
      'metadata:InvalidDefault',
      /identity has no default/,
    ],
    ['an empty uid', { type: 'uid', default: '' }, 'metadata:InvalidDefault', /an empty text counts as null/],
    [
      'an empty uid among elements',
      { type: 'array', items: { type: 'uid' }, default: ['a', ''] },
      'metadata:InvalidDefault',
      /an empty text counts as null/,
    ],
    [
      'no array',
      { type: 'array', items: { type: 'string' }, default: 'x' },
      'metadata:InvalidDefault',
      /an array of values, each a text/,
    ],
    [
      'of elements that are objects',
      { type: 'array', items: { type: 'object', fields: { a: { type: 'string' } } }, default: [{}] },
      'metadata:InvalidDefault',
      /an empty array/,
    ],
    [
      'of what is filled when read',
      { type: 'string', documentVersion: true, default: 'x' },
      'metadata:InvalidDefault',
      /has no default/,
    ],
    [
      'CurrentUser of a date',
      { type: 'date', valueGenerator: { type: 'CurrentUser' } },
      'metadata:InvalidGenerator',
      /makes values of string/,
    ],
    [
      'a UUID that is too long for its field',
      { type: 'string', constraints: { maxLength: 10 }, valueGenerator: { type: 'UUID' } },
      'metadata:InvalidGenerator',
      /UUIDs, which have 36 characters, and "maxLength" is 10/,
    ],
  ]
  for (const [rule, field, code, message] of REFUSED) {
    test(`default: refused is ${rule}`, async () => {
      const body = metadataDocument('bad', { x: field }, { info: INFO, schema: { access: ANYONE } })
      const target = { entity: 'bad', version: '1.0.0' }
      await assert.rejects(tester.service.metadata.create(ADMIN, target, body), (error) => {
        assert.ok(error instanceof ServiceError)
        assert.equal(error.code, code)
        assert.match(error.message, message)
        return true
      })
    })
  }

  test('default: an enum that loses its value is accepted with a warning', async () => {
    await tester.define(
      'shrinking',
      { status: { type: 'string', default: 'old', constraints: { enum: 'statuses' } } },
      { info: INFO },
    )
    const info = {
      name: 'shrinking',
      enums: [{ name: 'statuses', values: ['new'] }],
      defaultVersion: '1.0.0',
    }
    const answer = await tester.service.metadata.updateInfo(ADMIN, 'shrinking', info)
    const { warnings } = answer as { warnings?: readonly { readonly code: string; readonly at: string }[] }
    const found = warnings?.find(({ code }) => code === 'no-possible-value')
    assert.equal(found?.at, '/schema/fields/status/default')
  })

  test('default: rows that a rule admits are judged with it', async () => {
    const access = {
      ...ANYONE,
      insert: [{ role: 'anyone', where: { field: 'status', op: '=', rvalue: 'new' } }],
    }
    await tester.define('ruled', { status: { type: 'string', default: 'new' } }, { schema: { access } })
    assert.equal((await tester.insert('ruled', { data: {} }, callerWith())).status, 'COMPLETE')
    const refused = await tester.insert('ruled', { data: { status: null } }, callerWith())
    assert.equal(refused.status, 'ERROR', printResponse(refused))
    assert.equal(
      refused.errors ? codeOf(refused) : refused.dataErrors![0]!.errors[0]!.errorCode,
      'crud:NoAccess',
    )
  })
})
