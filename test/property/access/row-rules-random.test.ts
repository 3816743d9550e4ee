/** Random row rules, callers and requests: the service shows, counts and changes what an independent model says. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../../src/access/caller.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { type Chance, sample } from '../../support/chance.ts'
import { SEED } from '../../support/seed.ts'
import {
  EVERYTHING,
  type TestService,
  dataErrorCodes,
  documentsOf,
  openTestService,
} from '../../support/service.ts'
import {
  type FieldLists,
  type List,
  type Rules,
  type Where,
  at,
  fieldsIn,
  matches,
  modelOf,
} from './rule-model.ts'
import { BOSS, callerAs, plain } from '../../service/access/ruled.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const ROUNDS = 60
const PATHS = ['a', 'b', 's', 't', 'box.u', 'box.v']
const RULED = ['s', 't', 'box', 'box.u']
const VALUES = ['x', 'y', 'z']

const makeWhere = (chance: Chance, depth = 2, isRule = true): Where => {
  const field = chance.pick(PATHS)
  const value = (): Json => {
    if (isRule && chance.happens(50)) return chance.pick(['$caller.principal', '$caller.claims.v'])
    return chance.pick(VALUES)
  }
  const kind = chance.int(depth > 0 ? 8 : 4)
  if (kind < 2) return { field, op: chance.pick(['=', '!=']), rvalue: chance.happens(10) ? null : value() }
  if (kind < 4)
    return { field, op: chance.pick(['$in', '$nin']), values: [value(), ...chance.list(2, value)] }
  if (kind === 4) return { $not: makeWhere(chance, depth - 1, isRule) }
  const terms = [makeWhere(chance, depth - 1, isRule), makeWhere(chance, depth - 1, isRule)]
  return kind < 7 ? { $or: terms } : { $and: terms }
}

const makeList = (chance: Chance): List => [
  'boss',
  ...chance.list(3, () => {
    const role = chance.pick(['p', 'q', 'anyone'])
    return chance.happens(25) ? role : { role, where: makeWhere(chance) }
  }),
]

const makeRules = (chance: Chance): Rules => ({
  entity: {
    find: makeList(chance),
    update: makeList(chance),
    delete: makeList(chance),
    insert: makeList(chance),
  },
  fields: Object.fromEntries(
    RULED.map((path) => [
      path,
      {
        find: chance.happens(70) ? makeList(chance) : [],
        update: chance.happens(50) ? makeList(chance) : [],
      },
    ]),
  ),
})

const makeDocument = (chance: Chance, _id: string): JsonObject => {
  const some = (name: string): JsonObject => (chance.happens(80) ? { [name]: chance.pick(VALUES) } : {})
  const box = { ...some('u'), ...some('v') }
  const inner = Object.keys(box).length > 0 ? { box } : {}
  return { _id, ...some('a'), ...some('b'), ...some('s'), ...some('t'), ...inner }
}

const makeCaller = (chance: Chance): Caller => {
  const claim = chance.pick<Json | undefined>([
    'x',
    'y',
    ['x', 'z'],
    [],
    null,
    undefined,
    { x: 1 },
    ['x', null],
  ])
  const roles = ['p', 'q'].filter(() => chance.happens(60))
  return callerAs(roles, chance.pick(['x', 'y', '']), claim === undefined ? {} : { v: claim })
}

const fieldsWith = (lists: FieldLists): JsonObject => {
  const text = (path: string): JsonObject => ({
    type: 'string',
    access: { ...lists[path] },
  })
  const box = { ...text('box'), type: 'object', fields: { u: text('box.u'), v: text('box.v') } }
  return { _id: { type: 'string' }, a: text('a'), b: text('b'), s: text('s'), t: text('t'), box }
}

interface Stage {
  readonly on: TestService
  readonly entity: string
  readonly rules: Rules
  documents: readonly JsonObject[]
}

async function findOnce(stage: Stage, chance: Chance): Promise<boolean> {
  const caller = makeCaller(chance)
  const model = modelOf(stage.rules, caller)
  const query = chance.happens(70) ? makeWhere(chance, 2, false) : undefined
  const sort = chance.happens(30) ? chance.pick(PATHS) : undefined
  const body = { projection: EVERYTHING, ...(query && { query }), sort: { [sort ?? '_id']: '$asc' } }
  const response = await stage.on.find(stage.entity, body, caller)
  const named = [...(query ? fieldsIn(query) : []), ...(sort === undefined ? [] : [sort])]
  const asked = JSON.stringify({ rules: stage.rules, roles: [...caller.roles], caller, body })
  if (!model.admits('find') || !named.every(model.mayAsk)) {
    assert.deepEqual(
      response.errors?.map(({ errorCode }) => errorCode),
      ['crud:NoAccess'],
      asked,
    )
    return false
  }
  const expected = stage.documents
    .filter((each) => model.has('find', each) && named.every((path) => model.mayRead(path, each)))
    .filter((each) => !query || matches(query, each))
  const key = (each: JsonObject): string =>
    `${sort === undefined ? '' : textAt(each, sort)}/${textAt(each, '_id')}`
  const inOrder = expected.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)).map((each) => model.seen(each))
  assert.deepEqual(documentsOf(response).map(plain), inOrder, asked)
  assert.equal(response.matchCount, expected.length, asked)
  return expected.length > 0
}

const textAt = (document: JsonObject, path: string): string =>
  (at(document, path) as string | undefined) ?? ''

async function updateOnce(stage: Stage, chance: Chance): Promise<boolean> {
  const caller = makeCaller(chance)
  const model = modelOf(stage.rules, caller)
  const query = makeWhere(chance, 1, false)
  const change: JsonObject = Object.fromEntries(
    [0, ...chance.list(3, () => 0)].map(() => [chance.pick(PATHS), chance.pick(VALUES)]),
  )
  const body = {
    query: chance.happens(50) ? query : { $and: [] },
    update: { $set: change },
    projection: EVERYTHING,
  }
  const asked = JSON.stringify({ rules: stage.rules, roles: [...caller.roles], caller, body })
  const response = await stage.on.service.data.update(caller, { entity: stage.entity }, body)
  const named = fieldsIn(body.query)
  if (!model.admits('update') || !named.every(model.mayAsk)) {
    assert.deepEqual(
      response.errors?.map(({ errorCode }) => errorCode),
      ['crud:NoAccess'],
      asked,
    )
    return false
  }
  const isSelected = (each: JsonObject): boolean =>
    model.has('update', each) &&
    (!model.admits('find') || model.has('find', each)) &&
    named.every((one) => model.mayRead(one, each)) &&
    matches(body.query, each)
  const codes: string[][] = []
  const echoes: JsonObject[] = []
  let modified = 0
  stage.documents = stage.documents.map((before) => {
    if (!isSelected(before)) return before
    const after = Object.entries(change).reduce((now, [path, value]) => withValue(now, path, value), before)
    const touched = Object.keys(change).filter(
      (path) => !model.mayRead(path, before) || at(before, path) !== change[path],
    )
    const mayChange = (document: JsonObject): boolean =>
      touched.every((path) => model.mayUpdate(path, document))
    const shown = (document: JsonObject): JsonObject =>
      model.has('find', document) ? model.seen(document) : {}
    if (touched.length === 0) {
      echoes.push(shown(before))
      return before
    }
    if (!mayChange(before)) codes.push(['crud:update:NoFieldAccess'])
    else {
      const broken = [
        ...(mayChange(after) ? [] : ['crud:update:NoFieldAccess']),
        ...(model.has('update', after) ? [] : ['crud:NoAccess']),
      ]
      if (broken.length === 0) {
        modified++
        echoes.push(shown(after))
        return after
      }
      codes.push(broken)
    }
    return before
  })
  assert.deepEqual(dataErrorCodes(response), codes, asked)
  assert.deepEqual(documentsOf(response).map(plain), echoes, asked)
  assert.deepEqual(
    [response.matchCount, response.modifiedCount],
    [codes.length + echoes.length, modified],
    asked,
  )
  await sameAs(stage, asked)
  return modified > 0
}

function withValue(document: JsonObject, path: string, value: Json): JsonObject {
  if (!path.startsWith('box.')) return { ...document, [path]: value }
  return { ...document, box: { ...(document['box'] as JsonObject | undefined), [path.slice(4)]: value } }
}

async function deleteOnce(stage: Stage, chance: Chance): Promise<void> {
  const caller = makeCaller(chance)
  const model = modelOf(stage.rules, caller)
  const { entity } = stage
  const response = await stage.on.service.data.delete(caller, { entity }, { query: { $and: [] } })
  const asked = JSON.stringify({ rules: stage.rules, roles: [...caller.roles], caller })
  if (!model.admits('delete')) return
  const isGone = (each: JsonObject): boolean =>
    model.has('delete', each) && (!model.admits('find') || model.has('find', each))
  const left = stage.documents.filter((each) => !isGone(each))
  assert.equal(response.modifiedCount, stage.documents.length - left.length, asked)
  stage.documents = left
  await sameAs(stage, asked)
}

async function insertOnce(stage: Stage, chance: Chance): Promise<void> {
  const caller = makeCaller(chance)
  const model = modelOf(stage.rules, caller)
  const data = makeDocument(chance, 'new')
  const response = await stage.on.insert(stage.entity, { data, projection: EVERYTHING }, caller)
  const asked = JSON.stringify({ rules: stage.rules, roles: [...caller.roles], caller, data })
  if (!model.admits('insert')) return
  if (!model.has('insert', data)) {
    assert.deepEqual(dataErrorCodes(response), [['crud:NoAccess']], asked)
    return
  }
  assert.deepEqual(documentsOf(response).map(plain), [model.has('find', data) ? model.seen(data) : {}], asked)
  stage.documents = [...stage.documents, data]
}

async function sameAs({ on, entity, documents }: Stage, asked: string): Promise<void> {
  const response = await on.find(entity, { projection: EVERYTHING, sort: { _id: '$asc' } }, BOSS)
  assert.deepEqual(documentsOf(response).map(plain), documents, asked)
}

onEveryStore(() => {
  test('row rules: what is seen, counted and changed is what a model of the rules says', async () => {
    await using on = await openTestService()
    let found = 0
    let changed = 0
    for (let round = 0; round < ROUNDS; round++) {
      const chances = <T>(no: number, make: (chance: Chance) => T): T => sample(SEED + round * 100 + no, make)
      const entity = `e${round}`
      const rules = chances(0, makeRules)
      const schema = { access: rules.entity as unknown as JsonObject }
      await on.define(entity, fieldsWith(rules.fields), { schema })
      const documents = chances(1, (chance) =>
        Array.from({ length: 12 }, (_, i) => makeDocument(chance, String.fromCharCode(97 + i))),
      )
      await on.insert(entity, { data: documents }, BOSS)
      const stage: Stage = { on, entity, rules, documents }
      for (let i = 2; i < 14; i++) found += Number(await chances(i, (chance) => findOnce(stage, chance)))
      for (let i = 14; i < 20; i++) changed += Number(await chances(i, (chance) => updateOnce(stage, chance)))
      await chances(20, (chance) => insertOnce(stage, chance))
      await chances(21, (chance) => deleteOnce(stage, chance))
    }
    assert.ok(found > ROUNDS && changed > ROUNDS / 2, `${found} finds and ${changed} updates did something`)
  })
})
