/** How the conditions of a request are counted, and what they cost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../../src/base/errors.ts'
import { INLINE_STEPS, TooMuchForThisThread, Work, during } from '../../../src/base/work/work.ts'
import { MAX_CONDITIONS, createConditionCount } from '../../../src/lang/query-size.ts'
import type { Query } from '../../../src/lang/query.ts'

function ofSize(nodes: number): Query<string> {
  const term = { kind: 'compare', field: 'a', op: '$eq', value: 1 } as const
  return { kind: 'or', terms: Array.from({ length: nodes - 1 }, () => term) }
}

test('conditions: as many as the limit, in several queries, are accepted', () => {
  const count = createConditionCount()
  count(ofSize(MAX_CONDITIONS / 2))
  count(ofSize(MAX_CONDITIONS / 2))
})

test('conditions: one more than the limit, in several queries, is refused', () => {
  const count = createConditionCount()
  count(ofSize(MAX_CONDITIONS))
  assert.throws(
    () => count(ofSize(1)),
    (error) => error instanceof ServiceError && error.code === 'crud:LimitExceeded',
  )
})

test('conditions: many of them are too much for the main thread', () => {
  const work = new Work({ timeLimitMs: 60_000, steps: INLINE_STEPS })
  assert.throws(
    () => during(work, () => createConditionCount()(ofSize(MAX_CONDITIONS))),
    TooMuchForThisThread,
  )
})
