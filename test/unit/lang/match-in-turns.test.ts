/** Questions asked in turns: the same answers as all at once, by indexes where values must be the same, with pauses. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Json, type JsonObject } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { createJoins, isJoined } from '../../../src/lang/resolve/joins.ts'
import { type World, compileQuery } from '../../../src/lang/evaluate/match.ts'
import { compileYielding, compileTargets } from '../../../src/lang/evaluate/match-yielding.ts'
import { parseQuery } from '../../../src/lang/parse/parse-query.ts'
import type { Query, Related } from '../../../src/lang/query.ts'
import { relatedIn } from '../../../src/lang/resolve/query-walk.ts'
import { resolveQuery } from '../../../src/lang/resolve/resolve.ts'
import { type FieldRef, rootScope } from '../../../src/lang/resolve/scope.ts'
import type { Yielding } from '../../../src/lang/evaluate/time-slice.ts'
import { sampleEvenly } from '../../support/chance.ts'
import { SEED } from '../../support/seed.ts'
import { makeDocument, makeQuery, schemaOf } from './join-documents.ts'

const ROUNDS = 25
const QUERIES = 60

function resolved(query: Json): Query<FieldRef> {
  const joins = createJoins(schemaOf('one'), { schemaOf, maxDepth: 5 })
  return resolveQuery(parseQuery(query, '/query', DEFAULT_LIMITS), rootScope(schemaOf('one'), joins))
}

/** The result, and how often it paused. */
function finished<T>(work: Yielding<T>): readonly [T, number] {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = work.next()
    if (done) return [value, pauses]
  }
}

function worldOf(documents: readonly JsonObject[]): World {
  return ({ reference }) => (isJoined(reference.field) ? documents : [])
}

test('match in turns: random questions across references have the answers that they have all at once', () => {
  const counts = { yes: 0, no: 0, pauses: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    const [holders, others] = sampleEvenly(SEED + round, (chance) => [
      Array.from({ length: 12 }, (_, i) => makeDocument(chance, i)),
      Array.from({ length: 15 }, (_, i) => makeDocument(chance, i)),
    ])
    const world = worldOf(others)
    for (let i = 0; i < QUERIES; i++) {
      const asked = sampleEvenly(SEED + 1_000 * round + i, (chance) => makeQuery(chance))
      const query = resolved(asked)
      const expected = compileQuery(query, world)
      const matches = compileYielding(query, { world, shouldYield: () => true })
      for (const value of holders) {
        const [actual, pauses] = finished(matches({ value }))
        const isMatch = expected({ value })
        assert.equal(actual, isMatch, `${JSON.stringify(asked)} of ${JSON.stringify(value)}`)
        counts[isMatch ? 'yes' : 'no']++
        counts.pauses += pauses
      }
    }
  }
  assert.ok(Math.min(counts.yes, counts.no) * 5 > counts.yes + counts.no, JSON.stringify(counts))
  assert.ok(counts.pauses > counts.yes + counts.no)
})

test('match in turns: random documents are joined as they are when each is held against each', () => {
  for (let round = 0; round < ROUNDS; round++) {
    const [holders, others] = sampleEvenly(SEED + 100_000 + round, (chance) => [
      Array.from({ length: 12 }, (_, i) => makeDocument(chance, i)),
      Array.from({ length: 30 }, (_, i) => makeDocument(chance, i)),
    ])
    for (let i = 0; schemaOf('one').root.fields.has(`r${i}`); i++) {
      const { join } = relatedTo(`r${i}`)
      const holds = compileQuery(join)
      const places = compileTargets(join, others, { world: worldOf([]), shouldYield: () => true })
      for (const outer of holders.map((value) => ({ value }))) {
        const expected = [...others.keys()].filter((place) => holds({ value: others[place], outer }))
        const actual = [...places(outer)].filter((place) => place !== undefined)
        assert.deepEqual(actual, expected, `r${i} of ${JSON.stringify(outer.value)}`)
      }
    }
  }
})

function relatedTo(reference: string): Related<FieldRef> {
  const { value } = relatedIn(resolved({ field: `${reference}#`, op: '>', rvalue: 0 })).next()
  return value as Related<FieldRef>
}

const MANY = 1_000

/** How often it was asked whether to pause, which it is for every step. */
function lookedAt(query: Json): number {
  let count = 0
  const shouldYield = (): boolean => {
    count++
    return false
  }
  const others = Array.from({ length: MANY }, (_, i): JsonObject => ({ _id: `${i}`, i, b: true }))
  const matches = compileYielding(resolved(query), { world: worldOf(others), shouldYield })
  for (let i = 0; i < MANY; i++) {
    const [isMatch] = finished(matches({ value: { _id: `${i}`, i, d: i, b: true } }))
    assert.equal(isMatch, true)
  }
  return count
}

test('match in turns: documents are found by their key, not one held against each', () => {
  // Once to make the index, then once for the holder, its search and the document that is found.
  assert.equal(lookedAt({ field: 'r0#', op: '=', rvalue: 1 }), 4 * MANY)
  assert.equal(lookedAt({ field: 'r1#', op: '=', rvalue: 1 }), 4 * MANY)
})

test('match in turns: several clauses over the same documents use one index', () => {
  const clause = { field: 'r0#', op: '=', rvalue: 1 }
  // Each clause is a step, searches, and looks at one document.
  assert.equal(lookedAt({ $and: [clause, clause] }), MANY * (1 + 1 + 2 * 3))
})

test('match in turns: of several keys the one with the fewest documents is used', () => {
  const both = { array: 'r7', elemMatch: { field: 'i', op: '=', rfield: '$parent.i' } }
  // Once for each of two indexes, then once for the holder, its search and the document that is found.
  assert.equal(lookedAt(both), 5 * MANY)
})

test('match in turns: it pauses inside of one document', () => {
  const numbers = Array.from({ length: 300 }, (_, i) => i)
  const value = { _id: 'a', is: numbers, list: [{ is: numbers.map((each) => each + 1_000) }] }
  const query = resolved({ field: 'is.*', op: '=', rfield: 'list.*.is.*' })
  const matches = compileYielding(query, { world: worldOf([]), shouldYield: () => true })
  const [isMatch, pauses] = finished(matches({ value }))
  assert.equal(isMatch, false)
  assert.ok(pauses >= 300 * 300)
})
