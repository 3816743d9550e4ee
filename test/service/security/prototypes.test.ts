/** Row 10: names of what every object has are names of nothing, and poison nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/base/json/json.ts'
import { assertUnpolluted } from '../bad-input/fixture.ts'
import { type Part, type Parts, throughEach } from './entry-points.ts'
import { BOSS, everybody, openOffice } from './office.ts'

const office = openOffice()
const REFUSED =
  /^(?:query-api:Invalid\w+|crud:InvalidRequest|crud:UnknownEntity|metadata:(?:IncompatibleValue|InvalidFieldReference|IllFormedMetadata|ParseMissingElement))$/

const WORDS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'constructor.prototype.polluted',
]

const POISONS: readonly [rule: string, by: Part, parts: (word: string) => Parts][] = [
  ['a query', 'query', (field) => ({ query: { field, op: '=', rvalue: 'polluted' } })],
  ['rfield', 'query', (rfield) => ({ query: { field: 'name', op: '=', rfield } })],
  ['an operator', 'query', (op) => ({ query: { field: 'name', op, rvalue: 'x' } })],
  ['a step of a path', 'query', (word) => ({ query: { field: `box.${word}`, op: '=', rvalue: 'x' } })],
  ['a sort', 'sort', (word) => ({ sort: JSON.parse(`{"${word}":"$asc"}`) as Json })],
  ['$set', 'update', (word) => ({ update: { $set: JSON.parse(`{"${word}":"polluted"}`) as Json } })],
  ['$set below an object', 'update', (word) => ({ update: { $set: { [`box.${word}.polluted`]: 'x' } } })],
  ['an update operator', 'update', (word) => ({ update: JSON.parse(`{"${word}":{"polluted":1}}`) as Json })],
  ['$valueof', 'update', ($valueof) => ({ update: { $set: { note: { $valueof } } } })],
  ['a document', 'data', (word) => ({ data: JSON.parse(`{"${word}":{"polluted":1}}`) as Json })],
  [
    'a member of a document',
    'data',
    (word) => ({ data: JSON.parse(`{"box":{"${word}":{"polluted":1}}}`) as Json }),
  ],
]
for (const [rule, by, parts] of POISONS) {
  test(`prototypes: ${rule} that names them is refused at every entry point`, async () => {
    const before = await everybody(office())
    for (const word of WORDS) {
      for (const { name, code, text } of await throughEach(office(), {
        parts: parts(word),
        by,
        roles: BOSS,
      })) {
        assert.match(code ?? '', REFUSED, `${name} ${word}: ${text}`)
        assertUnpolluted()
      }
    }
    assert.equal(await everybody(office()), before)
  })
}

test('prototypes: in projections, addresses, parameters, roles and entries of a bulk they are names like others', async () => {
  for (const word of WORDS) {
    await throughEach(office(), {
      parts: { projection: { field: word, recursive: true } },
      by: 'projection',
      roles: BOSS,
    })
    const paths = [
      `/data/find/${word}`,
      `/data/find/person/${word}`,
      `/data/generate/person/${word}`,
      `/data/find/person?${word}=1`,
    ]
    for (const path of [
      ...paths,
      `/data/search/person/${word}`,
      `/metadata/${word}`,
      `/metadata/${word}/roles`,
      `/${word}`,
    ]) {
      const { status, text } = await office().ask('GET', path, { roles: [...BOSS, word] })
      assert.ok(status >= 400 && status < 500, `${path}: ${text}`)
    }
    const { json } = await office().ask('POST', '/data/bulk', {
      body: {
        requests: [
          { seq: 1, op: word, request: { entity: word } },
          { seq: 2, op: 'find', request: { entity: word } },
        ],
      },
    })
    for (const { response } of json.responses) assert.equal(response.status, 'ERROR')
    const refused = await office().ask('GET', '/data/find/person', { roles: [word] })
    assert.equal(refused.status, 403)
    assertUnpolluted()
  }
})
