/** Which callers were active a moment ago. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCallerActivity } from '../../../src/base/work/caller-activity.ts'

test('activity: a caller alone has no other beside it', () => {
  const activity = createCallerActivity(() => 0)
  assert.equal(activity.isAnotherActive('a'), false)
  activity.note('a')
  activity.note('a')
  assert.equal(activity.isAnotherActive('a'), false)
  assert.equal(activity.isAnotherActive('b'), true)
})

test('activity: another caller counts for a second after its last request', () => {
  let nowMs = 0
  const activity = createCallerActivity(() => nowMs)
  activity.note('a')
  activity.note('b')
  nowMs = 500
  activity.note('a')
  activity.note('a')
  assert.equal(activity.isAnotherActive('a'), true)
  nowMs = 1_200
  assert.equal(activity.isAnotherActive('a'), false)
  assert.equal(activity.isAnotherActive('b'), true)
})
