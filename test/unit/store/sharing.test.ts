/** Requests that share statements: whose signals are needed, and what happens to those whose callers have left. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSharing } from '../../../src/store/postgres/connection/sharing.ts'

const table = {}

test('sharing: a request that has not waited long needs no signal', async () => {
  const sharing = sharingOf(10_000, async (items) => items)
  let signals = 0
  const getSignal = (): AbortSignal => {
    signals++
    return new AbortController().signal
  }
  const results = await Promise.all(
    [1, 2, 3].map((item) =>
      sharing.run({ table, item, bounds: { timeLimitMs: 10_000, getSignal }, alone: neverAlone }),
    ),
  )
  assert.deepEqual(results, [1, 2, 3])
  assert.equal(signals, 0)
})

test('sharing: a request whose caller left while it waited is not part of the next statement', async () => {
  const first = Promise.withResolvers<void>()
  const isSent = Promise.withResolvers<void>()
  const sent: number[][] = []
  const sharing = sharingOf(0, async (items) => {
    sent.push([...items])
    if (sent.length > 1) return items
    isSent.resolve()
    await first.promise
    return items
  })
  const leaving = new AbortController()
  const run = (item: number, signal = new AbortController().signal): Promise<number> =>
    sharing.run({
      table,
      item,
      bounds: { timeLimitMs: 10_000, getSignal: () => signal },
      alone: () => Promise.resolve(-item),
    })
  const running = [run(1)]
  await isSent.promise
  running.push(run(2), run(3, leaving.signal))
  leaving.abort()
  first.resolve()
  assert.deepEqual(await Promise.all(running), [1, 2, -3])
  assert.deepEqual(sent, [[1], [2]])
})

function neverAlone(): Promise<number> {
  return assert.fail('it ran alone')
}

function sharingOf(longWaitMs: number, together: (items: readonly number[]) => Promise<readonly number[]>) {
  return createSharing<typeof table, number, number>({
    timeLimitMs: 10_000,
    minTimeLimitMs: 1,
    batchesSingle: true,
    maxUnderWay: 1,
    longWaitMs,
    maxWaiting: 100,
    together: (_, items) => together(items),
    mayRepeat: () => true,
  })
}
