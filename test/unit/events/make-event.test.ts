/** Events of hooks: the sandwich example of the documentation, contents, actions, and audits. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compiledSchema } from '../../support/schema.ts'
import { DATE, eventOf, hookOf } from './watching.ts'

const TEXT = { type: 'string' }

const sandwich = compiledSchema('sandwich', {
  name: TEXT,
  toppings: { type: 'array', items: { type: 'string' } },
})

const onToppings = hookOf(
  { watchProjection: [{ field: 'toppings' }], includeProjection: [], arrayOrderingSignificant: false },
  { actions: ['insert', 'update'] },
)

const plain = { _id: 's1', name: 'club', toppings: ['ham', 'cheese'], 'toppings#': 2 }

test('event: toppings in another order make no event', () => {
  const after = { ...plain, toppings: ['cheese', 'ham'] }
  assert.equal(eventOf(sandwich, onToppings, { before: plain, after }), undefined)
})

test('event: a new topping makes an event', () => {
  const after = { ...plain, toppings: ['cheese', 'tomato', 'ham'], 'toppings#': 3 }
  assert.deepEqual(eventOf(sandwich, onToppings, { before: plain, after }), {
    id: 'e1',
    hook: 'watcher',
    entity: 'sandwich',
    entityVersion: '1.0.0',
    operation: 'update',
    documentId: 's1',
    principal: 'alice',
    date: DATE,
    changed: ['toppings.1'],
    removed: [],
    before: { toppings: ['ham', 'cheese'] },
    after: { toppings: ['cheese', 'tomato', 'ham'] },
    include: {},
  })
})

test('event: another name of the sandwich makes no event', () => {
  assert.equal(eventOf(sandwich, onToppings, { before: plain, after: { ...plain, name: 'blt' } }), undefined)
})

test('event: an action that is not listed makes no event', () => {
  assert.equal(eventOf(sandwich, onToppings, { before: plain }), undefined)
  assert.notEqual(eventOf(sandwich, onToppings, { after: plain }), undefined)
})

const book = compiledSchema('book', {
  isbn: TEXT,
  title: TEXT,
  pages: { type: 'integer' },
  tags: { type: 'array', items: TEXT },
  sites: {
    type: 'array',
    items: {
      type: 'object',
      fields: { siteId: { type: 'integer', constraints: { 'element-identity': true } }, city: TEXT },
    },
  },
  author: { type: 'object', fields: { first: TEXT, last: TEXT } },
})

const dune = { _id: 'b1', objectType: 'book', isbn: '1', title: 'Dune', tags: ['a', 'b'] }
const onTitle = hookOf({
  watchProjection: [{ field: 'title' }, { field: 'tags.*' }],
  includeProjection: [{ field: 'isbn' }],
})

test('event: a changed title and a removed tag are reported with the included fields', () => {
  const after = { ...dune, title: 'Dune 2', tags: ['a'] }
  const event = eventOf(book, onTitle, { before: dune, after })
  assert.ok(event && 'include' in event)
  const { changed, removed, include, before, after: watched } = event
  assert.deepEqual(
    { changed, removed, include },
    { changed: ['title'], removed: ['tags.1'], include: { isbn: '1' } },
  )
  assert.deepEqual(before, { title: 'Dune', tags: ['a', 'b'] })
  assert.deepEqual(watched, { title: 'Dune 2', tags: ['a'] })
})

test('event: an insert reports added values, and has no state before', () => {
  const event = eventOf(book, onTitle, { after: dune })
  assert.ok(event && 'include' in event)
  assert.deepEqual([event.operation, event.changed, event.before], ['insert', ['title', 'tags'], undefined])
  assert.ok(!Object.hasOwn(event, 'before'))
})

test('event: a delete reports removed values, and includes fields of the state before', () => {
  const event = eventOf(book, onTitle, { before: dune })
  assert.ok(event && 'include' in event)
  const { operation, removed, include, documentId } = event
  assert.deepEqual(
    [operation, removed, include, documentId],
    ['delete', ['title', 'tags'], { isbn: '1' }, 'b1'],
  )
  assert.ok(!Object.hasOwn(event, 'after'))
})

test('event: a null is reported as null', () => {
  const event = eventOf(book, onTitle, { before: dune, after: { ...dune, title: null } })
  assert.ok(event && 'include' in event)
  assert.deepEqual([event.changed, event.after?.['title']], [['title'], null])
})

test('event: added and removed elements are reported one by one', () => {
  const before = {
    ...dune,
    sites: [
      { siteId: 1, city: 'a' },
      { siteId: 2, city: 'b' },
    ],
  }
  const after = {
    ...dune,
    sites: [
      { siteId: 2, city: 'b' },
      { siteId: 3, city: 'c' },
    ],
  }
  const event = eventOf(book, hookOf({ watchProjection: { field: 'sites' } }), { before, after })
  assert.deepEqual([event?.changed, event?.removed], [['sites.1'], ['sites.0']])
})

for (const hook of [hookOf(), hookOf({ watchProjection: [] })]) {
  test(`event: everything is watched without a projection: ${JSON.stringify(hook.watchProjection)}`, () => {
    const event = eventOf(book, hook, { before: dune, after: { ...dune, pages: 412 } })
    assert.deepEqual(event?.changed, ['pages'])
  })
}

test('event: the projection of a hook is watched if there is no watchProjection', () => {
  const hook = hookOf(undefined, { projection: { field: 'pages' } })
  assert.equal(eventOf(book, hook, { before: dune, after: { ...dune, title: 'x' } }), undefined)
  assert.deepEqual(eventOf(book, hook, { before: dune, after: { ...dune, pages: 1 } })?.changed, ['pages'])
})

test('event: a projection that is invalid for the version watches nothing', () => {
  const hook = hookOf({ watchProjection: { field: 'title', range: [0, 1] } })
  assert.equal(eventOf(book, hook, { before: dune, after: { ...dune, title: 'x' } }), undefined)
})

const audit = hookOf({ kind: 'audit' })

test('audit: an insert lists every added value', () => {
  const event = eventOf(book, audit, { after: { ...dune, author: { first: 'F', last: 'H' } } })
  assert.ok(event && 'changes' in event)
  assert.deepEqual(event.changes, [
    { path: '_id', to: 'b1' },
    { path: 'objectType', to: 'book' },
    { path: 'isbn', to: '1' },
    { path: 'title', to: 'Dune' },
    { path: 'tags.0', to: 'a' },
    { path: 'tags.1', to: 'b' },
    { path: 'author.first', to: 'F' },
    { path: 'author.last', to: 'H' },
  ])
  assert.ok(!('include' in event) && event.principal === 'alice' && event.date === DATE)
})

test('audit: an update lists old and new values, and pairs elements by identity', () => {
  const before = {
    ...dune,
    pages: 1,
    sites: [
      { siteId: 1, city: 'a' },
      { siteId: 2, city: '' },
    ],
  }
  const after = { ...dune, title: 'Dune 2', sites: [{ siteId: 2, city: 'c' }] }
  const event = eventOf(book, audit, { before, after })
  assert.ok(event && 'changes' in event)
  assert.deepEqual(event.changes, [
    { path: 'title', from: 'Dune', to: 'Dune 2' },
    { path: 'sites.0.city', from: '', to: 'c' },
    { path: 'sites.0.siteId', from: 1 },
    { path: 'sites.0.city', from: 'a' },
    { path: 'pages', from: 1 },
  ])
})

test('audit: a delete lists every removed value', () => {
  const event = eventOf(book, hookOf({ kind: 'audit', watchProjection: { field: 'tags' } }), { before: dune })
  assert.ok(event && 'changes' in event)
  assert.deepEqual(event.changes, [
    { path: 'tags.0', from: 'a' },
    { path: 'tags.1', from: 'b' },
  ])
})

test('audit: a moved element is listed if order is significant', () => {
  const hook = hookOf({ kind: 'audit', arrayOrderingSignificant: true })
  const event = eventOf(book, hook, { before: dune, after: { ...dune, tags: ['b', 'a'] } })
  assert.ok(event && 'changes' in event)
  assert.deepEqual(event.changes, [
    { path: 'tags.0', movedFrom: 'tags.1' },
    { path: 'tags.1', movedFrom: 'tags.0' },
  ])
})
