/** Inserts by `values` have a place for each value, whatever statements were written before. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertValues } from '../../../src/store/postgres/schema/insert-values.ts'

const row = (width: number, first = 0): readonly number[] =>
  Array.from({ length: width }, (_, i) => first + i)

const ROWS = [
  { rows: [row(2)], text: 'insert into t(c) values ($1, $2)' },
  { rows: [row(12)], text: 'insert into t(c) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)' },
  { rows: [row(1), row(1, 1)], text: 'insert into t(c) values ($1), ($2)' },
  { rows: [row(2), row(2, 2)], text: 'insert into t(c) values ($1, $2), ($3, $4)' },
]

for (const { rows, text } of ROWS) {
  void test(`insertValues: ${rows.length} rows of ${rows[0]!.length} values, twice`, () => {
    for (const _ of [1, 2]) assert.deepEqual(insertValues('t(c)', rows), [{ text, values: rows.flat() }])
  })
}

void test('insertValues: many rows are written in statements of few sizes', () => {
  const rows = Array.from({ length: 711 }, (_, i) => row(3, 3 * i))
  const statements = insertValues('t(c)', rows, ' on conflict do nothing')
  assert.deepEqual(
    statements.map(({ values }) => values.length / 3),
    [500, 200, 10, 1],
  )
  assert.deepEqual(
    statements.flatMap(({ values }) => values),
    rows.flat(),
  )
  for (const { text, values } of statements) {
    assert.equal(text.match(/\$\d+/g)!.at(-1), `$${values.length}`)
    assert.ok(text.endsWith(') on conflict do nothing'))
  }
})

void test('insertValues: no rows need no statement', () => {
  assert.deepEqual(insertValues('t(c)', []), [])
})
