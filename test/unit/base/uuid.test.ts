/** Identifiers made by the service: their form, and that they sort in the order in which they were made. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { uuidV7 } from '../../../src/base/uuid.ts'

const START = Date.UTC(2024, 0, 2)

function assertAscending(ids: readonly string[]): void {
  const ascending = ids.toSorted((a, b) => (a < b ? -1 : 1))
  assert.deepEqual(ids, ascending)
  assert.equal(new Set(ids).size, ids.length)
}

test('uuid: version 7, with the milliseconds in front', () => {
  const id = uuidV7(START)
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16), START)
})

test('uuid: those of one millisecond sort as they were made, however many there are', () => {
  assertAscending(Array.from({ length: 20_000 }, () => uuidV7(START + 1)))
})

test('uuid: those of the milliseconds that follow are greater, also after too many in one', () => {
  assertAscending(Array.from({ length: 20_000 }, (_, i) => uuidV7(START + 100 + Math.floor(i / 9_000))))
})

test('uuid: a clock that is set back is followed', () => {
  const millis = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  assert.deepEqual(
    [START + 500, START + 400, START + 401].map((now) => millis(uuidV7(now))),
    [START + 500, START + 400, START + 401],
  )
})
