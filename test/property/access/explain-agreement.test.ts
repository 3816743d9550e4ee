/** Random schemas, callers and requests: what is explained about access is what the requests themselves meet with. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../../src/access/caller.ts'
import { reachOf, reachesIn } from '../../../src/access/reach.ts'
import { type Json, type JsonObject, isArray, isObject } from '../../../src/base/json/json.ts'
import type { Schema } from '../../../src/schema/schema.ts'
import { REACHES } from '../../../src/schema/reach.ts'
import { fieldsOnPath } from '../../../src/schema/fields-on-path.ts'
import { type Chance, sample } from '../../support/chance.ts'
import { compiledSchema } from '../../support/schema.ts'
import { SEED } from '../../support/seed.ts'
import {
  ADMIN,
  EVERYTHING,
  type TestService,
  documentsOf,
  metadataDocument,
  openTestService,
} from '../../support/service.ts'
import { type List, type Where, at, matches } from './rule-model.ts'
import { ALL, callerAs } from '../../service/access/ruled.ts'

const ROUNDS = 15
const CALLERS = 4
/** Rules ask about these two, which nothing guards and no request changes. */
const ASKED = ['k', 'm']
const VALUES = ['x', 'y']
const PATHS = ['s', 't', 'box.u', 'box.v', 'list.*.w']

type Operation = 'find' | 'insert' | 'update' | 'delete'

const makeWhere = (chance: Chance): Where => {
  const field = chance.pick(ASKED)
  const value = chance.pick(['$caller.principal', '$caller.claims.v', ...VALUES])
  const kind = chance.int(5)
  if (kind < 2) return { field, op: chance.pick(['=', '!=']), rvalue: value }
  if (kind === 2) return { field, op: '$in', values: [value, chance.pick(VALUES)] }
  return kind === 3 ? { $not: makeWhere(chance) } : { $and: [makeWhere(chance), makeWhere(chance)] }
}

const makeList = (chance: Chance): List => {
  if (chance.happens(4)) return ['noone', 'p']
  return chance.list(6, () => {
    const role = chance.pick(['p', 'q', 'anyone'])
    return chance.happens(10) ? role : { role, where: makeWhere(chance) }
  })
}

/** Each operation has a list of its own, or none. */
const makeAccess = (chance: Chance, operations: readonly Operation[], percent: number): JsonObject => {
  const given = operations.filter(() => chance.happens(percent))
  return Object.fromEntries(given.map((each) => [each, makeList(chance)]))
}

const makeFields = (chance: Chance, percent: number): JsonObject => {
  const access = (): JsonObject => ({ access: makeAccess(chance, ['find', 'insert', 'update'], percent) })
  const text = (): JsonObject => ({ type: 'string', ...access() })
  return {
    _id: { type: 'string' },
    k: { type: 'string' },
    m: { type: 'string' },
    s: text(),
    t: text(),
    box: { type: 'object', ...access(), fields: { u: text(), v: text() } },
    list: { type: 'array', ...access(), items: { type: 'object', fields: { w: text() } } },
  }
}

const makeCaller = (chance: Chance): Caller => {
  const roles = ['p', 'q'].filter(() => chance.happens(55))
  const v = chance.pick<Json | undefined>(['x', 'y', undefined])
  return callerAs(roles, chance.pick(['x', 'y', '']), v === undefined ? {} : { v })
}

const DOCUMENTS: readonly JsonObject[] = [undefined, ...VALUES].flatMap((k) =>
  [undefined, ...VALUES].map((m) => ({
    _id: `${k}-${m}`,
    ...(k !== undefined && { k }),
    ...(m !== undefined && { m }),
    s: 'old',
    t: 'old',
    box: { u: 'old', v: 'old' },
    list: [{ w: 'old' }],
  })),
)

/** Version 1.0.0 is the one asked about; 0.9.0 shows and takes everything. */
interface Stage {
  readonly on: TestService
  readonly entity: string
  readonly schema: Schema
  readonly caller: Caller
}

async function define(on: TestService, entity: string, round: number): Promise<Schema> {
  const [fields, access] = sample(SEED + round, (chance) => [
    makeFields(chance, 35),
    makeAccess(chance, ['find', 'insert', 'update', 'delete'], 95),
  ])
  await on.define(entity, fields, { schema: { access } })
  const open = { version: { value: '0.9.0', changelog: 'open' } }
  const { schema } = metadataDocument(
    entity,
    sample(0, (chance) => makeFields(chance, 0)),
    { schema: open },
  )
  await on.service.metadata.createSchema(ADMIN, { entity, version: '0.9.0' }, schema)
  return compiledSchema(entity, fields, { schema: { access } })
}

const opened = ({ entity }: Stage) => ({ entity, version: '0.9.0' })

async function refill(stage: Stage): Promise<void> {
  await stage.on.service.data.delete(ADMIN, opened(stage), { query: ALL })
  await stage.on.service.data.insert(ADMIN, opened(stage), { data: DOCUMENTS })
}

async function contents(stage: Stage): Promise<ReadonlyMap<Json, JsonObject>> {
  const response = await stage.on.service.data.find(ADMIN, opened(stage), { projection: EVERYTHING })
  return new Map(documentsOf(response).map((each) => [each['_id']!, each]))
}

/** With which documents the explanation says that it may be done. */
function promised(stage: Stage, op: Operation, field?: string): ReadonlySet<Json> {
  const { entity, caller, schema } = stage
  const { principal, roles, claims } = caller
  const question = { roles: [...roles], principal, claims, entity, op, ...(field !== undefined && { field }) }
  const explanation = stage.on.service.metadata.explainAccess(ADMIN, question) as JsonObject
  const decision = explanation['decision'] as string
  const wheres = ((explanation['where'] ?? []) as readonly Json[]).map(
    (each) => filled(each, caller) as Where,
  )
  assert.equal(decision === 'conditional', wheres.length > 0, JSON.stringify(explanation))
  const trail = field === undefined ? undefined : fieldsOnPath(schema, field)!
  const asked = { schema, operation: op, ...(trail && { trail }) }
  const reach = reachOf(asked, [...roles])
  const reaches = reachesIn([schema])
  const ranks = reaches.ranks(schema, op, trail?.at(-1))
  for (const role of reaches.roles) {
    assert.equal(REACHES[ranks[reaches.classOf(role)]!], reachOf(asked, [role]), `${role}: ${op} ${field}`)
  }
  assert.ok(POSSIBLE[reach].includes(decision), `${reach} on paper, but ${JSON.stringify(explanation)}`)
  const within = DOCUMENTS.filter((each) => wheres.every((where) => matches(where, each)))
  return new Set(decision === 'deny' ? [] : within.map(({ _id }) => _id!))
}

const POSSIBLE = { yes: ['allow'], no: ['deny'], where: ['conditional', 'deny'] }

function filled(value: Json, caller: Caller): Json {
  if (value === '$caller.principal') return caller.principal
  if (value === '$caller.claims.v') return caller.claims['v']!
  if (isArray(value)) return value.map((each) => filled(each, caller))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each, caller)]))
}

type Outcome = (stage: Stage, path?: string) => Promise<ReadonlySet<Json>>

/** With which documents it can really be done. */
const OUTCOMES: Readonly<Record<Operation, Outcome>> = {
  async find({ on, entity, caller }, path) {
    const response = await on.find(entity, { projection: EVERYTHING }, caller)
    const shown = documentsOf(response).filter((each) => path === undefined || has(each, path))
    return new Set(shown.map(({ _id }) => _id!))
  },
  async insert(stage, path) {
    await stage.on.service.data.delete(ADMIN, opened(stage), { query: ALL })
    const data = DOCUMENTS.map(({ _id, k, m, ...rest }) => ({
      _id: _id!,
      ...(k !== undefined && { k }),
      ...(m !== undefined && { m }),
      ...(path !== undefined && only(rest, path)),
    }))
    await stage.on.insert(stage.entity, { data }, stage.caller)
    const inserted = new Set((await contents(stage)).keys())
    await refill(stage)
    return inserted
  },
  async update(stage, path) {
    const update = { $set: { [path!]: 'new' } }
    const target = { entity: stage.entity }
    await stage.on.service.data.update(stage.caller, target, { query: ALL, update })
    const changed = [...(await contents(stage))].filter(([, each]) => at(each, path!) === 'new')
    if (changed.length > 0) await refill(stage)
    return new Set(changed.map(([id]) => id))
  },
  async delete(stage) {
    await stage.on.service.data.delete(stage.caller, { entity: stage.entity }, { query: ALL })
    const left = await contents(stage)
    await refill(stage)
    return new Set(DOCUMENTS.map(({ _id }) => _id!).filter((id) => !left.has(id)))
  },
}

function has(document: JsonObject, path: string): boolean {
  if (path !== 'list.*.w') return at(document, path) !== undefined
  const list = document['list'] as readonly JsonObject[] | undefined
  return list?.[0]?.['w'] !== undefined
}

function only(document: JsonObject, path: string): JsonObject {
  const [name, member] = path.split('.') as [string, string?]
  if (member === undefined || member === '*') return { [name]: document[name]! }
  return { [name]: { [member]: 'old' } }
}

/** Into an array one writes by its index, which takes the right to read it: that is another question. */
const QUESTIONS: readonly [Operation, string?][] = [
  ['find'],
  ...[...PATHS, 'list#'].map((path): [Operation, string] => ['find', path]),
  ['insert'],
  ...PATHS.map((path): [Operation, string] => ['insert', path]),
  ...PATHS.slice(0, -1).map((path): [Operation, string] => ['update', path]),
  ['delete'],
]

test('explain access: requests meet with what is explained, whatever the schema, the caller and the field', async () => {
  await using on = await openTestService()
  const counts = { none: 0, some: 0, all: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    const entity = `e${round}`
    const schema = await define(on, entity, round)
    await refill({ on, entity, schema, caller: ADMIN })
    for (let i = 0; i < CALLERS; i++) {
      const caller = sample(SEED + ROUNDS + round * CALLERS + i, makeCaller)
      const stage = { on, entity, schema, caller }
      for (const [op, path] of QUESTIONS) {
        const expected = promised(stage, op, path)
        const asked = JSON.stringify({ op, path, caller: { ...caller, roles: [...caller.roles] } })
        const about = `${asked} of ${JSON.stringify(on.service.metadata.get(ADMIN, entity, '1.0.0'))}`
        assert.deepEqual([...(await OUTCOMES[op](stage, path))].sort(), [...expected].sort(), about)
        counts[expected.size === 0 ? 'none' : expected.size < DOCUMENTS.length ? 'some' : 'all']++
      }
    }
  }
  for (const [kind, count] of Object.entries(counts)) assert.ok(count > 100, `${kind}: ${count}`)
})
