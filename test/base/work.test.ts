import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TooMuchForThisThread, Work, during, spend } from '../../src/base/work/work.ts'

const TOO_LARGE = (): Error => new Error('too large')

test('work: the request that runs pays, and stops when its thread has done its part', () => {
  const work = new Work({ timeLimitMs: 60_000, steps: 10_000 })
  assert.throws(
    () =>
      during(work, () => {
        for (let i = 0; i < 100_000; i++) spend(1)
      }),
    TooMuchForThisThread,
  )
})

test('work: steps outside of a request, or of another one, are not charged to it', () => {
  const [work, other] = [new Work({ timeLimitMs: 60_000, steps: 10_000 }), new Work({ timeLimitMs: 60_000 })]
  during(work, () => spend(5_000))
  spend(1_000_000)
  during(other, () => spend(1_000_000))
  during(work, () => {
    during(other, () => spend(1_000_000))
    spend(1_000)
  })
})

test('work: without a budget of steps only the clock ends it', () => {
  const work = new Work({ timeLimitMs: 20 })
  assert.throws(
    () =>
      during(work, () => {
        for (;;) spend(1)
      }),
    { code: 'store-crud:Timeout' },
  )
})

test('work: a request may ask for less time, never for more, and time in a queue does not count', () => {
  const work = new Work({ timeLimitMs: 1_000 })
  work.limitTimeTo(5_000)
  assert.equal(work.timeLimitMs, 1_000)
  work.limitTimeTo(200)
  assert.equal(work.timeLimitMs, 200)
  work.waited(300)
  assert.ok(work.remainingMs > 400 && work.remainingMs <= 500, String(work.remainingMs))
})

test('work: nobody works for a caller who has left', () => {
  const work = new Work({ timeLimitMs: 60_000, isCancelled: () => true })
  assert.throws(() => during(work, () => spend(1_000_000)), { code: 'crud:Unavailable' })
})

test('work: the parts of a request share the bytes of its answer, and have steps of their own', () => {
  const work = new Work({ timeLimitMs: 60_000, steps: 10_000, answerBytes: 100 })
  const [first, second] = [work.part({ steps: 10_000 }), work.part({ steps: 10_000 })]
  during(first, () => spend(9_000))
  during(second, () => spend(9_000))
  first.reserveAnswer(60, TOO_LARGE)
  assert.throws(() => second.reserveAnswer(60, TOO_LARGE), /too large/)
  first.releaseAnswer(60)
  second.reserveAnswer(60, TOO_LARGE)
})

test('work: what cannot be interrupted is begun only where others do not wait for it', () => {
  assert.throws(() => new Work({ timeLimitMs: 1, steps: 1 }).requireAnotherThread(), TooMuchForThisThread)
  new Work({ timeLimitMs: 1 }).requireAnotherThread()
})
