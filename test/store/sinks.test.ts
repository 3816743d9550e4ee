/** What a store promises of sinks, on both kinds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { NewItem, SinkResults, SinkProgress, SinkStore } from '../../src/store/sinks.ts'
import type { StoreKind } from '../../src/store/store.ts'
import { openRelay } from '../support/relay.ts'
import { type SinkDatasource, openSinks, sinkPlace } from '../service/sinks/stores.ts'

const BOUNDED = { timeout: 200_000 }
const START: SinkProgress = { position: 0, isDisabled: false, failures: 0, retryAt: 0 }
const NOTHING: SinkResults = { version: 1, progress: START, entered: [], changed: [], removed: [] }
const ME = { name: 'a', owner: 'me' }
const YOU = { name: 'a', owner: 'you' }

function item(seq: number, more: Partial<NewItem> = {}): NewItem {
  const state = { state: 'waiting', attempts: 0, nextAt: 0, error: '', at: 1_000 + seq } as const
  return { seq, id: `event-${seq}`, doc: 'e/d', ...state, event: `{"seq":${seq},"ä":"\\u0000"}`, ...more }
}

function bare({ id: _id, event: _event, ...rest }: NewItem): Omit<NewItem, 'id' | 'event'> {
  return rest
}

interface Stage {
  readonly store: SinkStore
  readonly place: SinkDatasource
}

for (const kind of ['sqlite', 'postgres'] as const) {
  const check = (name: string, work: (stage: Stage) => Promise<void>): void => {
    test(`${name} (${kind})`, BOUNDED, () => onStage(kind, work))
  }

  check('create: a name is given once', async ({ store }) => {
    assert.equal(await store.create({ name: 'a', definition: '{"x":1}', position: 7 }), false)
    assert.equal(await store.create({ name: 'b', definition: '{}', position: 9 }), true)
    const records = await store.list()
    assert.deepEqual(
      records.map(({ name, definition, progress }) => [name, definition, progress.position]),
      [
        ['a', '{}', 0],
        ['b', '{}', 9],
      ],
    )
    assert.deepEqual(await store.read('a'), { name: 'a', definition: '{}', version: 1, progress: START })
    assert.equal(await store.read('c'), undefined)
  })

  check('hold: one at a time, until it is released or over', async ({ store }) => {
    assert.ok(await store.hold({ ...ME, ttlMs: 60_000 }))
    assert.equal(await store.hold({ ...YOU, ttlMs: 60_000 }), undefined)
    await store.release(YOU)
    assert.equal(await store.hold({ ...YOU, ttlMs: 60_000 }), undefined, 'others cannot release it')
    await store.release(ME)
    // so long that no machine is busy for longer between two steps
    for (let i = 0; i < 5; i++) {
      const held = await store.hold({ ...ME, ttlMs: 3_000 })
      assert.ok(held && held.heldMs > 0 && held.heldMs <= 3_000)
      assert.equal(await store.hold({ ...YOU, ttlMs: 60_000 }), undefined)
      await sleep(700)
    }
    await sleep(3_100)
    assert.ok(await store.hold({ ...YOU, ttlMs: 60_000 }))
    assert.equal(await store.hold({ ...ME, ttlMs: 60_000 }), undefined)
    await store.release(YOU)
    assert.ok(await store.hold({ ...ME, ttlMs: 60_000 }))
    assert.equal(await store.hold({ name: 'missing', owner: 'me', ttlMs: 60_000 }), undefined)
  })

  check('hold: of many at the same time one gets it', async ({ place }) => {
    await using other = await place.open()
    await using another = await place.open()
    const owners = Array.from({ length: 20 }, (_, i) => `owner-${i}`)
    const held = await Promise.all(
      owners.map((owner, i) => (i % 2 ? other : another).hold({ name: 'a', owner, ttlMs: 60_000 })),
    )
    assert.equal(held.filter((each) => each !== undefined).length, 1)
  })

  check('renew: a lease that was lost is not taken again', async ({ store }) => {
    assert.equal(await store.renew({ ...ME, ttlMs: 60_000 }), undefined, 'there was none')
    await store.hold({ ...ME, ttlMs: 200 })
    await sleep(300)
    assert.ok(await store.renew({ ...ME, ttlMs: 200 }), 'it is over, but nobody took it')
    await sleep(300)
    await store.hold({ ...YOU, ttlMs: 60_000 })
    assert.equal(await store.renew({ ...ME, ttlMs: 60_000 }), undefined, 'somebody else has it')
    await store.release(YOU)
    assert.equal(await store.renew({ ...ME, ttlMs: 60_000 }), undefined, 'somebody else had it')
    await store.hold({ ...ME, ttlMs: 60_000 })
    await store.remove('a')
    await store.create({ name: 'a', definition: '{}', position: 0 })
    assert.equal(await store.renew({ ...ME, ttlMs: 60_000 }), undefined, 'another has its name')
    assert.ok(await store.hold({ ...YOU, ttlMs: 60_000 }))
  })

  check('settle: all of it, for whoever holds the sink', async ({ store }) => {
    await store.hold({ ...ME, ttlMs: 60_000 })
    const progress = { position: 12, isDisabled: false, failures: 3, retryAt: 44 }
    const changes = { version: 1, progress, entered: [item(3), item(5), item(12)], changed: [], removed: [] }
    assert.equal(await store.recordResults(ME, changes), true)
    const changed = { ...item(5), state: 'dead', attempts: 12, nextAt: 9, error: 'status 500' } as const
    const more = { version: 1, progress, entered: [item(20)], changed: [bare(changed)], removed: [3] }
    assert.equal(await store.recordResults(ME, more), true)
    assert.deepEqual(await store.readItems('a'), [bare(changed), bare(item(12)), bare(item(20))])
    assert.deepEqual((await store.read('a'))!.progress, progress)
    assert.deepEqual(
      await store.readItemEvents('a', [20, 5, 99]),
      new Map([5, 20].map((n) => [n, item(n).event])),
    )
  })

  if (kind === 'postgres')
    check('settle: nothing of it, when the lease is over, though an answer arrived late', async (stage) => {
      const { place, store } = stage
      await using relay = await openRelay(place.location)
      await using late = openSinks(relay.url)
      const delayed = relay.delayAt('clock_timestamp')
      const holding = late.hold({ ...ME, ttlMs: 60_000 })
      const pass = await delayed
      await sleep(1_500)
      pass()
      assert.ok(await holding)
      assert.ok(await store.hold({ ...ME, ttlMs: 300 }))
      await sleep(400)
      assert.equal(await late.recordResults(ME, { ...NOTHING, entered: [item(1)] }), false)
      assert.deepEqual(await late.readItems('a'), [])
    })

  check('settle: nothing of it, when the sink is not held any more', async ({ store }) => {
    const progress = { ...START, position: 5 }
    const changes = { version: 1, progress, entered: [item(1)], changed: [], removed: [] }
    assert.equal(await store.recordResults(ME, changes), false, 'it never was')
    await store.hold({ ...ME, ttlMs: 200 })
    await sleep(300)
    assert.equal(await store.recordResults(ME, changes), false, 'it is over')
    await store.hold({ ...YOU, ttlMs: 60_000 })
    assert.equal(await store.recordResults(ME, changes), false, 'somebody else has it')
    await store.remove('a')
    assert.equal(await store.recordResults(YOU, changes), false, 'it is gone')
    await store.create({ name: 'a', definition: '{}', position: 0 })
    assert.equal(await store.recordResults(YOU, changes), false, 'another has its name')
    assert.deepEqual([await store.readItems('a'), (await store.read('a'))!.progress], [[], START])
  })

  check('settle: a disabled sink is held by nobody until it is replaced', async ({ store }) => {
    await store.hold({ ...ME, ttlMs: 60_000 })
    await store.recordResults(ME, {
      ...NOTHING,
      progress: { ...START, isDisabled: true, failures: 9, position: 4 },
    })
    await store.release(ME)
    assert.equal(await store.hold({ ...YOU, ttlMs: 60_000 }), undefined)
    assert.equal(await store.replace((await store.read('a'))!, '{"new":true}'), true)
    const held = await store.hold({ ...YOU, ttlMs: 60_000 })
    assert.deepEqual(held, {
      name: 'a',
      definition: '{"new":true}',
      version: 2,
      progress: { ...START, position: 4 },
      heldMs: 60_000,
    })
  })

  check('replace: nothing, when the sink is not the one that was read', async ({ store, place }) => {
    await using other = await place.open()
    const read = (await store.read('a'))!
    assert.equal(await store.replace({ ...read, name: 'missing' }, '{"b":1}'), false)
    assert.equal(await other.replace(read, '{"a":1}'), true)
    assert.equal(await store.replace(read, '{"b":1}'), false)
    const replaced = (await store.read('a'))!
    assert.deepEqual([replaced.definition, replaced.version], ['{"a":1}', 2])
    await store.remove('a')
    assert.equal(await other.replace(replaced, '{"b":1}'), false)
    await store.create({ name: 'a', definition: '{"new":true}', position: 0 })
    assert.equal(await other.replace(read, '{"b":1}'), false, 'the new one has the same version')
    assert.equal((await store.read('a'))!.definition, '{"new":true}')
  })

  check('settle: a sink that was replaced is not disabled', async ({ store }) => {
    await store.hold({ ...ME, ttlMs: 60_000 })
    await store.replace((await store.read('a'))!, '{"new":true}')
    const gone = { ...NOTHING, progress: { ...START, isDisabled: true }, entered: [item(1)] }
    assert.equal(await store.recordResults(ME, gone), false)
    assert.deepEqual([await store.readItems('a'), (await store.read('a'))!.progress], [[], START])
    assert.equal(await store.recordResults(ME, { ...NOTHING, entered: [item(1)] }), true)
    assert.equal(await store.recordResults(ME, { ...gone, entered: [], version: 2 }), true)
  })

  check('dead letters: listed in pages, and inspected with what waits for them', async ({ store }) => {
    await withDead(store)
    const all = await store.listDead('a', { since: 0, limit: 10 })
    assert.deepEqual(
      all.map(({ seq, id, held, error, at }) => [seq, id, held, error, at]),
      [
        [1, 'event-1', 2, 'status 500', 1_001],
        [4, 'event-4', 0, 'timed out', 1_004],
      ],
    )
    assert.deepEqual(await store.listDead('a', { since: 1, limit: 10 }), all.slice(1))
    assert.deepEqual(await store.listDead('a', { since: 0, limit: 1 }), all.slice(0, 1))
    const { begin, ...head } = all[1]!
    assert.deepEqual(await store.readDead('a', 'event-4'), { ...head, event: item(4).event })
    assert.equal(begin, item(4).event.slice(0, 2_000))
    assert.equal(await store.readDead('a', 'event-2'), undefined, 'what waits is not dead')
    assert.equal(await store.readDead('b', 'event-4'), undefined)
  })

  check('dead letters: their size is known without reading them', async ({ store }) => {
    await withDead(store)
    const [first, fourth] = [1, 4].map((seq) => Buffer.byteLength(item(seq).event))
    const sizeOf = (letters: Parameters<SinkStore['measureDead']>[1]): Promise<number> =>
      store.measureDead('a', letters)
    assert.equal(await sizeOf({ since: 0, limit: 10 }), first! + fourth!)
    assert.equal(await sizeOf({ since: 0, limit: 1 }), first)
    assert.equal(await sizeOf({ since: 1, limit: 10 }), fourth)
    assert.equal(await sizeOf({ id: 'event-4' }), fourth)
    assert.equal(await sizeOf({ id: 'event-2' }), 0)
  })

  check('dead letters: one is redriven, or all', async ({ store }) => {
    await withDead(store)
    const { version } = (await store.read('a'))!
    assert.deepEqual([await store.redrive('a', 'event-2'), await store.redrive('b')], [0, 0])
    assert.equal((await store.read('a'))!.version, version, 'nothing happened')
    assert.equal(await store.redrive('a', 'event-4'), 1)
    assert.equal((await store.read('a'))!.version, version + 1)
    const redriven = (await store.readItems('a')).find(({ seq }) => seq === 4)!
    assert.deepEqual([redriven.state, redriven.attempts, redriven.nextAt], ['waiting', 0, 0])
    assert.equal(await store.redrive('a'), 1)
    assert.deepEqual(await store.listDead('a', { since: 0, limit: 10 }), [])
  })

  check('dead letters: one is discarded', async ({ store }) => {
    await withDead(store)
    const { version } = (await store.read('a'))!
    assert.deepEqual(
      [await store.discard('a', 'event-2'), await store.discard('a', 'event-1')],
      [false, true],
    )
    assert.equal(await store.discard('a', 'event-1'), false)
    assert.deepEqual(
      (await store.readItems('a')).map(({ seq }) => seq),
      [2, 3, 4],
    )
    assert.equal((await store.read('a'))!.version, version + 1)
  })

  check('remove: a sink goes with its items, and no other', async ({ store }) => {
    await withDead(store)
    await store.create({ name: 'b', definition: '{}', position: 0 })
    await store.hold({ name: 'b', owner: 'me', ttlMs: 60_000 })
    await store.recordResults({ name: 'b', owner: 'me' }, { ...NOTHING, entered: [item(1)] })
    assert.deepEqual([await store.remove('a'), await store.remove('a')], [true, false])
    assert.deepEqual([(await store.readItems('a')).length, (await store.readItems('b')).length], [0, 1])
  })
}

test('hold: who opens a file of SQLite finds its sinks free', BOUNDED, async () => {
  await using place = await sinkPlace('sqlite')
  await using store = await place.open()
  await store.create({ name: 'a', definition: '{}', position: 0 })
  await store.hold({ ...ME, ttlMs: 60_000 })
  await using next = openSinks(place.location)
  assert.ok(await next.hold({ ...YOU, ttlMs: 60_000 }))
  assert.equal(await store.recordResults(ME, NOTHING), false)
})

async function onStage(kind: StoreKind, work: (stage: Stage) => Promise<void>): Promise<void> {
  await using place = await sinkPlace(kind)
  await using store = await place.open()
  await store.create({ name: 'a', definition: '{}', position: 0 })
  await work({ store, place })
}

/** 1 is dead, with 2 and 3 behind it; 4, of another document, is dead. */
async function withDead(store: SinkStore): Promise<void> {
  await store.hold({ ...ME, ttlMs: 60_000 })
  const dead = { state: 'dead', attempts: 12 } as const
  const entered = [
    item(1, { ...dead, error: 'status 500' }),
    item(2),
    item(3),
    item(4, { ...dead, error: 'timed out', doc: 'e/other' }),
  ]
  await store.recordResults(ME, { ...NOTHING, entered })
}
