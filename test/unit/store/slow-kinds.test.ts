/** Which kinds of work count as slow on PostgreSQL, and until when. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSlowKinds } from '../../../src/store/postgres/connection/slow-kinds.ts'

const QUICK = { elapsedMs: 10, idleMs: 10, wasCancelled: false }
const SLOW = { elapsedMs: 300, idleMs: 251, wasCancelled: false }

test('slow kinds: a slow kind stays slow until it is quick once', () => {
  const kinds = createSlowKinds()
  assert.ok(!kinds.isSlow('a'))
  kinds.note('a', SLOW)
  assert.ok(kinds.isSlow('a') && !kinds.isSlow('b'))
  kinds.note('a', QUICK)
  assert.ok(!kinds.isSlow('a'))
})

test('slow kinds: time in which this process was busy counts for nothing', () => {
  const kinds = createSlowKinds()
  const unread = { elapsedMs: 2_000, idleMs: 20, wasCancelled: false }
  kinds.note('a', unread)
  assert.ok(!kinds.isSlow('a'))
  kinds.note('a', SLOW)
  kinds.note('a', unread)
  assert.ok(kinds.isSlow('a'))
})

test('slow kinds: a kind that its time limit ended is slow, however short the limit was', () => {
  const kinds = createSlowKinds()
  kinds.note('a', { elapsedMs: 5, idleMs: 5, wasCancelled: true })
  assert.ok(kinds.isSlow('a'))
})

test('slow kinds: a bounded number of them is remembered', () => {
  const slow = createSlowKinds()
  const kinds = Array.from({ length: 10_000 }, (_, i) => `select ${i}`)
  for (const kind of kinds) slow.note(kind, SLOW)
  const remembered = kinds.filter((kind) => slow.isSlow(kind))
  assert.ok(remembered.length > 0 && remembered.length <= 500, `${remembered.length}`)
})

test('slow kinds: the first of a new kind goes ahead, and the others wait until it has ended', async () => {
  for (const end of ['note', 'endTrial'] as const) {
    const kinds = createSlowKinds()
    assert.deepEqual([kinds.trialOf('a'), kinds.trialOf('b')], ['first', 'first'])
    const trial = kinds.trialOf('a')
    kinds.startTrial('a', () => assert.fail('it ended in time'))
    if (end === 'note') kinds.note('a', QUICK)
    else kinds.endTrial('a')
    await trial
    assert.ok(!kinds.isSlow('a'))
    // One that never ran leaves the trial to the next.
    assert.equal(kinds.trialOf('a'), end === 'note' ? undefined : 'first')
  }
})

test('slow kinds: a kind whose first work does not end counts as slow, until it has ended quickly', async () => {
  const kinds = createSlowKinds()
  let wasCalled = false
  assert.equal(kinds.trialOf('a'), 'first')
  kinds.startTrial('a', () => (wasCalled = true))
  // The timer of a trial does not keep a process running.
  const awake = setTimeout(() => undefined, 10_000)
  await kinds.trialOf('a')
  clearTimeout(awake)
  assert.ok(wasCalled && kinds.isSlow('a'))
  kinds.note('a', { elapsedMs: 150, idleMs: 150, wasCancelled: false })
  assert.ok(!kinds.isSlow('a'))
})

test('slow kinds: a trial is not slow because this process was busy', async () => {
  const kinds = createSlowKinds()
  assert.equal(kinds.trialOf('a'), 'first')
  kinds.startTrial('a', () => assert.fail('nothing was waited for'))
  for (const until = performance.now() + 150; performance.now() < until;) continue
  await new Promise((resolve) => setTimeout(resolve, 1))
  kinds.note('a', { elapsedMs: 151, idleMs: 1, wasCancelled: false })
  assert.ok(!kinds.isSlow('a'))
})

test('slow kinds: many quick kinds do not make a slow one forgotten', () => {
  const kinds = createSlowKinds()
  kinds.note('slow', SLOW)
  for (let i = 0; i < 10_000; i++) {
    kinds.note(`select ${i}`, QUICK)
    // what is used is not forgotten either
    assert.equal(kinds.trialOf('select 0'), undefined)
  }
  assert.ok(kinds.isSlow('slow'))
})
