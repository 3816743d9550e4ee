/** A process changes the documents that it wrote last without reading them again, and nobody notices what others did meanwhile. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import type { Caller } from '../../src/access/caller.ts'
import type { Service } from '../../src/service/service.ts'
import { type Chance, sampleEvenly } from '../support/chance.ts'
import { SEED } from '../support/seed.ts'
import { ADMIN, ANYONE, EVERYTHING, callerWith, documentsOf, openServiceAt } from '../support/service.ts'
import { freshPlace } from '../support/store-kind.ts'

const ENTITY = 'thing'
const TARGET = { entity: ENTITY }
const FIELDS: JsonObject = { _id: { type: 'string' }, s: { type: 'string' }, i: { type: 'integer' } }
const BY_ID = (id: string): JsonObject => ({ field: '_id', op: '=', rvalue: id })
/** May change open documents only. */
const CLERK = callerWith('clerk')
const BOSS = callerWith('boss')

interface Step {
  readonly by: 'one' | 'other'
  readonly as?: Caller
  readonly does: JsonObject | 'delete'
  /** Matched and modified. */
  readonly gives: readonly [matched: number, modified: number]
}

const CASES: readonly (readonly [name: string, steps: readonly Step[], end: Json])[] = [
  [
    'a value that another process replaced is set again',
    [
      { by: 'one', does: { $set: { s: 'x' } }, gives: [1, 1] },
      { by: 'other', does: { $set: { s: 'y' } }, gives: [1, 1] },
      { by: 'one', does: { $set: { s: 'x' } }, gives: [1, 1] },
    ],
    { s: 'x', i: 0 },
  ],
  [
    'a document that another process deleted is not found',
    [
      { by: 'one', does: { $set: { s: 'x' } }, gives: [1, 1] },
      { by: 'other', does: 'delete', gives: [1, 1] },
      { by: 'one', does: { $set: { s: 'z' } }, gives: [0, 0] },
    ],
    null,
  ],
  [
    'what another process allows again is allowed',
    [
      { by: 'one', does: { $set: { s: 'closed' } }, gives: [1, 1] },
      { by: 'other', does: { $set: { s: 'open' } }, gives: [1, 1] },
      { by: 'one', as: CLERK, does: { $add: { i: 5 } }, gives: [1, 1] },
    ],
    { s: 'open', i: 5 },
  ],
  [
    'what another process forbids is forbidden',
    [
      { by: 'one', does: { $set: { s: 'open' } }, gives: [1, 1] },
      { by: 'other', does: { $set: { s: 'closed' } }, gives: [1, 1] },
      { by: 'one', as: CLERK, does: { $add: { i: 5 } }, gives: [0, 0] },
    ],
    { s: 'closed', i: 0 },
  ],
]

for (const [name, steps, end] of CASES) {
  test(`recent documents: ${name}`, async () => {
    await using pair = await openPair()
    for (const { by, as = BOSS, does, gives } of steps) {
      const { data } = pair[by]
      const { matchCount, modifiedCount } =
        does === 'delete'
          ? await data.delete(as, TARGET, { query: BY_ID('a') })
          : await data.update(as, TARGET, { query: BY_ID('a'), update: does })
      assert.deepEqual([matchCount, modifiedCount], gives, JSON.stringify(does))
    }
    const [found = null] = documentsOf(
      await pair.one.data.find(ADMIN, TARGET, { query: BY_ID('a'), projection: SHOWN }),
    )
    assert.deepEqual(found, end)
  })
}

const SHOWN: Json = ['s', 'i'].map((field) => ({ field, include: true }))

test(`recent documents: two processes that write in turn agree with a plain model (SMALT_SEED=${SEED})`, async () => {
  await using pair = await openPair()
  await sampleEvenly(SEED, async (chance) => {
    const model = new Map<string, { s?: string; i?: number }>([['a', { s: 'new', i: 0 }]])
    for (let step = 0; step < 400; step++) {
      const expected = apply(model, chance)
      const given = await expected.ask(chance.pick([pair.one, pair.other]))
      assert.deepEqual(given.modifiedCount, expected.modified, expected.name)
    }
    const all = documentsOf(await pair.one.data.find(ADMIN, TARGET, { projection: EVERYTHING }))
    const stored = all.map(({ _id, s, i }) => [_id, s, i])
    assert.deepEqual(
      stored,
      [...model].toSorted().map(([id, { s, i }]) => [id, s, i]),
    )
  })
})

function apply(model: Map<string, { s?: string; i?: number }>, chance: Chance) {
  const id = chance.pick(['a', 'b', 'c'])
  const s = chance.pick(['open', 'closed', 'new'])
  const query = BY_ID(id)
  const before = model.get(id)
  const kind = chance.pick(['set', 'set', 'add', 'add', 'save', 'delete'])
  const name = `${kind} ${id} ${s}`
  if (kind === 'delete') {
    const modified = model.delete(id) ? 1 : 0
    return { name, modified, ask: ({ data }: Service) => data.delete(BOSS, TARGET, { query }) }
  }
  if (kind === 'save') {
    model.set(id, { s, i: 7 })
    const modified = before?.s === s && before.i === 7 ? 0 : 1
    const body = { data: [{ _id: id, s, i: 7 }], upsert: true }
    return { name, modified, ask: ({ data }: Service) => data.save(BOSS, TARGET, body) }
  }
  const update: JsonObject = kind === 'set' ? { $set: { s } } : { $add: { i: 1 } }
  if (before) model.set(id, kind === 'set' ? { ...before, s } : { ...before, i: (before.i ?? 0) + 1 })
  const modified = before && (kind === 'add' || before.s !== s) ? 1 : 0
  return { name, modified, ask: ({ data }: Service) => data.update(BOSS, TARGET, { query, update }) }
}

const METADATA: JsonObject = {
  entityInfo: { name: ENTITY, defaultVersion: '1.0.0' },
  schema: {
    name: ENTITY,
    version: { value: '1.0.0', changelog: 'first' },
    status: { value: 'active' },
    access: {
      ...ANYONE,
      update: ['boss', { role: 'clerk', where: { field: 's', op: '=', rvalue: 'open' } }],
    },
    fields: FIELDS,
  },
}

/** Two services on one database. */
async function openPair() {
  const place = await freshPlace('postgres')
  const one = await openServiceAt(place.location)
  await one.metadata.create(ADMIN, { entity: ENTITY, version: '1.0.0' }, METADATA)
  await one.data.insert(ADMIN, TARGET, { data: [{ _id: 'a', s: 'new', i: 0 }] })
  // last, so that it knows the entity
  const other = await openServiceAt(place.location)
  return {
    one,
    other,
    async [Symbol.asyncDispose]() {
      for (const each of [one, other]) await each[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
  }
}
