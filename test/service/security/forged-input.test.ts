/** Rows 9 and 11: what is sent is taken for what it is, by everybody alike; all of it is refused before any store. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/base/json/json.ts'
import { ROUTES } from '../../../src/http/routes/routes.ts'
import { assertUnpolluted } from '../bad-input/fixture.ts'
import { type Part, type Parts, throughEach } from './entry-points.ts'
import { BOSS, everybody, openOffice } from './office.ts'

const office = openOffice()
const REFUSED =
  /^(?:query-api:Invalid\w+|crud:InvalidRequest|crud:UnknownEntity|metadata:(?:IncompatibleValue|InvalidFieldReference|IllFormedMetadata|ParseMissingElement))$/

const INSTEAD: readonly Json[] = [
  { $ne: null },
  { $gt: '' },
  { $regex: '.*' },
  {},
  [],
  [null],
  ['name 1'],
  [[1]],
]
const OTHERS: readonly Json[] = [...INSTEAD, 1, true]

const SCALARS: readonly [rule: string, by: Part, values: readonly Json[], parts: (value: Json) => Parts][] = [
  ['rvalue', 'query', INSTEAD, (rvalue) => ({ query: { field: 'name', op: '=', rvalue } })],
  ['rvalue of _id', 'query', INSTEAD, (rvalue) => ({ query: { field: '_id', op: '=', rvalue } })],
  ['rvalue of a number', 'query', INSTEAD, (rvalue) => ({ query: { field: 'n', op: '>', rvalue } })],
  ['a value of $in', 'query', INSTEAD, (value) => ({ query: { field: 'name', op: '$in', values: [value] } })],
  [
    'values',
    'query',
    [{ $ne: null }, {}, 1, 'name 1'],
    (values) => ({ query: { field: 'name', op: '$in', values } }),
  ],
  ['field', 'query', OTHERS, (field) => ({ query: { field, op: '=', rvalue: 1 } })],
  ['rfield', 'query', OTHERS, (rfield) => ({ query: { field: 'name', op: '=', rfield } })],
  ['op', 'query', OTHERS, (op) => ({ query: { field: 'name', op, rvalue: 'x' } })],
  ['regex', 'query', OTHERS, (regex) => ({ query: { field: 'name', regex } })],
  ['array', 'query', OTHERS, (array) => ({ query: { array, contains: '$any', values: [] } })],
  ['query', 'query', [[], 1, true, 'name', ['name']], (query) => ({ query })],
  ['$not', 'query', [[], 1, true, 'name', null], ($not) => ({ query: { $not } })],
  ['$or', 'query', [{}, 1, true, 'name', null], ($or) => ({ query: { $or } })],
  ['an order', 'sort', [{}, [], 1, true], (order) => ({ sort: { name: order } })],
  ['sort', 'sort', [1, true, [1], [[]]], (sort) => ({ sort })],
  ['a projected field', 'projection', OTHERS, (field) => ({ projection: { field } })],
  [
    'range',
    'projection',
    [{}, 1, [1], [0, '1'], [0, {}], 'x'],
    (range) => ({ projection: { field: 'tags', range } }),
  ],
  ['$valueof', 'update', OTHERS, ($valueof) => ({ update: { $set: { note: { $valueof } } } })],
  ['a value of $set', 'update', INSTEAD, (note) => ({ update: { $set: { note } } })],
  ['$unset', 'update', [{}, 1, true, [1], [{}]], ($unset) => ({ update: { $unset } })],
  ['_id of a document', 'data', INSTEAD, (_id) => ({ data: { _id, name: 'forged' } })],
  ['a member of a document', 'data', INSTEAD, (name) => ({ data: { name } })],
  ['a document', 'data', [1, 'x', [1], [[]], ['x']], (data) => ({ data })],
]
for (const [rule, by, values, parts] of SCALARS) {
  test(`types: ${rule} of another kind is refused at every entry point`, async () => {
    const before = await everybody(office())
    for (const value of values) {
      for (const { name, code, text } of await throughEach(office(), {
        parts: parts(value),
        by,
        roles: BOSS,
      })) {
        assert.match(code ?? '', REFUSED, `${name} ${JSON.stringify(value)}: ${text}`)
      }
    }
    assert.equal(await everybody(office()), before)
  })
}

test('types: n and the ends of a range are integers, in an address, too', async () => {
  for (const value of [
    '1e3',
    '0x10',
    '1.5',
    'NaN',
    '',
    '[]',
    '{}',
    'true',
    '1 2',
    '-',
    '99999999999999999999',
  ]) {
    const text = encodeURIComponent(value)
    const generated = await office().ask('GET', `/data/generate/person/ticket?n=${text}`, { roles: BOSS })
    assert.deepEqual(
      [generated.status, generated.json.errors[0].errorCode],
      [400, 'crud:InvalidRequest'],
      value,
    )
    if (value === '') continue
    for (const name of ['from', 'to', 'maxResults']) {
      const found = await office().ask('GET', `/data/find/person?${name}=${text}`, { roles: BOSS })
      assert.deepEqual([found.status, found.json.errors[0].errorCode], [400, 'crud:InvalidRequest'], value)
    }
  }
})

const BODIES: readonly [rule: string, body: string][] = [
  ['a key twice', '{"data":{},"data":[]}'],
  ['a key twice, once escaped', String.raw`{"query":{},"quer\u0079":{}}`],
  ['a key twice deep down', '{"requests":[{"a":{"entity":1,"entity":2}}]}'],
  ['__proto__', '{"__proto__":{"polluted":1}}'],
  ['__proto__ deep down', '{"a":[{"b":{"__proto__":{"polluted":1}}}]}'],
  ['a lone surrogate', String.raw`{"a":"\ud800"}`],
  ['NUL', String.raw`{"a":"\u0000"}`],
]
for (const [rule, body] of BODIES) {
  test(`body: ${rule} is refused by every route that takes one`, async () => {
    const taking = ROUTES.filter(
      ({ body: taken }) => taken && (taken.type ?? 'application/json') === 'application/json',
    )
    assert.ok(taking.length > 20)
    for (const { method, path } of taking) {
      const address = path.replaceAll(/\{\w+\}/g, 'person')
      const answer = await office().ask(method, address, { body, roles: BOSS })
      const error = answer.json.errors?.[0] ?? answer.json
      assert.deepEqual([answer.status, error.errorCode], [400, 'crud:InvalidRequest'], `${method} ${path}`)
      assertUnpolluted()
    }
  })
}
