/** Overload is what requests cause, not what other processes do to this one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lagOf } from '../../../src/http/observe/overload.ts'

const IDLE = { ticks: 50, meanTickMs: 20, elapsedMs: 1_000, unscheduledMs: 0 }

test('lag: an idle loop has none', () => assert.equal(lagOf(IDLE), 0))

test('lag: it is the mean delay of a tick', () => {
  assert.equal(lagOf({ ...IDLE, ticks: 2, meanTickMs: 520 }), 500)
})

test('lag: a loop that is blocked for the whole window has no tick, and is late by the rest', () => {
  assert.equal(lagOf({ ...IDLE, ticks: 0, meanTickMs: 0, elapsedMs: 4_000 }), 3_000)
})

test('lag: time in which the process was ready and not scheduled does not count', () => {
  assert.equal(lagOf({ ticks: 2, meanTickMs: 1_520, elapsedMs: 3_040, unscheduledMs: 3_000 }), 0)
  assert.equal(lagOf({ ticks: 0, meanTickMs: 0, elapsedMs: 4_000, unscheduledMs: 2_500 }), 500)
})
