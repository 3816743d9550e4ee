/** Results in pieces: the cursor is closed, or the reader learns that it is not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pieces } from '../../../src/store/postgres/connection/cursor.ts'
import type { SqlSession } from '../../../src/store/postgres/connection/connection.ts'
import type { Row } from '../../../src/store/postgres/connection/connections.ts'

const STATEMENT = { text: 'select 1', values: [] }

interface Session extends SqlSession {
  readonly texts: string[]
}

/** Has so many rows, and fails at statements that begin like this. */
function sessionWith(rows: number, failing: readonly string[] = []): Session {
  const texts: string[] = []
  let left = rows
  return {
    texts,
    async query({ text }) {
      texts.push(text)
      if (failing.some((each) => text.startsWith(each))) throw new Error(`${text} failed`)
      const [, count] = /^fetch (\d+)/.exec(text) ?? []
      const fetched = Math.min(left, Number(count ?? 0))
      left -= fetched
      return Array.from({ length: fetched }, (): Row => ['x'])
    },
  }
}

async function countOf(session: SqlSession): Promise<number> {
  let count = 0
  for await (const rows of pieces(session, STATEMENT)) count += rows.length
  return count
}

test('cursor: it is closed after the last piece, and when the reader stops', async () => {
  const session = sessionWith(20)
  assert.equal(await countOf(session), 20)
  assert.equal(session.texts.at(-1), 'close piecewise')
  const other = sessionWith(20)
  for await (const rows of pieces(other, STATEMENT)) {
    assert.ok(rows.length > 0)
    break
  }
  assert.equal(other.texts.at(-1), 'close piecewise')
})

test('cursor: one that cannot be closed is an error, because the next of the transaction has the same name', async () => {
  await assert.rejects(countOf(sessionWith(20, ['close'])), { message: 'close piecewise failed' })
})

test('cursor: after a failure, that failure is reported', async () => {
  await assert.rejects(countOf(sessionWith(20, ['fetch', 'close'])), {
    message: 'fetch 8 from piecewise failed',
  })
})
