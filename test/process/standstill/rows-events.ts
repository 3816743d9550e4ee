/** Rows about events and metadata: followers, long polls, access reports, hooks. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { rowsOf } from '../../support/postgres.ts'
import { eventually, sinkTo, taker } from '../../service/http/sinks-kitchen.ts'
import { ANYONE, metadataDocument } from '../../support/service.ts'
import { directoryOf } from '../../support/store-kind.ts'
import { endAll, sizeMb } from './crowd.ts'
import { pause } from './observe.ts'
import { GREEDY, INTEGER, type Row, STRING, times } from './row.ts'
import type { WatchedService } from './service.ts'

const HOOK = { name: 'all', actions: ['insert', 'update', 'delete'] }
const HIDDEN = { access: { ...ANYONE, find: ['boss'] } }

export const EVENT_ROWS: readonly Row[] = [
  {
    id: '19',
    what: '100 followers that read nothing of 240 events of 150 KB',
    expected: { answers: ['200'], peakMb: 400 },
    prepare: (on) => watched(on, 'r19', 0),
    async send(on) {
      const sockets = await Promise.all(
        times(100, () => on.open('GET', '/events/stream?entity=r19', { caller: GREEDY })),
      )
      await pause(100)
      const s = 'x'.repeat(150_000)
      const outcomes = []
      for (let i = 0; i < 24; i++) {
        const body = { data: times(10, () => ({ s })) }
        outcomes.push(await on.ask('PUT', '/data/insert/r19', { body, caller: 'writer' }))
      }
      await pause(1_000)
      endAll(sockets)
      return outcomes
    },
  },
  {
    id: '20a',
    what: '200 followers come back, 2,000 events behind',
    expected: { answers: [], peakMb: 500 },
    prepare: (on) => watched(on, 'r20', 2_000, { text: 'x'.repeat(3_000) }),
    async send(on) {
      const path = '/events/stream?entity=r20&since=0'
      const sockets = await Promise.all(times(200, (i) => on.open('GET', path, { caller: `follower${i}` })))
      for (const socket of sockets) socket.resume()
      await pause(2_000)
      return endAll(sockets)
    },
  },
  {
    id: '20b',
    what: '500 long polls without any role over 2,000 hidden events',
    expected: { answers: ['200'], peakMb: 500 },
    prepare: (on) => watched(on, 'r20b', 2_000, { schema: HIDDEN }),
    send: (on) => poll(on, { entity: 'r20b', count: 500, since: '&since=0' }),
  },
  {
    id: '20c',
    what: '2,000 long polls while hidden events come',
    expected: { answers: ['200'], peakMb: 500 },
    prepare: (on) => watched(on, 'r20c', 10, { schema: HIDDEN }),
    send: (on) => poll(on, { entity: 'r20c', count: 2_000, since: '' }),
  },
  {
    id: '20d',
    what: 'ten polls of the event of a document with 100,000 members',
    expected: { answers: ['200'], peakMb: 500 },
    async prepare(on) {
      await on.define('r20d', { any: { type: 'any' } }, { info: { hooks: [HOOK] } })
      const any = Object.fromEntries(times(100_000, (i) => [`k${i}`, i]))
      await on.store('r20d', [{ _id: '1', any }])
    },
    send: (on) =>
      Promise.all(
        times(10, () => on.ask('GET', '/events?entity=r20d&since=0&wait=10&limit=1', { caller: GREEDY })),
      ),
  },
  {
    id: '20e',
    what: 'a sink gets three events of a document with 150,000 members',
    options: { env: { SMALT_EVENTS_ALLOW_PRIVATE: 'true' } },
    expected: { answers: ['200'], limitMs: 20_000, peakMb: 500 },
    prepare: (on) => on.define('r20e', { any: { type: 'any' } }, { info: { hooks: [HOOK] } }),
    async send(on) {
      await using receiver = await taker()
      const sink = sinkTo(receiver.url, { filter: { entity: 'r20e' } })
      const outcomes = [await on.ask('POST', '/events/sinks', { body: sink, caller: 'manager' })]
      for (let version = 0; version < 3; version++) {
        const any = Object.fromEntries(times(150_000, (i) => [`k${i}`, i + version]))
        const body = { data: { _id: '1', any }, upsert: true }
        outcomes.push(await on.ask('POST', '/data/save/r20e', { body, caller: 'writer', withinMs: 30_000 }))
      }
      const written = outcomes.slice(1).filter(({ status }) => status === 200).length
      await eventually(() => receiver.taken.length === written, 'all are delivered')
      return outcomes
    },
  },
  {
    id: '21a',
    what: 'metadata of 1,000 fields that name 2,000 roles',
    expected: { answers: ['400 crud:LimitExceeded'], limitMs: 1_000 },
    send: async (on) => [await define(on, 'r21a', { fields: fieldsWithRoles(1_000, 2_000) })],
  },
  {
    id: '21b',
    what: 'metadata of 2,000 fields that name 500 roles, and its access report',
    expected: { answers: ['200'], limitMs: 3_000, peakMb: 400 },
    async send(on) {
      const written = await define(on, 'r21b', { fields: fieldsWithRoles(1_990, 490) })
      return [written, await on.ask('GET', '/metadata/r21b/access', { caller: GREEDY })]
    },
  },
  {
    id: '22a',
    what: 'an entity with 2,000 hooks',
    expected: { answers: ['400 crud:LimitExceeded'] },
    send: async (on) => [await define(on, 'r22a', { fields: { s: STRING }, info: { hooks: hooks(2_000) } })],
  },
  {
    id: '22b',
    what: '50 hooks that watch documents of 110 KB',
    expected: { answers: ['200'], limitMs: 3_000, peakMb: 400 },
    async send(on) {
      const defined = await define(on, 'r22b', {
        fields: { s: STRING, n: INTEGER },
        info: { hooks: hooks(50) },
      })
      const before = await storeMb(on)
      // nothing that a store could make smaller
      const data = times(20, (i) => ({ _id: `d${i}`, s: randomBytes(82_500).toString('base64') }))
      const stored = await on.ask('PUT', '/data/insert/r22b', { body: { data }, caller: GREEDY })
      const body = { query: { $and: [] }, update: { $set: { n: 1 } } }
      const updated = await on.ask('POST', '/data/update/r22b', { body, caller: GREEDY })
      const grown = (await storeMb(on)) - before
      console.log(`# row 22b ${on.kind}: 20 documents of 0.11 MB, written twice, take ${grown.toFixed(0)} MB`)
      assert.ok(grown < 40, `the store grew by ${grown} MB`)
      return [defined, stored, updated]
    },
  },
]

interface Told {
  readonly schema?: JsonObject
  /** In each document. */
  readonly text?: string
}

async function watched(on: WatchedService, entity: string, count: number, told: Told = {}): Promise<void> {
  const { schema, text = '' } = told
  await on.define(entity, { s: STRING }, { info: { hooks: [HOOK] }, ...(schema && { schema }) })
  await on.store(
    entity,
    times(count, (i) => ({ s: `event ${i} ${text}` })),
  )
}

interface Polls {
  readonly entity: string
  readonly count: number
  readonly since: string
}

/** Nobody of these may read what happens meanwhile. */
async function poll(on: WatchedService, { entity, count, since }: Polls) {
  const path = `/events?entity=${entity}&wait=30${since}`
  const sockets = await Promise.all(times(count, (i) => on.open('GET', path, { caller: `poller${i}` })))
  for (const socket of sockets) socket.resume()
  await pause(300)
  const outcomes = []
  for (let i = 0; i < 20; i++) {
    const body = { data: [{ s: `hidden ${i}` }] }
    outcomes.push(await on.ask('PUT', `/data/insert/${entity}`, { body, caller: 'writer' }))
  }
  await pause(1_000)
  endAll(sockets)
  return outcomes
}

function define(
  on: WatchedService,
  entity: string,
  { fields, info }: { fields: JsonObject; info?: JsonObject },
) {
  const body = metadataDocument(entity, fields, { info: { datastore: { backend: on.kind }, ...info } })
  return on.ask('PUT', `/metadata/${entity}/1.0.0`, { body, caller: GREEDY })
}

function fieldsWithRoles(fields: number, roles: number): JsonObject {
  const each = Math.max(2, Math.ceil(roles / fields))
  const list = (i: number): readonly string[] => times(each, (j) => `role${(i * each + j) % roles}`)
  return Object.fromEntries(times(fields, (i) => [`f${i}`, { ...INTEGER, access: { find: list(i) } }]))
}

function hooks(count: number): readonly JsonObject[] {
  return times(count, (i) => ({ ...HOOK, name: `hook${i}`, projection: { field: '*', recursive: true } }))
}

async function storeMb(on: WatchedService): Promise<number> {
  if (on.kind === 'sqlite') {
    const file = join(directoryOf(on.location), 'smalt.db')
    return sizeMb(file) + sizeMb(`${file}-wal`)
  }
  const [row] = await rowsOf(
    on.location,
    (schema) => `select sum(pg_total_relation_size(c.oid)) as bytes from pg_class c
      join pg_namespace n on n.oid = c.relnamespace where n.nspname = '${schema}' and c.relkind = 'r'`,
  )
  return Number(row!['bytes']) / 1_000_000
}
