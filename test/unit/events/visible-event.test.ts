/** Events that readers receive: as if hidden fields did not exist. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../../src/access/caller.ts'
import { viewOf } from '../../../src/access/view.ts'
import type { States } from '../../../src/events/detect-changes.ts'
import type { Event, EventHook } from '../../../src/events/event.ts'
import { visibleEvent } from '../../../src/events/visible-event.ts'
import type { Schema } from '../../../src/schema/schema.ts'
import { compiledSchema } from '../../support/schema.ts'
import { ANYONE, callerWith } from '../../support/service.ts'
import { DATE, hookOf, operationOf } from './watching.ts'

const TEXT = { type: 'string' }
const SECRET = { type: 'string', access: { find: ['boss'] } }

const person = compiledSchema('person', {
  name: TEXT,
  salary: { type: 'integer', access: { find: ['boss'] } },
  account: { type: 'object', fields: { bank: TEXT, iban: SECRET } },
  posts: { type: 'array', items: { type: 'object', fields: { title: TEXT, mark: SECRET } } },
})

const boss = callerWith('boss')
const clerk = callerWith('clerk')
const everything = hookOf()

function seenBy(
  caller: Caller,
  states: States,
  { schema = person, hook = everything }: { readonly schema?: Schema; readonly hook?: EventHook } = {},
): Event | undefined {
  const change = { id: 'e1', operation: operationOf(states), principal: 'alice', date: DATE, ...states }
  return visibleEvent(change, { hook, view: viewOf(schema)(caller) })
}

const before = {
  _id: 'p1',
  name: 'Ann',
  salary: 1,
  account: { bank: 'b', iban: 'x' },
  posts: [
    { title: 'one', mark: 'a' },
    { title: 'two', mark: 'b' },
  ],
}

test('visible event: contains no hidden values', () => {
  const after = { ...before, name: 'Anna', salary: 2, account: { bank: 'c', iban: 'y' } }
  const hook = hookOf({
    watchProjection: [{ field: 'name' }, { field: 'salary' }],
    includeProjection: [{ field: 'account', recursive: true }],
  })
  const { changed, include, after: visible } = seenBy(clerk, { before, after }, { hook }) as never
  assert.deepEqual([changed, include, visible], [['name'], { account: { bank: 'c' } }, { name: 'Anna' }])
  const whole = seenBy(boss, { before, after }, { hook })
  assert.deepEqual(whole?.changed, ['name', 'salary'])
})

test('visible event: a change in hidden fields only makes no event', () => {
  const after = { ...before, salary: 2, account: { bank: 'b', iban: 'y' } }
  assert.equal(seenBy(clerk, { before, after }), undefined)
  assert.deepEqual(seenBy(boss, { before, after })?.changed, ['salary', 'account.iban'])
})

test('visible event: an added object is reported only if it has visible content', () => {
  const bare = { _id: 'p1', name: 'Ann' }
  assert.equal(seenBy(clerk, { before: bare, after: { ...bare, account: { iban: 'x' } } }), undefined)
  assert.deepEqual(seenBy(boss, { before: bare, after: { ...bare, account: { iban: 'x' } } })?.changed, [
    'account',
  ])
})

test('visible event: hidden members do not affect the pairing of elements', () => {
  const posts = [
    { title: 'two', mark: 'a' },
    { title: 'one', mark: 'b' },
  ]
  assert.equal(seenBy(clerk, { before, after: { ...before, posts } }), undefined)
  assert.notEqual(seenBy(boss, { before, after: { ...before, posts } }), undefined)
})

test('visible event: elements selected by a hidden field are left out', () => {
  const match = { field: 'posts', match: { field: 'mark', op: '=', rvalue: 'a' } }
  const hook = hookOf({ watchProjection: [match], includeProjection: [{ field: 'name' }, match] })
  const after = { ...before, posts: [{ title: 'uno', mark: 'a' }, before.posts[1]!] }
  assert.equal(seenBy(clerk, { before, after }, { hook }), undefined)
  const event = seenBy(boss, { before, after }, { hook })
  assert.deepEqual(event?.changed, ['posts.0.title'])
  const named = hookOf({ watchProjection: { field: 'posts' }, includeProjection: [{ field: 'name' }, match] })
  const { include } = seenBy(clerk, { before, after }, { hook: named }) as never
  assert.deepEqual(include, { name: 'Ann' })
})

test('visible event: does not reveal that a hidden field excluded an element', () => {
  const match = { $not: { field: 'mark', op: '=', rvalue: 'a' } }
  const hook = hookOf({ watchProjection: { field: 'posts', match } })
  const [one, two] = before.posts as [(typeof before.posts)[0], (typeof before.posts)[0]]
  const first = { ...before, posts: [{ ...one, title: 'uno' }, two] }
  const second = { ...before, posts: [one, { ...two, title: 'due' }] }
  assert.equal(seenBy(boss, { before, after: first }, { hook }), undefined)
  assert.notEqual(seenBy(boss, { before, after: second }, { hook }), undefined)
  for (const after of [first, second]) assert.equal(seenBy(clerk, { before, after }, { hook }), undefined)
})

test('visible event: elements with a hidden identity are paired by visible content', () => {
  const no = { type: 'integer', access: { find: ['boss'] }, constraints: { 'element-identity': true } }
  const lines = { type: 'array', items: { type: 'object', fields: { no, title: TEXT, text: TEXT } } }
  const schema = compiledSchema('bill', { lines })
  const states = {
    before: { _id: 'l1', lines: [{ no: 1, title: 'a', text: 'x' }] },
    after: { _id: 'l1', lines: [{ no: 2, title: 'a', text: 'y' }] },
  }
  const [visible, whole] = [clerk, boss].map((caller) => seenBy(caller, states, { schema }))
  assert.deepEqual([visible?.changed, visible?.removed], [['lines.0.text'], []])
  assert.deepEqual([whole?.changed, whole?.removed], [['lines.0'], ['lines.0']])
})

test('visible event: a hidden _id is not reported as documentId', () => {
  const schema = compiledSchema('hush', {
    _id: { type: 'string', access: { find: ['boss'] }, constraints: { identity: true } },
    name: TEXT,
  })
  const states = { before: { _id: 'h1', name: 'a' }, after: { _id: 'h1', name: 'b' } }
  assert.ok(!Object.hasOwn(seenBy(clerk, states, { schema })!, 'documentId'))
  assert.equal(seenBy(boss, states, { schema })?.documentId, 'h1')
})

test('visible event: a caller who may not find the entity receives none', () => {
  const schema = compiledSchema(
    'vault',
    { name: TEXT },
    { schema: { access: { ...ANYONE, find: ['boss'] } } },
  )
  const states = { after: { _id: 'v1', name: 'a' } }
  assert.equal(seenBy(clerk, states, { schema }), undefined)
  assert.notEqual(seenBy(boss, states, { schema }), undefined)
})

const owned = { role: 'clerk', where: { field: 'owner', op: '=', rvalue: '$caller.principal' } }

test('visible event: both states must match the row rules of the reader', () => {
  const schema = compiledSchema(
    'file',
    { name: TEXT, owner: TEXT },
    { schema: { access: { ...ANYONE, find: [owned] } } },
  )
  const mine = { _id: 'f1', name: 'a', owner: 'tester' }
  const theirs = { ...mine, owner: 'other' }
  assert.deepEqual(seenBy(clerk, { before: mine, after: { ...mine, name: 'b' } }, { schema })?.changed, [
    'name',
  ])
  assert.notEqual(seenBy(clerk, { after: mine }, { schema }), undefined)
  const unseen = [{ after: theirs }, { before: mine, after: theirs }, { before: theirs, after: mine }]
  for (const states of unseen) assert.equal(seenBy(clerk, states, { schema }), undefined)
})

test('visible event: a field that is hidden in one state is hidden in both', () => {
  const schema = compiledSchema('note', {
    name: TEXT,
    owner: TEXT,
    text: { type: 'string', access: { find: [owned] } },
  })
  const mine = { _id: 'n1', name: 'a', owner: 'tester', text: 'old' }
  const after = { _id: 'n1', name: 'b', owner: 'other', text: 'new' }
  assert.deepEqual(seenBy(clerk, { before: mine, after }, { schema })?.changed, ['name', 'owner'])
  assert.deepEqual(seenBy(clerk, { before: mine, after: { ...mine, text: 'new' } }, { schema })?.changed, [
    'text',
  ])
})
