/** What a cluster evaluates of a query, and what is left to the service. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { parseQuery } from '../../../src/lang/parse/parse-query.ts'
import { resolveQuery } from '../../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../../src/lang/resolve/scope.ts'
import { OutdatedError } from '../../../src/store/postgres/connection/failures.ts'
import { pushdownTo } from '../../../src/store/postgres/read/pushdown.ts'
import { noteRefusal } from '../../../src/store/postgres/read/refused.ts'
import { compiledSchema } from '../../support/schema.ts'

const strings = { type: 'array', items: { type: 'string' } }
const SCHEMA = compiledSchema('item', {
  s: { type: 'string' },
  tags: strings,
  rows: { type: 'array', items: { type: 'object', fields: { s: { type: 'string' }, tags: strings } } },
})

const CLUSTER = pushdownTo({ isDistributed: true })
const SERVER = pushdownTo({ isDistributed: false })
const equal = (field: string) => ({ field, op: '=', rvalue: 'x' })

function resolvedQuery(query: JsonObject) {
  return resolveQuery(parseQuery(query, '', DEFAULT_LIMITS), rootScope(SCHEMA))
}

function splitOf(query: JsonObject) {
  const resolved = resolvedQuery(query)
  assert.deepEqual(SERVER.split(resolved), { pushed: resolved }, 'one server evaluates all of it')
  const { pushed, residual } = CLUSTER.split(resolved)
  return { isPushed: pushed !== undefined, hasResidual: residual !== undefined }
}

const PUSHED: Readonly<Record<string, JsonObject>> = {
  'a plain field': equal('s'),
  'elements of one array': equal('tags.*'),
  'members of elements': equal('rows.*.s'),
  'one element that matches': { array: 'rows', elemMatch: equal('s') },
  'an array that contains values': { array: 'tags', contains: '$any', values: ['x'] },
  'arrays in arrays': equal('rows.*.tags.*'),
  'elements that contain values': { array: 'rows.*.tags', contains: '$any', values: ['x'] },
  'one element of nested arrays that matches': { array: 'rows.*.tags', elemMatch: equal('$this') },
  'two arrays as a whole': { field: 'tags', op: '=', rfield: 'tags' },
}
const RESIDUAL: Readonly<Record<string, JsonObject>> = {
  'two arrays against each other': { field: 'tags.*', op: '=', rfield: 'rows.*.s' },
  'an element that matches by its own elements': { array: 'rows', elemMatch: equal('tags.*') },
  'elements that contain all values': { array: 'rows.*.tags', contains: '$all', values: ['x'] },
  'an element that matches by a whole array': {
    array: 'rows',
    elemMatch: { field: 'tags', op: '=', rfield: 'tags' },
  },
}

for (const [what, query] of Object.entries(PUSHED)) {
  test(`cluster: evaluates ${what}`, () => {
    assert.deepEqual(splitOf(query), { isPushed: true, hasResidual: false })
  })
}

for (const [what, query] of Object.entries(RESIDUAL)) {
  test(`cluster: leaves ${what} to the service, and narrows by the rest`, () => {
    assert.deepEqual(splitOf(query), { isPushed: false, hasResidual: true })
    assert.deepEqual(splitOf({ $and: [query, equal('s')] }), { isPushed: true, hasResidual: true })
  })
}

test('cluster: documents of other collections are read separately', () => {
  assert.ok(!CLUSTER.canJoin && SERVER.canJoin)
})

test('cluster: a query that the server refused once is left to the service, alone or in another', async () => {
  const [query, other] = [resolvedQuery(equal('s')), resolvedQuery(equal('tags.*'))]
  assert.deepEqual(CLUSTER.split(query), { pushed: query })
  const refusal = Object.assign(new pg.DatabaseError('no', 2, 'error'), { code: '0A000' })
  await assert.rejects(
    noteRefusal([query, undefined], () => Promise.reject(refusal)),
    OutdatedError,
  )
  assert.deepEqual(CLUSTER.split(query), { residual: query })
  assert.ok(!CLUSTER.answers(query))
  const either = { kind: 'or', terms: [query, other] } as const
  assert.deepEqual(CLUSTER.split(either).residual, either)
  await assert.rejects(
    noteRefusal([query], () => Promise.reject(refusal)),
    refusal,
    'refused again, it would be repeated without end',
  )
})

test('cluster: other failures refuse nothing', async () => {
  const query = resolvedQuery(equal('s'))
  const failure = Object.assign(new pg.DatabaseError('no', 2, 'error'), { code: '57014' })
  await assert.rejects(
    noteRefusal([query], () => Promise.reject(failure)),
    failure,
  )
  assert.ok(CLUSTER.answers(query))
})
