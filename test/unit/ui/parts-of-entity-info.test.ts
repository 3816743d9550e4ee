/** Indexes and hooks in a form: what a form cannot show is left to JSON, and what it does not know stays. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestFailure } from '../../../ui/client/failure.ts'
import type { Json, JsonObject } from '../../../ui/client/json.ts'
import { schemaPaths, indexable } from '../../../ui/schema/field-paths.ts'
import {
  configurationIn,
  includedIn,
  isHook,
  projectionOf,
  withAction,
  withConfigured,
} from '../../../ui/schema/hook-draft.ts'
import {
  LANGUAGES,
  indexIn,
  isIdIndex,
  movedUp,
  weightIn,
  withKind,
  withName,
} from '../../../ui/schema/index-draft.ts'
import { withMember } from '../../../ui/schema/members.ts'
import { messageAt, messageInside, problemOf } from '../../../ui/schema/metadata-problem.ts'
import { LANGUAGES as KNOWN_LANGUAGES } from '../../../src/base/stemmers.ts'

test('indexes: the form has every language that the service has', () => {
  assert.deepEqual([...LANGUAGES], [...KNOWN_LANGUAGES])
})

const NO_INDEXES: readonly Json[] = [
  null,
  'x',
  [],
  { kind: 'geo', fields: [] },
  { fields: 'a' },
  { fields: ['a'] },
  { fields: [{ field: 1 }] },
  { name: 1, fields: [{ field: 'a' }] },
]
for (const index of NO_INDEXES)
  test(`indexes: the form leaves ${JSON.stringify(index)} to JSON`, () =>
    assert.equal(indexIn(index), undefined))

test('indexes: the one on _id is the one that always exists', () => {
  const own = { name: null, unique: true, fields: [{ field: '_id', dir: '$asc', caseInsensitive: false }] }
  assert.equal(isIdIndex(own), true)
  assert.equal(isIdIndex({ ...own, unique: false }), false)
  assert.equal(isIdIndex({ ...own, fields: [...own.fields, { field: 'a' }] }), false)
  assert.equal(isIdIndex({ ...own, comment: 'ours' }), false, 'what somebody wrote is shown')
})

test('indexes: another kind keeps names, fields and unknown members', () => {
  const index: JsonObject = {
    name: 'n',
    unique: true,
    note: 'x',
    fields: [{ field: 'a', dir: '$desc', caseInsensitive: true, note: 'y' }],
  }
  const words = withKind(index, true)
  assert.deepEqual(words, { name: 'n', note: 'x', kind: 'text', fields: [{ field: 'a', note: 'y' }] })
  const weighted = { ...words, language: 'german', fields: [{ field: 'a', note: 'y', weight: 3 }] }
  assert.deepEqual(withKind(weighted, false), { name: 'n', note: 'x', fields: [{ field: 'a', note: 'y' }] })
})

test('indexes: members are set in their place, and removed', () => {
  const key = { field: 'a', weight: 2, note: 'y' }
  assert.deepEqual(Object.keys(withMember(key, 'weight', 3)), ['field', 'weight', 'note'])
  assert.deepEqual(withMember(key, 'weight', undefined), { field: 'a', note: 'y' })
  assert.deepEqual([weightIn(' 12 '), weightIn(''), weightIn('much')], [12, undefined, 'much'])
  assert.deepEqual(withName({ name: 'a', fields: [] }, ''), { name: null, fields: [] })
  assert.deepEqual(withName({ name: 'a', kind: 'text', fields: [] }, ''), {
    name: '',
    kind: 'text',
    fields: [],
  })
  assert.deepEqual(movedUp(['a', 'b', 'c'], 2), ['a', 'c', 'b'])
})

test('paths: fields at every depth, with * for elements; each use has those that fit', () => {
  const paths = schemaPaths({
    objectType: { type: 'string' },
    name: { type: 'string' },
    address: { type: 'object', fields: { zip: { type: 'integer' } } },
    'tags#': { type: 'integer' },
    tags: { type: 'array', items: { type: 'string' } },
    jobs: { type: 'array', items: { type: 'object', fields: { title: { type: 'string' } } } },
    blob: { type: 'binary' },
  })
  assert.deepEqual(
    paths.map(({ path }) => path),
    ['_id', 'name', 'address', 'address.zip', 'tags', 'tags.*', 'jobs', 'jobs.*', 'jobs.*.title', 'blob'],
  )
  assert.deepEqual(indexable(paths, false), ['_id', 'name', 'address.zip', 'tags.*', 'jobs.*.title'])
  assert.deepEqual(indexable(paths, true), ['_id', 'name', 'tags.*', 'jobs.*.title'])
})

test('hooks: a configuration of another program is left to JSON', () => {
  assert.deepEqual(configurationIn({}), {})
  assert.deepEqual(configurationIn({ configuration: { kind: 'audit', more: 1 } }), { kind: 'audit', more: 1 })
  assert.equal(configurationIn({ configuration: { queue: 'x' } }), undefined)
  assert.equal(configurationIn({ configuration: 'x' }), undefined)
  assert.equal(isHook({ name: 'a', actions: 'insert' }), false)
  assert.equal(isHook({ name: 1, actions: [] }), false)
})

test('hooks: unknown members of hook and configuration stay', () => {
  const hook = { name: 'a', actions: ['insert'], note: 'x', configuration: { kind: 'audit', queue: 'y' } }
  assert.deepEqual(withConfigured(hook, 'kind', undefined), { ...hook, configuration: { queue: 'y' } })
  assert.deepEqual(withConfigured({ ...hook, configuration: { kind: 'audit' } }, 'kind', undefined), {
    name: 'a',
    actions: ['insert'],
    note: 'x',
  })
  assert.deepEqual(withAction({ ...hook, actions: ['delete', 'merge'] }, 'insert', true).actions, [
    'merge',
    'insert',
    'delete',
  ])
  assert.deepEqual(withAction(hook, 'insert', false).actions, [])
})

test('projections: included fields are a list; anything else is JSON', () => {
  const one = { field: 'a', recursive: true }
  assert.deepEqual(includedIn(undefined), [])
  assert.deepEqual(includedIn(one), [one])
  assert.deepEqual(includedIn([one, { field: 'b', include: true }]), [one, { field: 'b', include: true }])
  const others: readonly Json[] = [
    'a',
    [{ field: 'a', include: false }],
    { field: 'a', match: {} },
    { field: 1 },
    [one, null],
  ]
  for (const other of others) assert.equal(includedIn(other), undefined, JSON.stringify(other))
  assert.deepEqual(projectionOf(one, [{ field: 'b' }]), { field: 'b' })
  assert.deepEqual(projectionOf(one, [one, one]), [one, one])
  assert.deepEqual(projectionOf([one], [one]), [one])
  assert.equal(projectionOf([one], []), undefined)
})

test('problems: an error stands at its pointer, else at the part that its code or context names', () => {
  const failure = (errorCode: string, msg: string, context = ''): unknown =>
    problemOf(new RequestFailure(422, [{ errorCode, msg, context }]))
  assert.deepEqual(failure('metadata:InvalidIndex', 'no (at /entityInfo/indexes/1/kind)'), {
    message: 'no (at /entityInfo/indexes/1/kind)',
    pointer: '/entityInfo/indexes/1/kind',
  })
  assert.deepEqual(failure('metadata:InvalidIndex', 'no', 'indexes'), {
    message: 'no',
    pointer: '/entityInfo/indexes',
  })
  assert.deepEqual(failure('crud:LimitExceeded', 'no', 'updateEntityInfo(a)/hooks'), {
    message: 'no',
    pointer: '/entityInfo/hooks',
  })
  assert.deepEqual(failure('metadata:InvalidEnum', 'no'), { message: 'no', pointer: undefined })
  const info = problemOf(new Error('no (at /hooks/0)'), '/entityInfo')
  assert.equal(info.pointer, '/entityInfo/hooks/0', 'entity info was sent alone')
  const problem = { message: 'no', pointer: '/entityInfo/indexes/1/kind' }
  assert.equal(messageInside(problem, '/entityInfo/indexes/1'), 'no')
  assert.equal(messageInside(problem, '/entityInfo/indexes/10'), undefined)
  assert.equal(
    messageInside({ ...problem, pointer: '/entityInfo/indexes/10' }, '/entityInfo/indexes/1'),
    undefined,
  )
  assert.equal(messageAt(problem, '/entityInfo/indexes'), undefined)
})
