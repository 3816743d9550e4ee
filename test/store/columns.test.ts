/** Columns beside the text: whatever the state of its table, each store answers as the other one does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import type { Service } from '../../src/service/service.ts'
import { toEarlierLayout } from '../support/earlier-layout.ts'
import { checkColumns as checkSqliteColumns, isFilled, toEarlierSqlite } from '../support/earlier-sqlite.ts'
import { type Chance, sampleEvenly } from '../support/chance.ts'
import { rowsOf } from '../support/postgres.ts'
import { SEED } from '../support/seed.ts'
import { ADMIN, ANYONE, EVERYTHING, documentsOf, json, openServiceAt } from '../support/service.ts'
import { type Place, directoryOf, freshPlace } from '../support/store-kind.ts'

const ENTITY = 'thing'
const TARGET = { entity: ENTITY }
const BOUNDED = { timeout: 300_000 }

const TEXTS = [
  '',
  'a',
  'A',
  'é',
  '\u{1d11e}',
  '\uffff',
  'x'.repeat(128),
  'x'.repeat(129),
  'x'.repeat(130),
  'x'.repeat(900),
]
const NUMBERS = [
  '0',
  '-0.10',
  '0.1',
  '1e-300',
  '9007199254740993',
  '123456789012345678901234567890.50',
  '-1e300',
]

const TEXT = { type: 'string' }
const NUMBER = { type: 'bigdecimal' }

/** Each version types some paths in another way than the ones before. Fields of indexes keep their type. */
const VERSIONS: readonly JsonObject[] = [
  { t: TEXT, m: NUMBER, n: NUMBER, o: { type: 'object', fields: { t: TEXT } } },
  { t: TEXT, m: NUMBER, n: TEXT, b: { type: 'boolean' } },
  { t: TEXT, m: NUMBER, n: NUMBER, o: TEXT, b: NUMBER, u: TEXT },
]

const INDEXES: readonly Json[] = [
  { fields: [{ field: 't', dir: '$asc' }] },
  { fields: [{ field: 'm', dir: '$desc' }, { field: 't' }] },
  { fields: [{ field: 'u', caseInsensitive: true }] },
]

interface State {
  readonly chance: Chance
  services: readonly [postgres: Service, sqlite: Service]
  versions: number
  indexes: number
}

test(
  `columns: every answer is right while tables change and migrate (SMALT_SEED=${SEED})`,
  BOUNDED,
  async () => {
    await using place = await freshPlace('postgres')
    await using other = await freshPlace('sqlite')
    await sampleEvenly(SEED, (chance) => history(place, other, chance))
  },
)

async function history(place: Place, other: Place, chance: Chance): Promise<void> {
  const open = async (): Promise<State['services']> => [
    await openServiceAt(place.location),
    await openServiceAt(other.location),
  ]
  const state: State = { chance, services: await open(), versions: 0, indexes: 1 }
  try {
    await addVersion(state)
    await storeMany(state)
    for (let step = 0; step < 60; step++) {
      await write(state)
      if (step % 6 === 0) await compare(state, step)
      if (step === 15 || step === 40) await addVersion(state)
      if (step === 25 || step === 45) await addIndex(state)
      if (step === 10 || step === 20 || step === 50) {
        for (const service of state.services) await service[Symbol.asyncDispose]()
        if (step !== 10) await toEarlierLayout(place.location)
        if (step !== 20) toEarlierSqlite(directoryOf(other.location))
        state.services = await open()
      }
    }
    await untilComplete(place.location)
    while (!isFilled(directoryOf(other.location))) await new Promise((resolve) => setTimeout(resolve, 20))
    await compare(state, 'the end')
    assert.deepEqual(await rowsOf(place.location, (schema) => `select 1 from ${schema}.smalt_fill`), [])
    await checkColumns(place.location)
    checkSqliteColumns(directoryOf(other.location))
  } finally {
    for (const service of state.services) await service[Symbol.asyncDispose]()
  }
}

async function addVersion(state: State): Promise<void> {
  const version = `${state.versions + 1}.0.0`
  const schema: JsonObject = {
    name: ENTITY,
    version: { value: version, changelog: version },
    status: { value: 'active' },
    access: ANYONE,
    fields: { _id: { type: 'string' }, ...VERSIONS[state.versions]! },
  }
  for (const { metadata } of state.services) {
    const body = state.versions === 0 ? { entityInfo: infoOf(state), schema } : schema
    if (state.versions === 0) await metadata.create(ADMIN, { entity: ENTITY, version }, body)
    else await metadata.createSchema(ADMIN, { entity: ENTITY, version }, body)
  }
  state.versions++
}

/** More than SQLite enters at once. */
async function storeMany({ chance, services }: State): Promise<void> {
  const data = Array.from({ length: 600 }, (_, i) => ({ ...document(chance, '1.0.0'), _id: `m${i}` }))
  for (const { data: requests } of services) {
    const { modifiedCount } = await requests.insert(ADMIN, { ...TARGET, version: '1.0.0' }, { data })
    assert.equal(modifiedCount, data.length)
  }
}

function infoOf({ indexes }: State): JsonObject {
  return { name: ENTITY, defaultVersion: '1.0.0', indexes: INDEXES.slice(0, indexes) }
}

async function addIndex(state: State): Promise<void> {
  state.indexes++
  for (const { metadata } of state.services) await metadata.updateInfo(ADMIN, ENTITY, infoOf(state))
}

/** The same write on both. */
async function write(state: State): Promise<void> {
  const { chance } = state
  const entityVersion = `${1 + chance.int(state.versions)}.0.0`
  const target = { ...TARGET, version: entityVersion }
  const data = Array.from({ length: 1 + chance.int(12) }, () => document(chance, entityVersion))
  const query = { field: '_id', op: '=', rvalue: `d${chance.int(60)}` }
  const gone = chance.pick(['t', 'n'])
  const { t, m } = document(chance, entityVersion)
  const set = { $set: { t: t ?? 'a', m: m ?? 0 } }
  const works: readonly ((service: Service) => Promise<unknown>)[] = [
    (service) => service.data.save(ADMIN, target, { data, upsert: true }),
    (service) => service.data.save(ADMIN, target, { data: data.slice(0, 1), upsert: true }),
    (service) => service.data.update(ADMIN, target, { query, update: { $unset: gone } }),
    (service) => service.data.update(ADMIN, target, { query, update: set }),
    (service) => service.data.update(ADMIN, target, { query: MANY, update: set }),
    (service) => service.data.delete(ADMIN, target, { query }),
  ]
  const work = chance.pick([works[0]!, works[0]!, ...works])
  for (const service of state.services) await work(service)
}

const MANY = { field: '_id', op: '$in', values: Array.from({ length: 30 }, (_, i) => `d${2 * i}`) }

function document(chance: Chance, version: string): JsonObject {
  const fields = VERSIONS[Number(version[0]) - 1]!
  const values = Object.entries(fields).flatMap(([name, field]): [string, Json][] => {
    if (chance.happens(15)) return []
    return [[name, valueFor(chance, (field as JsonObject)['type'] as string)]]
  })
  return { _id: `d${chance.int(60)}`, ...Object.fromEntries(values) }
}

function valueFor(chance: Chance, type: string): Json {
  if (chance.happens(10)) return null
  if (type === 'object') return { t: chance.pick(TEXTS) }
  if (type === 'boolean') return chance.happens(50)
  return type === 'string' ? chance.pick(TEXTS) : json(chance.pick(NUMBERS))
}

async function compare(state: State, step: number | string): Promise<void> {
  const [postgres, sqlite] = state.services
  for (let version = 1; version <= state.versions; version++) {
    for (const body of requests(state.chance, VERSIONS[version - 1]!)) {
      const target = { ...TARGET, version: `${version}.0.0` }
      const [a, b] = [
        await postgres.data.find(ADMIN, target, body),
        await sqlite.data.find(ADMIN, target, body),
      ]
      assert.deepEqual(
        [a.matchCount, JSON.stringify(documentsOf(a))],
        [b.matchCount, JSON.stringify(documentsOf(b))],
        `at ${step}, version ${version}: ${JSON.stringify(body)}`,
      )
    }
  }
}

function* requests(chance: Chance, fields: JsonObject): Generator<JsonObject> {
  for (const [name, field] of Object.entries(fields)) {
    const type = (field as JsonObject)['type'] as string
    const path = type === 'object' ? `${name}.t` : name
    const value = type === 'object' ? chance.pick(TEXTS) : valueFor(chance, type)
    const op = chance.pick(['=', '!=', '<', '>=', '>', '<='])
    const query =
      value === null || type === 'boolean'
        ? { field: path, op: '=', rvalue: value }
        : { field: path, op, rvalue: value }
    const sort = [{ [path]: chance.pick(['$asc', '$desc']) }, { _id: '$asc' }]
    yield { query, projection: EVERYTHING, sort, range: [0, 30] }
    yield {
      query: {
        field: path,
        op: '$in',
        values: [value, chance.pick(TEXTS.slice(0, 2))].slice(0, type === 'string' ? 2 : 1),
      },
      projection: EVERYTHING,
    }
    if (type === 'string') yield { query: { field: path, regex: '^x+x$' }, projection: EVERYTHING, sort }
  }
}

async function untilComplete(location: string): Promise<void> {
  for (;;) {
    const rows = await rowsOf(location, (schema) => `select layout from ${schema}.smalt_collection`)
    // null until the migration of a collection begins
    const layouts = rows.map(
      ({ layout }) =>
        JSON.parse(String(layout)) as { hasBody: boolean; columns: { isFilled: boolean }[] } | null,
    )
    const isComplete = layouts.every(
      (layout) => layout && !layout.hasBody && layout.columns.every(({ isFilled }) => isFilled),
    )
    if (isComplete) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Every column holds what its document says, and no second copy is left. */
async function checkColumns(location: string): Promise<void> {
  const collections = await rowsOf(
    location,
    (schema) => `select no, generation, layout from ${schema}.smalt_collection where entity = '${ENTITY}'`,
  )
  const { no, generation, layout } = collections[0]!
  const { columns } = JSON.parse(String(layout)) as { columns: { no: number; path: string; kind: string }[] }
  assert.ok(columns.length >= 8, String(layout))
  const table = `doc_${String(no)}_${String(generation)}_c`
  for (const column of columns) {
    const value = `(doc::jsonb #> '{${column.path.replace('.', ',')}}')`
    const types: Readonly<Record<string, string>> = { text: 'string', number: 'number', boolean: 'boolean' }
    const expected = {
      text: `left(${value} #>> '{}', 129)`,
      number: `(${value} #>> '{}')`,
      boolean: `case ${value} #>> '{}' when 'true' then '1' else '0' end`,
    }[column.kind]!
    const right = `case when jsonb_typeof(${value}) = '${types[column.kind]!}' then ${expected} end`
    const cast = column.kind === 'number' ? '::numeric' : ''
    const wrong = await rowsOf(
      location,
      (schema) => `select id, c${column.no} as held, ${right} as wanted from ${schema}.${table}
        where c${column.no}::text${cast} is distinct from (${right})${cast}`,
    )
    assert.deepEqual(wrong, [], `${column.kind} ${column.path}`)
  }
  const names = await rowsOf(
    location,
    (schema) => `select column_name from information_schema.columns
      where table_schema = '${schema}' and table_name = '${table}' and column_name = 'body'`,
  )
  assert.deepEqual(names, [])
}
