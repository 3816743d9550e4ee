/** PostgreSQL's function for the digits of a double returns those that JavaScript prints. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { compareDecimal, parseDecimal } from '../../src/base/decimal.ts'
import { aggregateFunctions } from '../../src/store/sql/aggregate/postgres-aggregate.ts'
import { testPostgresUrl } from '../support/postgres.ts'
import { SEED } from '../support/seed.ts'
import { chanceFrom } from '../support/seeded.ts'

const SCHEMA = 'smalt_digits_test'

let client: pg.Client

before(async () => {
  client = new pg.Client(await testPostgresUrl())
  await client.connect()
  await client.query(`create schema ${SCHEMA}`)
  await client.query(`set search_path to ${SCHEMA}`)
  for (const { create } of aggregateFunctions()) await client.query(create(SCHEMA))
})

after(async () => {
  await client.query(`drop schema ${SCHEMA} cascade`)
  await client.end()
})

test('digits of doubles: PostgreSQL returns those of JavaScript', async () => {
  const chance = chanceFrom(SEED)
  const bits = new DataView(new ArrayBuffer(8))
  const random = Array.from({ length: 5_000 }, () => {
    bits.setUint32(0, chance(2 ** 32))
    bits.setUint32(4, chance(2 ** 32))
    return bits.getFloat64(0)
  }).filter(Number.isFinite)
  // Odd numbers of 54 bits are halfway between two doubles.
  const halfway = Array.from({ length: 400 }, (_, i) => {
    const power = 8 + (i % 16)
    const odd = (2 ** 53 + chance(2 ** 53)) / 5 ** power
    return Number(`${Math.ceil(odd / 2) * 2 + 1}e${power}`)
  })
  const powers = Array.from({ length: 2_098 }, (_, i) => 2 ** (i - 1_074))
  const short = Array.from({ length: 2_000 }, () => chance(1e9) / 10 ** chance(12))
  const doubles = [
    0,
    -0,
    5e-324,
    -Number.MAX_VALUE,
    2 ** 53 + 2,
    1e23,
    ...halfway,
    ...random,
    ...powers,
    ...short,
  ]
  const name = aggregateFunctions().find((each) => each.name.startsWith('smalt_digits_'))!.name
  const text = `select ${name}(x)::text from unnest($1::float8[]) with ordinality as given(x, place) order by place`
  const { rows } = await client.query<string[]>({ text, values: [doubles], rowMode: 'array' })
  for (const [i, double] of doubles.entries()) {
    const [digits] = rows[i]!
    const difference = compareDecimal(parseDecimal(digits!)!, parseDecimal(String(double))!)
    assert.ok(difference === 0, `${digits} ${double}`)
  }
})
