/** Rows 1 and 2: what may not be read may not be asked about, nor sorted by, through any entry point. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/base/json/json.ts'
import { ENTRY_POINTS, type Part, type Parts, throughEach } from './entry-points.ts'
import { BOSS, CLERK, assertNoSecret, everybody, openOffice } from './office.ts'

const office = openOffice()
const SSN = { field: 'ssn', op: '=', rvalue: 'SECRET-ssn-1' }

/** Where two of them stand, the first would match something and the second nothing. */
const QUERIES: readonly (readonly [rule: string, ...queries: Json[]])[] = [
  ['=', SSN, { ...SSN, rvalue: 'nothing' }],
  ['$eq', { ...SSN, op: '$eq' }],
  ['!=', { ...SSN, op: '!=' }],
  ['$neq', { ...SSN, op: '$neq' }],
  ['$ne', { ...SSN, op: '$ne' }],
  ['!= null', { ...SSN, op: '!=', rvalue: null }, { ...SSN, rvalue: null }],
  ['<', { field: 'pay', op: '<', rvalue: 987_650_002 }, { field: 'pay', op: '<', rvalue: 0 }],
  ['>', { field: 'pay', op: '>', rvalue: 987_650_002 }],
  ['<=', { field: 'pay', op: '$lte', rvalue: 987_650_002 }],
  ['>=', { field: 'pay', op: '$gte', rvalue: 987_650_002 }],
  [
    '$in',
    { field: 'ssn', op: '$in', values: ['SECRET-ssn-1', 'b'] },
    { field: 'ssn', op: '$in', values: ['a', 'b'] },
  ],
  ['$nin', { field: 'ssn', op: '$nin', values: ['SECRET-ssn-1'] }],
  ['a regex', { field: 'ssn', regex: '^SECRET-ssn-1' }, { field: 'ssn', regex: '^x' }],
  ['a field of its own', { field: 'ssn', op: '=', rfield: 'ssn' }],
  ['rfield', { field: 'name', op: '!=', rfield: 'ssn' }, { field: 'name', op: '=', rfield: 'ssn' }],
  ['rfield of $in', { field: 'name', op: '$in', rfield: 'codes' }],
  ['contains', { array: 'codes', contains: '$any', values: ['SECRET-code'] }],
  ['contains $none', { array: 'codes', contains: '$none', values: ['SECRET-code'] }],
  ['contains $all', { array: 'codes', contains: '$all', values: ['SECRET-code'] }],
  [
    'the number of elements',
    { field: 'codes#', op: '=', rvalue: 2 },
    { field: 'codes#', op: '=', rvalue: 9 },
  ],
  ['an index', { field: 'codes.0', op: '=', rvalue: 'SECRET-code-1' }],
  ['an index from the end', { field: 'codes.-1', op: '=', rvalue: 'SECRET-code' }],
  ['any element', { field: 'codes.*', op: '=', rvalue: 'SECRET-code' }],
  ['a hidden member', { field: 'box.pin', op: '=', rvalue: 'SECRET-pin-1' }],
  ['below a hidden object', { field: 'vault.key', op: '=', rvalue: 'SECRET-key-1' }],
  ['a hidden object', { field: 'vault', op: '!=', rvalue: null }],
  ['a member of an element by index', { field: 'items.0.cost', op: '>', rvalue: 987_650_002 }],
  ['a member of any element', { field: 'items.*.cost', op: '>', rvalue: 987_650_002 }],
  ['two arrays down', { field: 'items.*.parts.*.x', op: '=', rvalue: 'SECRET-x-1' }],
  ['elemMatch', { array: 'items', elemMatch: { field: 'cost', op: '>', rvalue: 987_650_002 } }],
  [
    'elemMatch on a hidden array',
    { array: 'codes', elemMatch: { field: '$this', op: '=', rvalue: 'SECRET-code' } },
  ],
  [
    'elemMatch that climbs',
    { array: 'items', elemMatch: { field: '$parent.ssn', op: '=', rvalue: 'SECRET-ssn-1' } },
  ],
  [
    'elemMatch of elemMatch',
    { array: 'items', elemMatch: { array: 'parts', elemMatch: { field: 'x', op: '!=', rvalue: null } } },
  ],
  ['a detour by $parent', { field: 'box.$parent.ssn', op: '=', rvalue: 'SECRET-ssn-1' }],
  ['a detour by $this', { field: '$this.ssn', op: '=', rvalue: 'SECRET-ssn-1' }],
  ['$not', { $not: SSN }, { $not: { ...SSN, rvalue: 'nothing' } }],
  ['$and', { $and: [{ field: 'n', op: '=', rvalue: 1 }, SSN] }],
  ['$and, as a query string says it', { $and: [{ field: 'n', op: '=', rvalue: 1 }, SSN, SSN] }],
  ['$or', { $or: [{ field: 'n', op: '=', rvalue: 1 }, SSN] }],
  ['$all', { $all: [SSN] }],
  ['$any', { $any: [SSN] }],
  ['an $or that is true anyway', { $or: [{ $and: [] }, SSN] }],
  ['an $and that is false anyway', { $and: [{ $or: [] }, SSN] }],
  ['deep inside', { $not: { $or: [{ $and: [{ $not: { $or: [SSN] } }] }] } }],
]

for (const [rule, ...queries] of QUERIES) {
  test(`query: a hidden field is refused at every entry point: ${rule}`, async () => {
    await refusedAlike(
      queries.map((query) => ({ query })),
      'query',
    )
  })
}

const SORTS: readonly [rule: string, sort: Json][] = [
  ['ascending', { ssn: '$asc' }],
  ['descending', { pay: '$desc' }],
  ['as the second key', [{ n: '$asc' }, { ssn: '$asc' }]],
  ['after the unique key', [{ _id: '$asc' }, { ssn: '$asc' }]],
  ['a hidden member', { 'box.pin': '$asc' }],
  ['below a hidden object', { 'vault.key': '$asc' }],
  ['a member of elements', { 'items.*.cost': '$asc' }],
  ['an element by index', { 'codes.0': '$asc' }],
  ['the number of elements', { 'codes#': '$asc' }],
  ['a detour', { 'box.$parent.ssn': '$asc' }],
]
for (const [rule, sort] of SORTS) {
  test(`sort: a hidden field is refused at every entry point: ${rule}`, async () => {
    await refusedAlike([{ sort }], 'sort')
  })
}

const COST = { field: 'cost', op: '>', rvalue: 987_650_002 }
const INSIDE: readonly [rule: string, projection: Json][] = [
  ['match', { field: 'items', match: COST }],
  ['match that excludes', { field: 'items', include: false, match: COST }],
  ['match that climbs', { field: 'items', match: { field: '$parent.ssn', op: '=', rvalue: 'SECRET-ssn-1' } }],
  [
    'match of elements in elements',
    { field: 'items', match: { array: 'parts', elemMatch: { field: 'x', op: '!=', rvalue: null } } },
  ],
  ['match by rfield', { field: 'items', match: { field: 'n', op: '<', rfield: 'cost' } }],
  ['sort of a match', { field: 'items', match: { field: 'n', op: '>', rvalue: 0 }, sort: { cost: '$asc' } }],
  ['sort of a range', { field: 'items', range: [0, 0], sort: { cost: '$desc' } }],
  [
    'sort inside',
    { field: 'items', range: [0, 1], project: { field: 'parts', range: [0, 0], sort: { x: '$asc' } } },
  ],
  ['a second projection', [{ field: 'name' }, { field: 'items', match: COST }]],
]
for (const [rule, projection] of INSIDE) {
  test(`projection: asking about a hidden field is refused at every entry point: ${rule}`, async () => {
    await refusedAlike([{ projection }], 'projection')
  })
}

test('query: who may read the fields gets answers to all of these', async () => {
  for (const [rule, ...queries] of QUERIES) {
    for (const query of queries) {
      const body = { query, projection: { field: 'name' } }
      const answer = await office().ask('POST', '/data/find/person', { body, roles: BOSS })
      assert.equal(answer.json.status, 'COMPLETE', `${rule}: ${answer.text}`)
    }
  }
  for (const [rule, sort] of SORTS) {
    const body = { sort, projection: { field: 'name' } }
    const answer = await office().ask('POST', '/data/find/person', { body, roles: BOSS })
    assert.equal(answer.json.status, 'COMPLETE', `${rule}: ${answer.text}`)
  }
})

test('entry points: every one of them was asked by query, order and projection', async () => {
  const plain: readonly [Part, Parts][] = [
    ['query', { query: SSN }],
    ['sort', { sort: { ssn: '$asc' } }],
    ['projection', { projection: { field: 'none' } }],
  ]
  for (const [by, parts] of plain) {
    const carriers = ENTRY_POINTS.filter(({ carries }) => carries.includes(by)).map(({ name }) => name)
    const asked = await throughEach(office(), { parts, by, roles: [] })
    assert.deepEqual(
      asked.map(({ name }) => name),
      carriers,
    )
    // nobody without a role gets anywhere, whatever they ask
    for (const { name, code } of asked) assert.equal(code, 'crud:NoAccess', name)
  }
})

/** Refused with the same words whatever there is, and nothing has been done. */
async function refusedAlike(questions: readonly Parts[], by: Part): Promise<void> {
  const before = await everybody(office())
  const [first, ...others] = await Promise.all(
    questions.map((parts) => throughEach(office(), { parts, by, roles: CLERK })),
  )
  assert.ok(first!.length >= 10)
  for (const { name, code, text } of first!) {
    assert.equal(code, 'crud:NoAccess', `${name}: ${text}`)
    assertNoSecret(text, name)
  }
  for (const other of others) {
    const same = new Map(first!.map(({ name, text }) => [name, text]))
    for (const { name, text } of other) assert.equal(text, same.get(name) ?? text, name)
  }
  assert.equal(await everybody(office()), before)
}
