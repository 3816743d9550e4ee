/** Sequence values for synchronous work: it runs again when values are missing, and a few times only. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sequence } from '../../../src/schema/field.ts'
import { createSequenceDraws } from '../../../src/store/postgres/write/sequence-retry.ts'

const SEQUENCE: Sequence = { name: 's', initialValue: 1n, increment: 1n }

function drawing() {
  let last = 0n
  return createSequenceDraws(async (_, count) => Array.from({ length: count }, () => ++last))
}

function numbersUpTo(last: number): readonly bigint[] {
  return Array.from({ length: last }, (_, i) => BigInt(i + 1))
}

test('sequence draws: work that needs many values runs a few times, and gets them in order', async () => {
  const draw = drawing()
  let runs = 0
  const drawn = await draw((next) => {
    runs++
    return numbersUpTo(100_000).map(() => next(SEQUENCE))
  })
  assert.deepEqual(drawn, numbersUpTo(100_000))
  assert.ok(runs < 25, `it ran ${runs} times`)
})

test('sequence draws: what one work leaves is for the next, without gaps between them', async () => {
  const draw = drawing()
  const drawn: bigint[] = []
  for (const count of [1, 0, 3, 2, 9, 1, 40])
    drawn.push(...(await draw((next) => numbersUpTo(count).map(() => next(SEQUENCE)))))
  assert.deepEqual(drawn, numbersUpTo(56))
})

test('sequence draws: works that run at a time get different values', async () => {
  const draw = drawing()
  const works = [5, 1, 9, 3].map((count) => draw((next) => numbersUpTo(count).map(() => next(SEQUENCE))))
  const drawn = (await Promise.all(works)).flat()
  assert.equal(new Set(drawn).size, 18)
})

test('sequence draws: another error ends the work', async () => {
  const draw = drawing()
  await assert.rejects(
    draw((next) => {
      throw new Error(`after ${next(SEQUENCE)}`)
    }),
    /after 1/,
  )
})
