/** Work that takes turns: all of it together has one slice in each turn of the event loop. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTimeSlices } from '../../../src/base/work/time-slices.ts'

test('time slices: each turn of the event loop has one slice, whoever works in it', async () => {
  let clock = 0
  const nextSlice = createTimeSlices(2, () => clock)
  const done: string[] = []
  const work = async (name: string): Promise<void> => {
    for (let piece = 1; piece <= 4; piece++) {
      await nextSlice()
      clock += 1
      done.push(`${name}${piece}`)
    }
  }
  const inTurns: string[] = []
  const all = Promise.all(['a', 'b', 'c'].map(work))
  while (done.length < 12) {
    const before = done.length
    await new Promise((resolve) => setImmediate(resolve))
    const pieces = done.slice(before)
    assert.ok(pieces.length <= 2, `one turn had ${pieces.join(' ')}`)
    if (pieces.length > 0) inTurns.push(pieces.join(' '))
  }
  await all
  assert.deepEqual(inTurns, ['a1 a2', 'b1 b2', 'c1 c2', 'a3 a4', 'b3 b4', 'c3 c4'])
})
