/** The budget of a request: steps, time and response bytes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TooMuchForThisThread, Work, during, spend } from '../../../src/base/work/work.ts'

const TOO_LARGE = (): Error => new Error('too large')

test('work: steps are charged to the current request, which stops when they are spent', () => {
  const work = new Work({ timeLimitMs: 60_000, steps: 10_000 })
  assert.throws(
    () =>
      during(work, () => {
        for (let i = 0; i < 100_000; i++) spend(1)
      }),
    TooMuchForThisThread,
  )
})

test('work: steps outside of a request, or of another request, are not charged to it', () => {
  const [work, other] = [new Work({ timeLimitMs: 60_000, steps: 10_000 }), new Work({ timeLimitMs: 60_000 })]
  during(work, () => spend(5_000))
  spend(1_000_000)
  during(other, () => spend(1_000_000))
  during(work, () => {
    during(other, () => spend(1_000_000))
    spend(1_000)
  })
})

test('work: without a budget of steps only the time limit applies', () => {
  const work = new Work({ timeLimitMs: 20 })
  assert.throws(
    () =>
      during(work, () => {
        for (;;) spend(1)
      }),
    { code: 'store-crud:Timeout' },
  )
})

test('work: a request may lower its time limit, never raise it, and time in a queue does not count', () => {
  const work = new Work({ timeLimitMs: 1_000 })
  work.limitTimeTo(5_000)
  assert.equal(work.timeLimitMs, 1_000)
  work.limitTimeTo(200)
  assert.equal(work.timeLimitMs, 200)
  work.waited(300)
  assert.ok(work.remainingMs > 400 && work.remainingMs <= 500, String(work.remainingMs))
})

test('work: ends when the caller has disconnected', () => {
  const work = new Work({ timeLimitMs: 60_000, isCancelled: () => true })
  assert.throws(() => during(work, () => spend(1_000_000)), { code: 'crud:Unavailable' })
})

test('work: the parts of a request share its response bytes, and have their own steps', () => {
  const work = new Work({ timeLimitMs: 60_000, steps: 10_000, responseBytes: 100 })
  const [first, second] = [work.part({ steps: 10_000 }), work.part({ steps: 10_000 })]
  during(first, () => spend(9_000))
  during(second, () => spend(9_000))
  first.reserveResponse(60, TOO_LARGE)
  assert.throws(() => second.reserveResponse(60, TOO_LARGE), /too large/)
  first.releaseResponse(60)
  second.reserveResponse(60, TOO_LARGE)
})

test('work: uninterruptible work is refused on the main thread', () => {
  assert.throws(() => new Work({ timeLimitMs: 1, steps: 1 }).requireAnotherThread(), TooMuchForThisThread)
  new Work({ timeLimitMs: 1 }).requireAnotherThread()
})
