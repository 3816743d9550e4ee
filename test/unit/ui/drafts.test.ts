/** Drafts of the page: metadata by form, and the updates of a bulk edit. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type JsonObject, printJson } from '../../../ui/client/json.ts'
import {
  constraintValue,
  constraintsFor,
  freshName,
  renamed,
  rolesText,
  withConstraint,
  withRoles,
  withType,
} from '../../../ui/schema/metadata-draft.ts'
import { editableColumns, kindsOf, updateOf } from '../../../ui/views/data/bulk-changes.ts'

const RULE = { role: 'clerk', where: { field: 'owner', op: '=', rvalue: '$caller.principal' } }

test('access: roles are text by comma, with spaces in them, and row rules stay', () => {
  const access = { find: ['night shift', RULE], update: ['hr'] }
  assert.equal(rolesText(access.find), 'night shift')
  assert.deepEqual(withRoles(access, 'find', 'night shift, hr,, hr'), {
    update: ['hr'],
    find: ['night shift', 'hr', RULE],
  })
  assert.deepEqual(withRoles(access, 'update', ' '), { find: access.find })
  assert.equal(withRoles({ find: ['hr'] }, 'find', ''), undefined)
})

const TYPES: readonly (readonly [rule: string, before: JsonObject, type: string, after: JsonObject])[] = [
  [
    'constraints of the former type go',
    { type: 'string', constraints: { required: true, maxLength: 5 } },
    'integer',
    { type: 'integer', constraints: { required: true } },
  ],
  [
    'description and access stay',
    { type: 'integer', description: 'x', access: { find: ['hr'] }, constraints: { minimum: 1 } },
    'object',
    { type: 'object', description: 'x', access: { find: ['hr'] }, fields: {} },
  ],
  ['an array has elements', { type: 'date' }, 'array', { type: 'array', items: { type: 'string' } }],
  [
    'fields of an object go with it',
    { type: 'object', fields: { a: { type: 'date' } } },
    'uid',
    { type: 'uid' },
  ],
]
for (const [rule, before, type, after] of TYPES) {
  test(`type: ${rule}`, () => assert.deepEqual(withType(before, type, false), after))
}

test('constraints: by type and place, exact, and gone when they are empty', () => {
  const names = (type: string, isInArray: boolean) => constraintsFor(type, isInArray).map(({ name }) => name)
  assert.deepEqual(names('integer', false), ['required', 'identity', 'minimum', 'maximum'])
  assert.deepEqual(names('date', true), ['required', 'element-identity'])
  assert.deepEqual(names('array', false), ['required', 'minItems', 'maxItems'])
  assert.deepEqual(names('reference', false), [])
  assert.equal(printJson(constraintValue('number', ' 1.50 ')), '1.50')
  assert.equal(constraintValue('count', 'many'), 'many')
  assert.equal(constraintValue('text', ' '), undefined)
  assert.equal(constraintValue('text', '^No\\. '), '^No\\. ', 'a space is a part of a pattern')
  const field = withConstraint({ type: 'string' }, 'maxLength', 4)
  assert.deepEqual(field, { type: 'string', constraints: { maxLength: 4 } })
  assert.deepEqual(withConstraint(field, 'maxLength', undefined), { type: 'string' })
})

test('fields: a renamed one keeps its place, a new one has a name of its own', () => {
  const fields = { a: { type: 'date' }, b: { type: 'uid' }, field4: { type: 'any' } }
  assert.deepEqual(Object.keys(renamed(fields, 'a', 'z')), ['z', 'b', 'field4'])
  assert.equal(freshName(fields), 'field5')
})

test('bulk edit: simple fields that are readable, one operator for each change', () => {
  const column = (path: string, type: string) => ({ path, field: { type }, width: 1 })
  const columns = [
    column('_id', 'string'),
    column('n', 'integer'),
    column('tags', 'array'),
    column('s', 'string'),
  ]
  const editable = editableColumns(columns, new Set(['s']))
  assert.deepEqual(
    editable.map(({ path }) => path),
    ['n'],
  )
  assert.deepEqual(
    [kindsOf(columns[1]!), kindsOf(columns[3]!)],
    [
      ['set', 'add', 'remove'],
      ['set', 'remove'],
    ],
  )
  const [, n, , s] = columns
  assert.deepEqual(
    updateOf([
      { column: n!, kind: 'add', value: 2 },
      { column: s!, kind: 'set', value: null },
      { column: n!, kind: 'remove' },
    ]),
    [{ $add: { n: 2 } }, { $set: { s: null } }, { $unset: 'n' }],
  )
  assert.throws(() => updateOf([{ column: s!, kind: 'set' }]), /give a value for s/)
})
