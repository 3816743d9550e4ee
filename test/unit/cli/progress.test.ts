import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProgress } from '../../../src/cli/run/progress.ts'

const LINES: readonly [total: number | undefined, line: string][] = [
  [4_000, 'smalt: exporting 50%, 2,000 of 4,000 documents, 400/s, 5 s left\n'],
  // neither a share nor the time that is left
  [undefined, 'smalt: exporting 2,000 documents, 400/s\n'],
]

test('progress: the first second shows no rate', () => {
  let time = 0
  let drawn = ''
  const progress = createProgress({ isTTY: true, columns: 120, write: (text) => (drawn = text) }, () => time)
  const [total, phase] = [4_000, 'copying']
  progress.show({ phase, done: 0, total })
  time = 900
  progress.show({ phase, done: 1_000, total })
  assert.match(drawn, /25%, 1,000 of 4,000 documents$/)
  time = 2_000
  progress.show({ phase, done: 2_000, total })
  assert.match(drawn, /documents, 1,000\/s, 2 s left$/)
})

for (const [total, line] of LINES) {
  test(`progress: what is said of ${total ?? 'an unknown number of'} documents`, () => {
    let time = 0
    const written: string[] = []
    const progress = createProgress({ write: (text) => written.push(text) }, () => time)
    progress.show({ phase: 'exporting', done: 0, total })
    time = 5_000
    progress.show({ phase: 'exporting', done: 2_000, total })
    assert.deepEqual(written, [line])
  })
}
