/** Two services that get in each other's way all the time: whoever has to begin again does, and nobody hears of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { printResponse } from '../../../src/service/response.ts'
import type { Service } from '../../../src/service/service.ts'
import { ADMIN, openServiceAt, openTestService } from '../../support/service.ts'
import { useStore } from '../../support/store-kind.ts'

useStore('postgres')

const BOUNDED = { timeout: 400_000 }
const FIELDS = { _id: { type: 'string' }, n: { type: 'integer' }, side: { type: 'string' } }

const byId = (_id: string): JsonObject => ({ field: '_id', op: '=', rvalue: _id })
const ADD = { $add: { n: 1 } }

async function update(service: Service, query: JsonObject): Promise<void> {
  const response = await service.data.update(ADMIN, { entity: 'd' }, { query, update: ADD })
  assert.equal(response.status, 'COMPLETE', printResponse(response))
}

async function updateInOrder(service: Service, ids: readonly string[]): Promise<void> {
  const requests = ids.map((id, seq) => ({
    seq,
    op: 'update',
    request: { entity: 'd', query: byId(id), update: ADD },
  }))
  const text = await service.data.bulk(ADMIN, { atomic: true, requests })
  assert.equal(text.match(/"status":"COMPLETE"/g)?.length, ids.length, text)
}

interface Case {
  readonly name: string
  /** What each of the two does, all the time. */
  readonly one: (service: Service) => Promise<void>
  readonly other: (service: Service) => Promise<void>
  /** By how much a round of both raises the sum. */
  readonly sum: number
  /** The server takes a second to notice a deadlock. */
  readonly rounds: number
}

/** On each of the two. */
const clients = [1, 2]

const ALL = { field: 'side', op: '=', rvalue: 'x' }
const CASES: readonly Case[] = [
  {
    name: 'atomic bulks in opposite order',
    one: (service) => updateInOrder(service, ['a', 'b']),
    other: (service) => updateInOrder(service, ['b', 'a']),
    sum: 4,
    rounds: 6,
  },
  {
    name: 'a bulk against an update of many',
    one: (service) => updateInOrder(service, ['c', 'b', 'a']),
    other: (service) => update(service, ALL),
    sum: 6,
    rounds: 6,
  },
  {
    name: 'updates of many',
    one: (service) => update(service, ALL),
    other: (service) => update(service, ALL),
    sum: 6,
    rounds: 60,
  },
]

for (const { name, one, other, sum, rounds } of CASES) {
  test(`write: ${name} end without an error, and nothing is lost`, BOUNDED, async (t) => {
    await using first = await openTestService()
    await first.define('d', FIELDS)
    await using second = await openServiceAt(first.location)
    await first.store(
      'd',
      ['a', 'b', 'c'].map((_id) => ({ _id, n: 0, side: 'x' })),
    )
    const before = await deadlocks(first.location)
    const repeat = async (work: () => Promise<void>): Promise<void> => {
      for (let i = 0; i < rounds; i++) await work()
    }
    await Promise.all([
      ...clients.map(() => repeat(() => one(first.service))),
      ...clients.map(() => repeat(() => other(second))),
    ])
    const found = await first.find('d', { projection: { field: '*' } })
    const total = found.processed!.reduce((all, text) => all + (JSON.parse(text) as { n: number }).n, 0)
    assert.equal(total, rounds * sum * clients.length)
    t.diagnostic(`${(await deadlocks(first.location)) - before} deadlocks`)
  })
}

/** That they really happened; the server counts them. */
async function deadlocks(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url.replace(/\?.*/, '') })
  await client.connect()
  try {
    const { rows } = await client.query<{ deadlocks: string }>(
      'select deadlocks from pg_stat_database where datname = current_database()',
    )
    return Number(rows[0]!.deadlocks)
  } finally {
    await client.end()
  }
}
