/** Two processes that write the same documents leave one past: a chain of changes in which nothing is missing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WritePlan } from '../../src/plan/plan.ts'
import type { HistoryVersion } from '../../src/store/history.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'
import { sampleEvenly } from '../support/chance.ts'
import { SEED } from '../support/seed.ts'
import { freshPlace } from '../support/store-kind.ts'
import { SCHEMA, index, write } from './contract.ts'
import { byId, deletion, insertion, saving, setting } from './past.ts'

const { collection } = SCHEMA
const BOUNDS = { timeLimitMs: 30_000 }
const IDS = ['a', 'b', 'c']

for (const [name, indexes] of [
  ['without indexes', []],
  ['with a unique index', [index(['i'], true)]],
] as const) {
  test(`past: two processes race and leave one chain of changes, ${name}`, { timeout: 400_000 }, async () => {
    await using place = await freshPlace('postgres')
    await using early = openPostgresStore({ url: place.location })
    // the clock of one process is late; it is the one by which history begins
    await using late = openPostgresStore({ url: place.location, now: () => Date.now() * 1000 - 40_000 })
    await late.metadata.prepareCollection({ collection, indexes, paths: ['s'], history: true })
    await early.metadata.readMetadata()
    const counts = await Promise.all([early, late, early, late].map((store, i) => race(store, SEED + i)))
    const changes = counts.reduce((sum, each) => sum + each, 0)
    assert.ok(changes > 100, `only ${changes} changes`)
    let kept = 0
    for (const id of IDS) kept += await checkChain(early, id)
    assert.equal(kept, changes)
  })
}

test('past: a process that has not heard of it yet keeps the past all the same', async () => {
  await using place = await freshPlace('postgres')
  await using one = openPostgresStore({ url: place.location })
  await using other = openPostgresStore({ url: place.location })
  const definition = { collection, indexes: [], paths: ['s'] }
  await one.metadata.prepareCollection(definition)
  await other.metadata.readMetadata()
  await write(other, insertion([{ _id: 'a', s: 'before' }]))
  await one.metadata.prepareCollection({ ...definition, history: true })
  await write(other, setting(byId('a'), 'after'))
  await write(other, insertion([{ _id: 'b', s: 'after' }]))
  await one.metadata.prepareCollection(definition)
  await write(other, setting(byId('a'), 'no more'))
  const seen: (string | undefined)[] = []
  for (const id of ['a', 'b']) {
    const request = { collection, id, idType: 'string' } as const
    for await (const { change } of other.readHistory(request, BOUNDS)) seen.push(change?.operation)
  }
  assert.deepEqual(seen, [undefined, undefined, 'insert'])
})

/** Gives the number of changes. */
async function race(store: Store, seed: number): Promise<number> {
  let changes = 0
  for (let i = 0; i < 120; i++) {
    const plan = sampleEvenly(seed * 1_000 + i, (chance): WritePlan => {
      const id = chance.pick(IDS)
      const all = { field: '_id', op: '!=', rvalue: null }
      const document = { _id: id, s: `${seed}/${i}`, i: chance.int(100) }
      const makers: readonly (() => WritePlan)[] = [
        () => insertion([document]),
        () => insertion(IDS.map((_id) => ({ _id, s: `${seed}/${i}` }))),
        () => setting(byId(id), `${seed}/${i}`),
        () => setting(all, `${seed}/${i}`),
        () => saving(document),
        () => deletion(byId(id)),
        () => deletion(byId(id)),
        () => deletion(all),
      ]
      return chance.pick(makers)()
    })
    const isTogether = i % 10 === 0
    const { outcomes } = isTogether
      ? await store.transact((session) => write(session, plan))
      : await write(store, plan)
    changes += outcomes.filter(({ kind }) => ['inserted', 'updated', 'deleted'].includes(kind)).length
  }
  return changes
}

/** Versions rise, each is made by a change that fits the one before, and at any moment there is one document at most. */
async function checkChain(store: Store, id: string): Promise<number> {
  const versions: HistoryVersion[] = []
  for await (const each of store.readHistory({ collection, id, idType: 'string' }, BOUNDS))
    versions.push(each)
  let last: HistoryVersion | undefined
  for (const each of versions) {
    assert.ok(each.change, `version ${each.version} of ${id} was made by nobody`)
    assert.ok(!last || last.version < each.version)
    const isThere = last !== undefined && last.change!.operation !== 'delete'
    assert.equal(each.change.operation === 'insert', !isThere, `${each.change.operation} of ${id}`)
    last = each
  }
  for (const { version, change, document } of versions) {
    const found: string[] = []
    const plan = { collection, sort: [], from: 0, counted: false, idType: 'string' } as const
    await store.find({ ...plan, asOf: version }, ({ text }) => found.push(text), BOUNDS)
    const own = found.filter((text) => text.startsWith(`{"_id":"${id}"`))
    assert.deepEqual(own, change!.operation === 'delete' ? [] : [document.text])
  }
  return versions.length
}
