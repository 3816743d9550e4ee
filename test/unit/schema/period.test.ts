/** The instants at which periods begin, where clocks change and calendars end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printDate } from '../../../src/schema/date.ts'
import { PERIODS, type Period, knownTimeZone, periodStart } from '../../../src/schema/periods/period.ts'
import { chanceFrom } from '../../support/seeded.ts'
import { SEED } from '../../support/seed.ts'

const CASES: readonly (readonly [zone: string, period: Period, date: string, begins: string])[] = [
  ['UTC', 'week', '20240101T00:00:00.000', '20240101T00:00:00.000'],
  ['UTC', 'week', '20231231T23:59:59.999', '20231225T00:00:00.000'],
  ['UTC', 'month', '20240229T23:59:59.999', '20240201T00:00:00.000'],
  ['UTC', 'week', '00000101T00:00:00.000', '00000101T00:00:00.000'],
  ['America/New_York', 'year', '00000101T00:00:00.000', '00000101T00:00:00.000'],
  ['Europe/Zurich', 'day', '20240331T12:00:00.000', '20240330T23:00:00.000'],
  ['Europe/Zurich', 'day', '20240331T22:30:00.000', '20240331T22:00:00.000'],
  ['Europe/Zurich', 'hour', '20241027T00:30:00.000', '20241027T00:00:00.000'],
  ['Europe/Zurich', 'hour', '20241027T01:30:00.000', '20241027T01:00:00.000'],
  ['Europe/Zurich', 'minute', '18000101T00:00:00.000', '17991231T23:59:52.000'],
  // midnight is skipped
  ['America/Sao_Paulo', 'day', '20181104T12:00:00.000', '20181104T03:00:00.000'],
  // midnight comes twice, and the day begins with the first one
  ['America/Havana', 'day', '20241103T04:30:00.000', '20241103T04:00:00.000'],
  ['America/Havana', 'day', '20241103T12:00:00.000', '20241103T04:00:00.000'],
  // a whole day is skipped
  ['Pacific/Apia', 'day', '20111231T05:00:00.000', '20111230T10:00:00.000'],
  ['Pacific/Apia', 'day', '20111230T05:00:00.000', '20111229T10:00:00.000'],
  ['Asia/Kathmandu', 'hour', '20240406T15:20:00.000', '20240406T15:15:00.000'],
]

for (const [zone, period, date, begins] of CASES) {
  test(`period: the ${period} of ${date} in ${zone}`, () => {
    assert.equal(periodStart(period, knownTimeZone(zone))(`${date}+0000`), `${begins}+0000`)
  })
}

test('period: a text that is no stored date has none', () => {
  for (const text of [
    '',
    '2024',
    '20241301T00:00:00.000+0000',
    '20240100T00:00:00.000+0000',
    'a'.repeat(26),
  ]) {
    assert.equal(periodStart('day')(text), undefined)
  }
})

test('period: unknown names and offsets are no time zones, and UTC has several names', () => {
  for (const name of ['Mars/Base', '+01:00', '', '-5']) assert.throws(() => knownTimeZone(name), RangeError)
  for (const name of ['UTC', 'Etc/UTC', 'GMT', 'utc']) assert.equal(knownTimeZone(name), undefined)
})

test('period: begins at or before the date, and a period begins with its own beginning', () => {
  const chance = chanceFrom(SEED)
  const zones = [
    'UTC',
    'Europe/Zurich',
    'America/Havana',
    'Australia/Sydney',
    'Asia/Kathmandu',
    'Africa/Casablanca',
  ]
  for (let i = 0; i < 2_000; i++) {
    const date = printDate(new Date(Date.UTC(1990, 0, 1) + chance(4e6) * 400_000))
    const zone = knownTimeZone(zones[chance(zones.length)]!)
    const period = PERIODS[chance(PERIODS.length)]!
    const begins = periodStart(period, zone)(date)!
    assert.ok(begins <= date, `${period} of ${date} in ${zone}: ${begins}`)
    assert.equal(periodStart(period, zone)(begins), begins, `${period} of ${date} in ${zone}: ${begins}`)
  }
})
