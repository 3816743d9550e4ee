/** Everything that a service asks of a store, on an entity whose names and values can be recognised anywhere. */
import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { move } from '../../src/service/move/move.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { ADMIN, EVERYTHING, type TestService, metadataDocument, openTestService } from '../support/service.ts'
import { rowsOf } from '../support/postgres.ts'
import { freshPlace } from '../support/store-kind.ts'

/** What must be in no text of SQL. */
export const CANARIES = [
  'canaryentity',
  'canaryvalue',
  'canaryother',
  'canarylock',
  'canaryqueue',
  'canaryhook',
  '8642097531',
]
/** What may only be in quoted paths. */
export const FIELD_CANARY = 'canaryfield'

const ENTITY = 'canaryEntity'
const OTHER = 'canaryOther'
const S = `canaryField's`
const VALUE = 'canaryValue'
const NUMBER = 8642097531

const FIELDS: JsonObject = {
  [S]: { type: 'string' },
  s: { type: 'string' },
  u: { type: 'string' },
  i: { type: 'integer' },
  b: { type: 'boolean' },
  bd: { type: 'bigdecimal' },
  d: { type: 'date' },
  q: { type: 'integer', valueGenerator: { type: 'IntSequence', configuration: { name: 'canaryQueue' } } },
  tags: { type: 'array', items: { type: 'string' } },
  items: {
    type: 'array',
    items: { type: 'object', fields: { n: { type: 'integer' }, t: { type: 'string' } } },
  },
}

const index = (field: string, more: JsonObject = {}): JsonObject => ({ fields: [{ field, ...more }] })
const INDEXES: readonly JsonObject[] = [
  index(S),
  index('i', { dir: '$desc' }),
  index('s', { caseInsensitive: true }),
  index('tags.*'),
  { fields: [{ field: 'items.*.n' }, { field: 'items.*.t' }] },
]
const UNIQUE: JsonObject = { ...index('u'), unique: true }

const HOOKS: readonly JsonObject[] = [{ name: 'canaryHook', actions: ['insert', 'update', 'delete'] }]

interface Kind {
  readonly indexes?: readonly JsonObject[]
  readonly hooks?: readonly JsonObject[]
  readonly history?: boolean
}

/** Without indexes, with some, and with unique ones, which are kept in another way; watched and not; with a past. */
export async function exercise(): Promise<void> {
  const all = [...INDEXES, UNIQUE]
  const kinds: readonly Kind[] = [
    {},
    { indexes: INDEXES },
    { indexes: all },
    { hooks: HOOKS },
    { indexes: all, hooks: HOOKS },
    { history: true },
    { hooks: HOOKS, history: true },
    { indexes: all, hooks: HOOKS, history: true },
  ]
  for (const { indexes = [], hooks = [], history = false } of kinds) {
    await using tester = await openTestService()
    await tester.define(ENTITY, FIELDS, { info: { indexes: [...indexes], hooks: [...hooks], history } })
    await write(tester)
    await read(tester)
    if (history) await lookBack(tester)
    await moveAll(tester)
    await changeAndDelete(tester)
    if (hooks.length > 0 && !history) await readEvents(tester)
    await changeMetadata(tester, indexes)
    await others(tester)
  }
}

/** Every kind of question as of a moment, and documents that come and go. */
async function lookBack(tester: TestService): Promise<void> {
  const { data } = tester.service
  const target = { entity: ENTITY }
  for (let i = 200; i < 203; i++) {
    await complete(data.insert(ADMIN, target, { data: [documentOf(i)] }))
    await complete(data.update(ADMIN, target, { query: byId(i), update: { $set: { s: VALUE } } }))
    await complete(data.delete(ADMIN, target, { query: byId(i) }))
  }
  await complete(data.save(ADMIN, target, { data: [documentOf(200)], upsert: true }))
  const asOf = new Date().toISOString()
  for (const [i, query] of QUERIES.entries()) {
    const body = { query, projection: EVERYTHING, sort: SORTS[i % SORTS.length]!, range: [i % 3, 5], asOf }
    await complete(data.find(ADMIN, target, body))
    await complete(data.explain(ADMIN, target, body))
    const stream = await data.stream(ADMIN, target, { query, projection: EVERYTHING, asOf })
    assert.ok(Symbol.asyncIterator in stream)
    for await (const line of stream) assert.ok(line.length > 0)
  }
  await complete(data.history(ADMIN, { ...target, id: `${VALUE}1` }, new URLSearchParams()))
}

/** More events than are numbered at a time, read and taken away by another process; and numbers that nobody took. */
async function readEvents({ service: { data }, location }: TestService): Promise<void> {
  const target = { entity: ENTITY }
  const many = Array.from({ length: 1_200 }, (_, i) => documentOf(100 + i))
  await complete(data.insert(ADMIN, target, { data: many }))
  await using store = openPostgresStore({ url: location })
  const isHeard = Promise.withResolvers<void>()
  store.metadata.onMetadataChange(() => undefined)
  store.events.onEvents(isHeard.resolve)
  const bounds = { timeLimitMs: 20_000 }
  for (let [since, count] = [0, 0]; count < 1_230;) {
    const page = await store.events.readEvents({ since, limit: 500, filter: {} }, bounds)
    count += page.events.length
    since = page.scannedTo
  }
  await rowsOf(location, (schema) => `update ${schema}.smalt_event_state set reserved = reserved + 5`)
  await complete(data.delete(ADMIN, target, { query: byId(100) }))
  await isHeard.promise
  const { last } = await store.events.eventBounds()
  assert.ok((await store.events.trimEvents({ keptSince: Infinity, keepCount: 0, notAfter: last })) >= 1_230)
}

function byId(i: number): JsonObject {
  return { field: '_id', op: '=', rvalue: `${VALUE}${i}` }
}

function documentOf(i: number): JsonObject {
  return {
    _id: `${VALUE}${i}`,
    [S]: `${VALUE} ${i % 7}`,
    s: `S${i % 5} ${VALUE}`,
    u: `${VALUE}${i}`,
    i: NUMBER + (i % 10),
    b: i % 2 === 0,
    bd: i,
    d: '20240102T03:04:05.678+0000',
    tags: [VALUE, `t${i % 3}`],
    items: [{ n: NUMBER + i, t: VALUE }, { n: i }],
  }
}

async function write({ service: { data } }: TestService): Promise<void> {
  const target = { entity: ENTITY }
  const documents = Array.from({ length: 30 }, (_, i) => documentOf(i))
  await complete(data.insert(ADMIN, target, { data: documents, projection: EVERYTHING }))
  await complete(data.insert(ADMIN, target, { data: [documentOf(30)] }))
  // one is there already
  await data.insert(ADMIN, target, { data: [documentOf(30), documentOf(31)] })
  await data.insert(ADMIN, target, { data: [documentOf(31), documentOf(32)], execution: { atomic: true } })
  const changed = [documentOf(1), { ...documentOf(2), u: `${VALUE} new` }, documentOf(40)]
  await complete(data.save(ADMIN, target, { data: changed, upsert: true }))
  await data.save(ADMIN, target, { data: [documentOf(3), documentOf(3), documentOf(41)], upsert: true })
}

const QUERIES: readonly JsonObject[] = [
  { $and: [] },
  ...['=', '!=', '<', '>='].map((op) => ({ field: S, op, rvalue: `${VALUE} 3` })),
  { field: 'i', op: '<=', rvalue: NUMBER + 4 },
  { field: 'bd', op: '>', rvalue: 3.5 },
  { field: 'b', op: '=', rvalue: true },
  { field: 'd', op: '<', rvalue: '20250102T03:04:05.678+0000' },
  { field: 'u', op: '=', rvalue: null },
  { field: S, op: '$in', values: [VALUE, `${VALUE} 1`, null] },
  { field: '_id', op: '$in', values: [`${VALUE}1`, `${VALUE}2`] },
  { field: 'i', op: '$nin', values: [NUMBER, 3] },
  { field: S, regex: `^${VALUE}` },
  { field: 's', regex: `^s1 ${VALUE}`, caseInsensitive: true },
  { field: S, regex: `\\b${VALUE}\\b` },
  { $not: { field: S, regex: `\\b${VALUE}\\b` } },
  { field: 'tags.*', op: '=', rvalue: VALUE },
  { field: 'tags.0', op: '=', rvalue: VALUE },
  { field: 'tags#', op: '>', rvalue: 1 },
  { field: 'items.*.n', op: '=', rvalue: NUMBER + 1 },
  { field: S, op: '<', rfield: 'u' },
  { field: S, op: '$in', rfield: 'tags' },
  { array: 'tags', contains: '$all', values: [VALUE, 't1'] },
  { array: 'tags', contains: '$none', values: [VALUE] },
  {
    array: 'items',
    elemMatch: {
      $and: [
        { field: 'n', op: '=', rvalue: NUMBER + 1 },
        { field: 't', op: '=', rvalue: VALUE },
      ],
    },
  },
  { $or: [{ field: 'i', op: '=', rvalue: NUMBER }, { $not: { field: 'tags.*', op: '=', rvalue: 't0' } }] },
]

const SORTS: readonly Json[] = [
  [],
  { [S]: '$desc' },
  [{ 'items.*.n': '$asc' }, { i: '$desc' }],
  { 'tags.*': '$desc' },
]

async function read({ service: { data } }: TestService): Promise<void> {
  const target = { entity: ENTITY }
  for (const [i, query] of QUERIES.entries()) {
    const body = { query, projection: EVERYTHING, sort: SORTS[i % SORTS.length]!, range: [i % 3, 5] }
    await complete(data.find(ADMIN, target, body))
    await complete(data.explain(ADMIN, target, body))
    const stream = await data.stream(ADMIN, target, { query, projection: EVERYTHING })
    assert.ok(Symbol.asyncIterator in stream)
    for await (const line of stream) assert.ok(line.length > 0)
  }
  const one = (i: number): JsonObject => ({ query: byId(i), projection: EVERYTHING })
  await complete(data.find(ADMIN, target, one(1)))
  await Promise.all([1, 2, 3].map((i) => complete(data.find(ADMIN, target, one(i)))))
}

async function moveAll({ location }: TestService): Promise<void> {
  await using target = await freshPlace()
  const { documents } = await move({ from: location, to: target.location })
  assert.ok(documents > 30)
}

async function changeAndDelete({ service: { data } }: TestService): Promise<void> {
  const target = { entity: ENTITY }
  const update = (query: JsonObject, change: JsonObject) =>
    data.update(ADMIN, target, { query, update: change, projection: EVERYTHING })
  await complete(update({ field: 'i', op: '<', rvalue: NUMBER + 3 }, { $add: { i: 1 } }))
  await complete(update({ field: S, regex: `\\b${VALUE} 1` }, { $set: { s: VALUE } }))
  await complete(update({ field: '_id', op: '=', rvalue: `${VALUE}5` }, { $set: { u: `${VALUE} other` } }))
  await update({ field: 'b', op: '=', rvalue: true }, { $set: { u: `${VALUE} same` } })
  // those of one moment share statements
  await Promise.all([60, 61].map((n) => complete(data.insert(ADMIN, target, { data: documentOf(n) }))))
  await Promise.all(
    [1, 2, 3].map((n) =>
      complete(update({ field: '_id', op: '=', rvalue: `${VALUE}${n}` }, { $add: { i: 1 } })),
    ),
  )
  const requests = [
    { seq: 1, op: 'insert', request: { entity: ENTITY, data: [documentOf(50)] } },
    { seq: 2, op: 'update', request: { entity: ENTITY, query: { $and: [] }, update: { $add: { i: 1 } } } },
    { seq: 3, op: 'find', request: { entity: ENTITY, query: QUERIES[15]!, projection: EVERYTHING } },
    { seq: 4, op: 'delete', request: { entity: ENTITY, query: { field: 'bd', op: '=', rvalue: 50 } } },
  ]
  await data.bulk(ADMIN, { requests, atomic: true })
  await data.bulk(ADMIN, { requests: [requests[0]!, { ...requests[0]!, seq: 2 }], atomic: true })
  await complete(data.delete(ADMIN, target, { query: { field: S, regex: `\\b${VALUE} 2` } }))
  await complete(data.delete(ADMIN, target, { query: { field: 'i', op: '>', rvalue: NUMBER + 9 } }))
}

async function changeMetadata(
  { service: { metadata } }: TestService,
  indexes: readonly JsonObject[],
): Promise<void> {
  const declare = (declared: readonly JsonObject[]) =>
    metadata.updateInfo(ADMIN, ENTITY, infoOf(ENTITY, declared))
  await declare([...indexes, index('bd'), { ...index('_id'), unique: true }])
  await declare([...indexes, { ...index('items.*.n'), unique: true }])
  // documents repeat these
  await assert.rejects(declare([...indexes, { ...index('b'), unique: true }]))
  await declare([])
  await metadata.create(ADMIN, { entity: OTHER, version: '1.0.0' }, metadataDocument(OTHER, FIELDS))
  await metadata.updateInfo(ADMIN, OTHER, infoOf(OTHER, [...INDEXES, UNIQUE]))
  await metadata.updateInfo(ADMIN, OTHER, infoOf(OTHER, []))
  await metadata.history(ADMIN, OTHER)
  await metadata.clearDefault(ADMIN, OTHER)
  await metadata.setStatus(ADMIN, { entity: OTHER, version: '1.0.0' }, { status: 'disabled' })
  await metadata.remove(ADMIN, OTHER, { documents: 'delete' })
}

function infoOf(entity: string, indexes: readonly JsonObject[]): Json {
  return (metadataDocument(entity, FIELDS, { info: { indexes } }) as { entityInfo: Json }).entityInfo
}

async function others({ service }: TestService): Promise<void> {
  await complete(service.data.generate(ADMIN, { entity: ENTITY }, 'q', '3'))
  for (const operation of ['acquire', 'acquire', 'ping', 'count', 'release', 'release']) {
    const who = { domain: 'canaryLock', callerId: VALUE, resourceId: VALUE }
    await service.data.lock(ADMIN, { operation, ...who })
  }
  await service.ready()
}

async function complete(
  answer: Promise<{ readonly status: string; readonly errors?: unknown }>,
): Promise<void> {
  const { status, errors } = await answer
  assert.equal(status, 'COMPLETE', JSON.stringify(errors))
}
