/** Rows 12, 13, 14 and 34: no request costs more than the limits allow, through whichever entry point it comes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { EVERYTHING } from '../../support/service.ts'
import { type Part, type Parts, throughEach } from './entry-points.ts'
import { BOSS, CLERK, everybody, openOffice, put, removeNew } from './office.ts'

const office = openOffice()

/** Each would keep an engine that backtracks busy for longer than anybody waits. */
const EXPLOSIVE = [
  '(a+)+$',
  '(a|a)*$',
  '(a|aa)+$',
  '^(a?){40}a{40}$',
  '(.*)*x$',
  '([a-z]+)*1$',
  '(?:a+){20}b$',
]

test('regex: a pattern built to explode is answered as others are, at every entry point', async () => {
  await put(office(), 'person', { _id: 'long', name: `${'a'.repeat(5_000)}!`, note: 'long' })
  for (const regex of EXPLOSIVE) {
    const parts: Parts = {
      query: {
        $and: [
          { field: 'note', op: '=', rvalue: 'long' },
          { field: 'name', regex },
        ],
      },
    }
    for (const { name, response, text } of await throughEach(office(), {
      parts,
      by: 'query',
      roles: CLERK,
    })) {
      assert.deepEqual(
        [response['status'], response['matchCount']],
        ['COMPLETE', 0],
        `${name} ${regex}: ${text}`,
      )
    }
    const projection = { field: 'tags', match: { field: '$this', regex } }
    for (const { name, code, text } of await throughEach(office(), {
      parts: { projection },
      by: 'projection',
      roles: CLERK,
    })) {
      assert.equal(code, undefined, `${name} ${regex}: ${text}`)
    }
    await removeNew(office())
  }
})

test('regex: a constraint built to explode is held against documents as others are', async () => {
  for (const [i, matches] of EXPLOSIVE.entries()) {
    const entity = `bound${i}`
    await office().define(entity, {
      _id: { type: 'string' },
      a: { type: 'string', constraints: { matches } },
    })
    const body = { data: { a: `${'a'.repeat(5_000)}!` } }
    const answer = await office().ask('PUT', `/data/insert/${entity}`, { body })
    assert.equal(
      answer.json.status,
      /\.\*/.test(matches) ? answer.json.status : 'ERROR',
      answer.text.slice(0, 300),
    )
  }
})

test('regex: headers and addresses of any length are read in no time', async () => {
  const long = [
    ' '.repeat(20_000),
    'a'.repeat(20_000),
    ','.repeat(20_000),
    ':a'.repeat(10_000),
    '\\\\,'.repeat(6_000),
  ]
  for (const text of long) {
    for (const name of ['Content-Type', 'Accept', 'Authorization', 'Smalt-Roles', 'X-Request-Id', 'Origin']) {
      const headers = { [name]: `application/json${text}!` }
      const answer = await office().ask('POST', '/data/find/person', { body: {}, headers })
      assert.ok(answer.status >= 400 && answer.status < 500, `${name}: ${answer.status}`)
    }
    for (const name of ['Q', 'P', 'S', 'from']) {
      const path = `/data/find/person?${name}=${encodeURIComponent(text)
        .slice(0, 25_000)
        .replace(/%[^%]?$/, '')}!`
      const answer = await office().ask('GET', path, { roles: CLERK })
      assert.ok(answer.status < 500, `${name}: ${answer.text.slice(0, 300)}`)
    }
  }
})

function nested(depth: number, innermost: Json): Json {
  let query = innermost
  for (let i = 0; i < depth; i++) query = { $not: query }
  return query
}

function nestedProjection(depth: number): Json {
  return depth === 0 ? EVERYTHING : { field: 'items', range: [0, 1], projection: nestedProjection(depth - 1) }
}

const IS: Json = { field: 'n', op: '=', rvalue: 1 }
const SET: Json = { $set: { n: 1 } }
const many = (count: number, each: Json): readonly Json[] => Array.from({ length: count }, () => each)

const TOO_MUCH: readonly [rule: string, by: Part, parts: Parts][] = [
  ['100 $not inside each other', 'query', { query: nested(100, IS) }],
  ['5,000 $not inside each other', 'query', { query: nested(5_000, IS) }],
  ['10,001 values of $in', 'query', { query: { field: 'n', op: '$in', values: many(10_001, 1) } }],
  [
    '10,001 values of contains',
    'query',
    { query: { array: 'tags', contains: '$any', values: many(10_001, 'a') } },
  ],
  ['1,001 terms of $or', 'query', { query: { $or: many(1_001, IS) } }],
  ['terms of all arrays together', 'query', { query: { $or: many(50, { $and: many(30, IS) }) } }],
  ['2,000 characters of a pattern', 'query', { query: { field: 'name', regex: 'a'.repeat(2_000) } }],
  ['33 keys of a sort', 'sort', { sort: many(33, { n: '$asc' }) }],
  ['1,001 projections', 'projection', { projection: many(1_001, { field: 'n' }) }],
  ['100 projections inside each other', 'projection', { projection: nestedProjection(100) }],
  ['1,001 steps of an update', 'update', { update: many(1_001, SET) }],
  [
    '1,001 steps inside loops',
    'update',
    { update: many(51, { $foreach: { items: '$all', $update: many(20, SET) } }) },
  ],
]
for (const [rule, by, parts] of TOO_MUCH) {
  test(`limits: ${rule} are refused at every entry point`, async () => {
    const before = await everybody(office())
    const outcomes = await throughEach(office(), { parts, by, roles: BOSS })
    assert.ok(outcomes.length >= 6)
    for (const { name, code, text } of outcomes) {
      const isAddress = name.startsWith('GET /data') || name.endsWith('with P and S')
      const isTooLong = isAddress && /are too long/.test(text)
      assert.equal(
        code,
        isTooLong ? 'crud:InvalidRequest' : 'crud:LimitExceeded',
        `${name}: ${text.slice(0, 300)}`,
      )
    }
    assert.equal(await everybody(office()), before)
  })
}

test('limits: hundreds of thousands of anything are refused or done, and never our fault', async () => {
  const none = { query: { field: '_id', op: '=', rvalue: 'nobody' } }
  const bodies: readonly [path: string, body: JsonObject, code?: string][] = [
    ['find', { projection: many(200_000, { field: 'n' }) }, 'crud:LimitExceeded'],
    ['find', { query: { $or: many(100_000, IS) }, projection: EVERYTHING }, 'crud:LimitExceeded'],
    [
      'find',
      { query: { field: 'n', op: '$in', values: many(200_000, 1) }, projection: EVERYTHING },
      'crud:LimitExceeded',
    ],
    ['update', { ...none, update: many(200_000, SET) }, 'crud:LimitExceeded'],
    ['update', { ...none, update: { $append: { tags: many(200_000, 'x') } } }],
    ['update', { ...none, update: { $set: { items: many(200_000, { n: 1 }) } } }],
    ['update', { ...none, update: SET, onlyIfCurrent: true, documentVersions: many(200_000, 'nobody:1') }],
  ]
  for (const [operation, body, code] of bodies) {
    const answer = await office().ask('POST', `/data/${operation}/person`, { body, roles: BOSS })
    assert.equal(answer.json.errors?.[0].errorCode, code, answer.text.slice(0, 300))
  }
  const body = {
    query: { field: '_id', op: '=', rvalue: 'wide' },
    update: { $append: { tags: many(100_000, 'x') } },
  }
  await put(office(), 'person', { _id: 'wide' })
  const answer = await office().ask('POST', '/data/update/person', { body, roles: BOSS })
  assert.equal(answer.json.modifiedCount, 1, answer.text.slice(0, 300))
  // or whoever asks next reads all of it each time
  await office().ask('POST', '/data/delete/person', { body: { query: body.query }, roles: BOSS })
})

test('bulk: 1,000 explains are answered, 1,001 entries are refused', async () => {
  const request = { entity: 'person', query: { field: 'note', regex: '(a+)+$' }, projection: EVERYTHING }
  const ask = (count: number) => {
    const requests = Array.from({ length: count }, (_, seq) => ({ seq, op: 'explain', request }))
    return office().ask('POST', '/data/bulk', { body: { requests }, roles: CLERK })
  }
  const { json } = await ask(1_000)
  assert.equal(json.responses.length, 1_000)
  for (const { response } of json.responses) {
    // so many at once may have to wait for each other longer than they may take
    const code = response.errors?.[0].errorCode ?? response.status
    assert.match(code, /^(?:COMPLETE|store-crud:Timeout|crud:Unavailable)$/, JSON.stringify(response))
  }
  const refused = await ask(1_001)
  assert.deepEqual([refused.status, refused.json.errors[0].errorCode], [400, 'crud:LimitExceeded'])
})
