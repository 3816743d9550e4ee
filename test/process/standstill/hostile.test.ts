/** Hostile clients of several kinds at once: what they took is given back when they are gone. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { type Socket, connect } from 'node:net'
import { after, test } from 'node:test'
import type { StoreKind } from '../../../src/store/store.ts'
import { rowsOf } from '../../support/postgres.ts'
import type { Outcome } from './client.ts'
import { defineBig, endAll, until, walMb } from './crowd.ts'
import { defineNeighbour, judge, observe, pause, print } from './observe.ts'
import { ALL, GREEDY, STRING, times } from './row.ts'
import { type WatchedService, startWatched } from './service.ts'
import { STORES } from '../../support/store-kind.ts'
import { createShared } from './shared.ts'

interface Level {
  readonly descriptors: number
  readonly walMb: number
  readonly connections: number
}

/** What pools and caches may keep. */
const MAX_LEFT: Level = { descriptors: 60, walMb: 90, connections: 20 }

/** Each kind, opened by the hundred. */
const CROWDS: Readonly<Record<string, (on: WatchedService) => Promise<readonly Socket[]>>> = {
  idle: (on) => Promise.all(times(1_000, () => idle(on))),
  streams: (on) =>
    Promise.all(
      times(20, (i) =>
        on.open('POST', '/data/find/big?stream=true', {
          body: { projection: ALL },
          caller: `${GREEDY}${i % 4}`,
        }),
      ),
    ),
  uploads: (on) => Promise.all(times(20, () => upload(on))),
  followers: (on) =>
    Promise.all(times(150, () => on.open('GET', '/events/stream?entity=told', { caller: GREEDY }))),
  polls: (on) =>
    Promise.all(times(100, () => on.open('GET', '/events?entity=told&wait=30', { caller: GREEDY }))),
}

const shared = createShared(prepared)
after(() => shared[Symbol.asyncDispose]())

async function prepared(kind: StoreKind): Promise<WatchedService> {
  const on = await startWatched(kind)
  await defineNeighbour(on)
  await defineBig(on)
  await on.define('told', { s: STRING }, { info: { hooks: [{ name: 'all', actions: ['insert'] }] } })
  return on
}

for (const kind of STORES) {
  test(`hostile: crowds of every kind at once leave nothing behind on ${kind}`, { timeout: 90_000 }, () =>
    shared.use(kind, (on) => comesBack(on, 'crowds', () => crowd(on))),
  )

  test(
    `hostile: what is opened and abandoned at once leaves nothing behind on ${kind}`,
    { timeout: 90_000 },
    () => shared.use(kind, (on) => comesBack(on, 'abandoned', () => abandon(on))),
  )
}

async function crowd(on: WatchedService): Promise<readonly Outcome[]> {
  const crowds = await Promise.all(Object.values(CROWDS).map((open) => open(on)))
  const outcomes = await captureChange(on, 60)
  await pause(500)
  endAll(crowds.flat())
  return outcomes
}

async function abandon(on: WatchedService): Promise<readonly Outcome[]> {
  const { idle: _, ...others } = CROWDS
  for (let round = 0; round < 4; round++) {
    const crowds = await Promise.all(Object.values(others).map((open) => open(on)))
    endAll(crowds.flat())
  }
  return await captureChange(on, 10)
}

async function comesBack(
  on: WatchedService,
  name: string,
  work: () => Promise<readonly Outcome[]>,
): Promise<void> {
  const before = await levelOf(on)
  const seen = await observe(on, work)
  const line = print(name, on, seen)
  let level = await levelOf(on)
  await until(async () => isBack(before, (level = await levelOf(on))), 5_000)
  console.log(`#   before ${JSON.stringify(before)}, afterwards ${JSON.stringify(level)}`)
  judge(on, seen, { answers: ['200'], peakMb: 700 }, line)
  assert.ok(isBack(before, level), `${JSON.stringify(before)} became ${JSON.stringify(level)}\n${line}`)
  assert.deepEqual(on.faults(), [])
}

function isBack(before: Level, level: Level): boolean {
  return (
    level.descriptors <= before.descriptors + MAX_LEFT.descriptors &&
    level.walMb <= MAX_LEFT.walMb &&
    level.connections <= before.connections + MAX_LEFT.connections
  )
}

async function levelOf(on: WatchedService): Promise<Level> {
  const descriptors = on.isAlive() ? readdirSync(`/proc/${on.pid}/fd`).length : 0
  if (on.kind === 'sqlite') return { descriptors, walMb: walMb(on), connections: 0 }
  const [row] = await rowsOf(
    on.location,
    (schema) => `select count(*) as n from pg_stat_activity where application_name = '${schema}'`,
  )
  return { descriptors, walMb: 0, connections: Number(row!['n']) }
}

/** Events that followers would have to be sent. */
async function captureChange(on: WatchedService, count: number): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  const body = { data: [{ s: 'x'.repeat(100_000) }] }
  for (let i = 0; i < count; i++) {
    outcomes.push(await on.ask('PUT', '/data/insert/told', { body, caller: 'writer' }))
  }
  return outcomes
}

function idle({ port }: WatchedService): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.on('error', () => resolve(socket))
  })
}

async function upload(on: WatchedService): Promise<Socket> {
  const headers = { 'Content-Length': '16000000' }
  const socket = await on.open('PUT', '/data/insert/neighbour', {
    headers,
    caller: GREEDY,
    isUnfinished: true,
  })
  socket.write(Buffer.alloc(5_000_000, ' '))
  return socket
}
