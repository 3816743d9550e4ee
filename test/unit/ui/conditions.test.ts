/** Conditions in forms: what a form cannot show exactly is left to JSON. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../ui/client/json.ts'
import { conditionIn, joinsIn, queryOf, whereOf } from '../../../ui/schema/conditions.ts'
import { withRowRules } from '../../../ui/schema/metadata-draft.ts'

const JOIN = { field: '_id', op: '=', rfield: '$parent.teamId' }

test('joins: equal fields, one or several, come back as they were', () => {
  assert.deepEqual(joinsIn(JOIN), [{ theirs: '_id', ours: 'teamId' }])
  for (const query of [JOIN, { $and: [JOIN, { field: 'a.b', op: '=', rfield: '$parent.$parent.c' }] }])
    assert.deepEqual(queryOf(joinsIn(query)!), query)
})

const OTHERS: readonly Json[] = [
  null,
  [],
  'x',
  { ...JOIN, op: '>' },
  { ...JOIN, rfield: 'name' },
  { ...JOIN, more: 1 },
  { field: '_id', op: '=', rvalue: 1 },
  { $and: [JOIN, { field: 'a', op: '=', rvalue: 1 }] },
  { $and: [JOIN], $or: [JOIN] },
  { $or: [JOIN] },
]
for (const query of OTHERS)
  test(`joins: not ${JSON.stringify(query)}`, () => assert.equal(joinsIn(query), undefined))

test('row rules: one equal field, with the caller, a claim or a value', () => {
  for (const rvalue of ['$caller.principal', '$caller.claims.a.b', 'Bern', '']) {
    const where = { field: 'owner', op: '=', rvalue }
    assert.deepEqual(whereOf(conditionIn(where)!), where)
  }
  assert.equal(conditionIn({ field: 'n', op: '=', rvalue: 5 }), undefined, 'a number would become text')
  assert.equal(conditionIn({ field: 'n', op: '!=', rvalue: 'x' }), undefined)
  assert.equal(conditionIn({ field: 'n', op: '=', rvalue: 'x', more: 1 }), undefined)
})

test('row rules: roles stay beside them, and an empty list goes', () => {
  const rule = { role: 'clerk', where: { field: 'owner', op: '=', rvalue: '$caller.principal' } }
  assert.deepEqual(withRowRules({ find: ['hr'] }, 'find', [rule]), { find: ['hr', rule] })
  assert.deepEqual(withRowRules({ find: ['hr', rule], update: ['hr'] }, 'find', []), {
    update: ['hr'],
    find: ['hr'],
  })
  assert.equal(withRowRules({ find: [rule] }, 'find', []), undefined)
})
