/** The shared walks over queries: every node is visited, and scopes are counted as the evaluator counts them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { createJoins } from '../../../src/lang/resolve/joins.ts'
import { parseQuery } from '../../../src/lang/parse/parse-query.ts'
import {
  type Query,
  childrenOf,
  fieldsOf,
  mapChildren,
  mapQuery,
  nodesOf,
  printQuery,
} from '../../../src/lang/query.ts'
import { looksOnlyOut, looksOut, relatedIn, shifted } from '../../../src/lang/resolve/query-walk.ts'
import { resolveQuery } from '../../../src/lang/resolve/resolve.ts'
import { type FieldRef, rootScope } from '../../../src/lang/resolve/scope.ts'
import { sampleEvenly } from '../../support/chance.ts'
import { SEED } from '../../support/seed.ts'
import { makeQuery, schemaOf } from './join-documents.ts'

const ROUNDS = 300

function resolved(query: Json): Query<FieldRef> {
  const joins = createJoins(schemaOf('one'), { schemaOf, maxDepth: 5 })
  return resolveQuery(parseQuery(query, '/query', DEFAULT_LIMITS), rootScope(schemaOf('one'), joins))
}

function randomQueries(): readonly Query<FieldRef>[] {
  return Array.from({ length: ROUNDS }, (_, i) =>
    resolved(sampleEvenly(SEED + i, (chance) => makeQuery(chance))),
  )
}

/** By the data alone: everything in it that has a kind of query. */
function nodesByHand(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null || 'steps' in value) return []
  const inner = Object.values(value).flatMap(nodesByHand)
  return 'kind' in value ? [value, ...inner] : inner
}

test('query walk: every node is visited once, outer ones first', () => {
  for (const query of randomQueries()) {
    assert.deepEqual([...nodesOf(query)], nodesByHand(query))
  }
})

test('query walk: a query in which nothing changes stays the same object', () => {
  for (const query of randomQueries())
    assert.equal(
      mapQuery(query, (node) => node),
      query,
    )
})

test('query walk: replaced nodes are all replaced, and the original is left alone', () => {
  for (const query of randomQueries()) {
    const before = printQuery(query)
    const copied = mapQuery(query, (node) => ({ ...node }))
    assert.deepEqual(copied, query)
    const originals = new Set(nodesOf(query))
    assert.ok(nodesOf(copied).every((node) => !originals.has(node)))
    assert.deepEqual(printQuery(query), before)
  }
})

test('query walk: children are mapped in the order in which they are listed, negated ones under "not"', () => {
  for (const query of randomQueries()) {
    for (const node of nodesOf(query)) {
      const seen: Query<FieldRef>[] = []
      mapChildren(node, (child, isNegated) => {
        assert.equal(isNegated, node.kind === 'not')
        seen.push(child)
        return child
      })
      assert.deepEqual(seen, childrenOf(node))
    }
  }
})

test('query walk: what leads to other documents is found wherever it stands', () => {
  let found = 0
  for (const query of randomQueries()) {
    const related = [...relatedIn(query)]
    assert.equal(
      related.length,
      nodesByHand(query).filter((node) => (node as Query<FieldRef>).kind === 'related').length,
    )
    found += related.length
  }
  assert.ok(found > 0)
})

function ref(up: number, ...steps: string[]): FieldRef {
  const field = schemaOf('one').root
  return { path: steps.join('.'), up, steps, field }
}

function compare(up: number): Query<FieldRef> {
  return { kind: 'compare', field: ref(up, 'a'), op: '$eq', value: 1 }
}

function elemMatch(array: FieldRef, query: Query<FieldRef>): Query<FieldRef> {
  return { kind: 'elemMatch', array, query }
}

function related(reference: FieldRef, query: Query<FieldRef>): Query<FieldRef> {
  return { kind: 'related', reference, join: { kind: 'and', terms: [] }, query }
}

const LOOKING: readonly (readonly [what: string, query: Query<FieldRef>, isOut: boolean])[] = [
  ['its own field', compare(0), false],
  ['a field around it', compare(1), true],
  ['a field around it, under "not"', { kind: 'not', term: compare(1) }, true],
  ['nothing', { kind: 'and', terms: [] }, false],
  ['from an element to its document', elemMatch(ref(0, 'as'), compare(1)), false],
  ['from an element beyond its document', elemMatch(ref(0, 'as'), compare(2)), true],
  ['through an array in an array', elemMatch(ref(0, 'as', '*', 'bs'), compare(2)), false],
  ['through an array in an array and beyond', elemMatch(ref(0, 'as', '*', 'bs'), compare(3)), true],
  ['an array around it', elemMatch(ref(1, 'as'), compare(0)), true],
  ['the document that a reference joins', related(ref(0, 'r'), compare(0)), false],
  ['from a joined document to its holder', related(ref(0, 'r'), compare(1)), false],
  ['from a joined document beyond its holder', related(ref(0, 'r'), compare(2)), true],
  ['a reference around it', related(ref(1, 'r'), compare(0)), true],
  ['a reference in an element', related(ref(0, 'as', '*', 'r'), compare(2)), false],
  ['a reference in an element, and beyond', related(ref(0, 'as', '*', 'r'), compare(3)), true],
  ['an element of a joined document', related(ref(0, 'r'), elemMatch(ref(0, 'as'), compare(2))), false],
  ['beyond, from such an element', related(ref(0, 'r'), elemMatch(ref(0, 'as'), compare(3))), true],
]

for (const [what, query, isOut] of LOOKING) {
  test(`query walk: looking at ${what} is ${isOut ? '' : 'not '}looking out`, () => {
    assert.equal(looksOut(query), isOut)
  })
}

test('query walk: only what names nothing in its own scope looks only out', () => {
  assert.equal(looksOnlyOut(compare(1)), true)
  assert.equal(looksOnlyOut({ kind: 'or', terms: [compare(1), compare(0)] }), false)
  assert.equal(looksOnlyOut(elemMatch(ref(1, 'as'), compare(0))), true)
  assert.equal(looksOnlyOut(related(ref(1, 'r'), compare(5))), false)
})

test('query walk: a shifted query climbs further, except inside of its own elements', () => {
  const query: Query<FieldRef> = { kind: 'and', terms: [compare(0), elemMatch(ref(0, 'as'), compare(1))] }
  assert.deepEqual(
    [...fieldsOf(shifted(query, 2))].map(({ up }) => up),
    [2, 2, 1],
  )
  assert.throws(() => shifted({ kind: 'not', term: related(ref(0, 'r'), compare(0)) }, 1), /references/)
})
