/** PostgreSQL computes the same periods of time zones as the evaluator, which asks Node.js for each offset. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { PERIODS, type Period, periodStart } from '../../src/schema/periods/period.ts'
import { zoneTable } from '../../src/schema/periods/zone-table.ts'
import { POSTGRES } from '../../src/store/sql/postgres-dialect.ts'
import { param, raw, render, sql } from '../../src/store/sql/fragment.ts'
import {
  PERIOD_FUNCTIONS,
  beginningInZone,
  periodInZone,
  zoneColumns,
} from '../../src/store/sql/aggregate/postgres-period.ts'
import { testPostgresUrl } from '../support/postgres.ts'
import { SEED } from '../support/seed.ts'
import { type Chance, chanceFrom } from '../support/seeded.ts'

/** What is special about each is in the comment behind it. */
const ZONES = [
  'Europe/Zurich', // no whole minutes before 1894
  'Europe/Dublin', // winter time is the exception
  'America/New_York',
  'America/Sao_Paulo', // days without midnight
  'America/Havana', // days with two midnights
  'America/St_Johns', // clocks set back from one minute past midnight to the day before
  'America/Juneau', // one day twice
  'America/Boa_Vista', // summer time for a week
  'Pacific/Apia', // a day left out
  'Asia/Manila', // a day left out in 1844
  'Asia/Gaza', // rules of their own for each year until 2086
  'Asia/Kathmandu', // no whole hours
  'Africa/Casablanca', // summer time interrupted
  'Africa/Monrovia', // no whole minutes until 1972
  'Australia/Lord_Howe', // half an hour of summer time
  'Antarctica/Troll', // two hours of summer time
]
const RANDOM_ZONES = 2

let client: pg.Client

before(async () => {
  client = new pg.Client(await testPostgresUrl())
  await client.connect()
  await client.query('create schema smalt_periods')
  for (const { create } of PERIOD_FUNCTIONS) await client.query(create('smalt_periods'))
  await client.query('set search_path to smalt_periods')
})

after(async () => {
  await client.query('drop schema smalt_periods cascade')
  await client.end()
})

test('periods of time zones: PostgreSQL and the evaluator agree around all changes, and far from them', async () => {
  const chance = chanceFrom(SEED)
  const all = Intl.supportedValuesOf('timeZone')
  const random = Array.from({ length: RANDOM_ZONES }, () => all[chance(all.length)]!)
  for (const timeZone of new Set([...ZONES, ...random])) {
    const dates = await datesIn(timeZone, chance)
    for (const period of PERIODS) await agree(dates, period, timeZone)
  }
})

test('periods of time zones: a text that is no date has none, and days are counted on', async () => {
  const dates = [
    '',
    '2024',
    '20240001T00:00:00.000+0000',
    '20241301T00:00:00.000+0000',
    '20240100T00:00:00.000+0000',
    '20240132T00:00:00.000+0000',
    '20240101T00:00:00.000+00000',
    '2024010٣T00:00:00.000+0000',
    '20240231T23:59:99.000+0000',
  ]
  for (const period of PERIODS) await agree(dates, period, 'Europe/Zurich')
})

async function agree(dates: readonly string[], period: Period, timeZone: string): Promise<void> {
  const inZone = { period, zone: 'zone0' }
  const zone = sql`zone0 as (${zoneColumns(await zoneTable(timeZone))})`
  const numbers = sql`numbers as (select date, place, ${periodInZone(raw('date'), inZone)} as number
    from unnest(${param(`{${dates.map((date) => `"${date}"`).join()}}`)}::text[]) with ordinality as given(date, place))`
  const statement = sql`with ${zone}, ${numbers}
    select number, ${raw(beginningInZone('number', inZone))} from numbers order by place`
  const { text, values } = render(statement, POSTGRES.placeholder)
  const { rows } = await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })
  const start = periodStart(period, timeZone)
  const numberOf = new Map<string, unknown>()
  for (const [i, date] of dates.entries()) {
    const [number, begins] = rows[i] as [unknown, string | null]
    assert.equal(begins, start(date) ?? null, `${period} of ${date} in ${timeZone}`)
    if (begins === null) continue
    // Groups are made of the numbers, so no two of them may begin at the same instant.
    assert.equal(numberOf.get(begins) ?? number, number, `${period} of ${date} in ${timeZone}`)
    numberOf.set(begins, number)
  }
}

const SECOND = 1_000
const HOUR = 3_600 * SECOND
const DAY = 24 * HOUR
const LAST_KNOWN = Date.UTC(2110, 0)
const [FIRST, LAST] = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')]

async function datesIn(timeZone: string, chance: Chance): Promise<readonly string[]> {
  const { offsets } = await zoneTable(timeZone)
  const changes = offsets.bounds.map((second) => second * SECOND)
  const far = changes.filter((instant) => instant >= LAST_KNOWN)
  const repeated =
    far.length === 0
      ? []
      : Array.from({ length: 20 }, () => {
          const cycles = 1 + chance(18)
          return far[chance(far.length)]! + cycles * 146_097 * DAY
        })
  const near = [...changes.filter((instant) => instant < LAST_KNOWN), ...repeated].flatMap((change) => [
    change - 1,
    change,
    change + chance(2 * HOUR),
    change - chance(2 * HOUR),
    change + chance(2 * DAY),
    change - chance(2 * DAY),
  ])
  const random = Array.from({ length: 200 }, () => FIRST + chance(LAST - FIRST))
  return [FIRST, FIRST + 12 * HOUR, LAST, ...near, ...random]
    .filter((instant) => instant <= LAST)
    .map((instant) => stored(new Date(instant)))
}

function stored(date: Date): string {
  return `${date.toISOString().replaceAll('-', '').slice(0, -1)}+0000`
}
