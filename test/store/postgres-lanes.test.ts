/** Quick finds that share connections on PostgreSQL: each gets its own answer, and a bad neighbour costs nobody more than time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connections, type Row, openConnections } from '../../src/store/postgres/connections.ts'
import { Unshared } from '../../src/store/postgres/lane.ts'
import { type Lanes, createLanes } from '../../src/store/postgres/lanes.ts'
import { readLocation } from '../../src/store/postgres/location.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { type Pace, createPaces } from '../../src/store/postgres/paces.ts'
import type { Statement } from '../../src/store/sql/fragment.ts'
import { freshDatabase } from '../support/postgres.ts'
import { SEED } from '../support/seed.ts'
import { chanceFrom } from '../support/seeded.ts'
import { failLoudly } from '../support/service.ts'
import { freshPlace } from '../support/store-kind.ts'
import { find, index, insert, openStage } from './contract.ts'

test('paces: only what was quick alone is shared', () => {
  const paces = createPaces(() => 0)
  assert.equal(paces.quick('a'), undefined)
  paces.noteAlone('a', 49)
  paces.noteAlone('b', 51)
  assert.ok(paces.quick('a'))
  assert.equal(paces.quick('b'), undefined)
  paces.noteAlone('a', 51)
  assert.equal(paces.quick('a'), undefined)
})

test('paces: what is slow while it is shared is excluded, once or on the average', () => {
  const paces = createPaces(() => 0)
  for (const text of ['once', 'average', 'quick']) paces.noteAlone(text, 1)
  paces.quick('once')!.note(51)
  for (let i = 0; i < 10; i++) paces.quick('average')?.note(20)
  for (let i = 0; i < 1_000; i++) paces.quick('quick')!.note(i % 6)
  assert.deepEqual(
    ['once', 'average', 'quick'].map((text) => paces.quick(text) !== undefined),
    [false, false, true],
  )
  paces.excludeSlower(1)
  assert.equal(paces.quick('quick'), undefined)
})

test('paces: the exclusion ends after a run alone, and is longer each time that it comes again soon', () => {
  let now = 0
  const paces = createPaces(() => now)
  paces.noteAlone('a', 1)
  const excludedFor = (): number => {
    const since = now
    paces.quick('a')!.exclude()
    for (; !paces.quick('a'); now += 100) paces.noteAlone('a', 1)
    return now - since - 100
  }
  assert.deepEqual([excludedFor(), excludedFor(), excludedFor()], [1_000, 2_000, 4_000])
  now += 100_000
  assert.equal(excludedFor(), 1_000)
  for (let i = 0; i < 10; i++) excludedFor()
  assert.equal(excludedFor(), 60_000)
})

test('paces: not more kinds are remembered than were said', () => {
  const paces = createPaces(() => 0)
  for (let i = 0; i < 10_000; i++) paces.noteAlone(`select ${i}`, 1)
  const remembered = Array.from({ length: 10_000 }, (_, i) => paces.quick(`select ${i}`)).filter(Boolean)
  assert.ok(remembered.length > 0 && remembered.length <= 500, `${remembered.length}`)
})

async function connected(work: (connections: Connections) => Promise<void>): Promise<void> {
  await using database = await freshDatabase()
  await using connections = openConnections(readLocation(database.url), failLoudly)
  await work(connections)
}

const plain = (text: string): Statement => ({ text, values: [] })
const doubled = (n: number): Statement => ({ text: 'select $1::bigint * 2, pg_backend_pid()', values: [n] })

function watchedPace(): Pace & { readonly noted: number[]; excluded: number } {
  const pace = {
    noted: [] as number[],
    excluded: 0,
    note: (ms: number) => void pace.noted.push(ms),
    exclude: () => void pace.excluded++,
  }
  return pace
}

test('lane: statements at once have their own answers, and one that fails fails alone', async () => {
  await connected(async (connections) => {
    const { lane, release } = await connections.lane()
    const pace = watchedPace()
    for (let round = 0; round < 3; round++) {
      const asked = Array.from({ length: 50 }, (_, i) =>
        lane.ask(i % 7 === 3 ? plain(`select 1 / (${i} - ${i})`) : doubled(i), pace),
      )
      assert.equal(lane.underWay, 50)
      for (const [i, settled] of (await Promise.allSettled(asked)).entries()) {
        if (i % 7 === 3) assert.ok(settled.status === 'rejected' && settled.reason instanceof Unshared)
        else assert.equal(settled.status === 'fulfilled' && settled.value[0]![0], String(2 * i))
      }
    }
    assert.deepEqual([lane.underWay, lane.answered, lane.isBroken, pace.noted.length], [0, 150, false, 150])
    release()
  })
})

test('lane: a statement of which all that wait share the name may fail to be prepared, and works for the next', async () => {
  await connected(async (connections) => {
    const { lane, release } = await connections.lane()
    const pace = watchedPace()
    const absent = plain('select n from comes_later')
    for (let round = 0; round < 3; round++) {
      const settled = await Promise.allSettled([1, 2, 3].map(() => lane.ask(absent, pace)))
      assert.ok(settled.every(({ status }) => status === 'rejected'))
    }
    await connections.ask(plain('create table public.comes_later as select 7 as n'))
    const qualified = plain('select n from public.comes_later')
    for (let round = 0; round < 3; round++)
      assert.deepEqual(await Promise.all([1, 2, 3].map(() => lane.ask(qualified, pace))), [
        [['7']],
        [['7']],
        [['7']],
      ])
    release()
  })
})

test('lane: an answer that is too large is refused, and those behind it come', async () => {
  await connected(async (connections) => {
    const { lane, release } = await connections.lane()
    const pace = watchedPace()
    const large = plain(`select repeat('x', 1000), generate_series(1, 2000)`)
    const [first, second] = await Promise.allSettled([lane.ask(large, pace), lane.ask(doubled(2), pace)])
    assert.ok(first.status === 'rejected' && first.reason instanceof Unshared)
    assert.equal(second.status === 'fulfilled' && second.value[0]![0], '4')
    assert.equal(pace.excluded, 1)
    release()
  })
})

test('lane: what is under way when the connection ends fails so that it can be asked elsewhere', async () => {
  await connected(async (connections) => {
    const { lane, release } = await connections.lane()
    const pace = watchedPace()
    const [[, backend]] = (await lane.ask(doubled(1), pace)) as [Row]
    const asked = [plain('select pg_sleep(20)'), doubled(1), doubled(2)].map((each) => lane.ask(each, pace))
    const settling = Promise.allSettled(asked)
    await connections.ask({ text: 'select pg_terminate_backend($1::int)', values: [backend!] })
    for (const settled of await settling)
      assert.ok(settled.status === 'rejected' && settled.reason instanceof Unshared)
    assert.ok(lane.isBroken)
    release()
  })
})

test('lane: one that is released with work under way ends it on the server', async () => {
  await connected(async (connections) => {
    const { lane, release } = await connections.lane()
    const asked = lane.ask(plain('select pg_sleep(200)'), watchedPace())
    await untilSleeping(connections, 1)
    release()
    await assert.rejects(asked, Unshared)
    await untilSleeping(connections, 0)
  })
})

async function untilSleeping(connections: Connections, count: number): Promise<void> {
  const text = `select count(*) from pg_stat_activity
    where query like 'select pg_sleep%' and state = 'active' and datname = current_database()`
  for (let i = 0; i < 1_000; i++) {
    const [row] = await connections.ask(plain(text))
    if (row![0] === String(count)) return
    await sleep(20)
  }
  assert.fail(`never ${count} asleep`)
}

/** Counts how finds were done. */
interface Tally {
  shared: number
  alone: number
}

interface Sharing {
  readonly lanes: Lanes
  readonly connections: Connections
  readonly tally: Tally
  readonly timeLimitMs?: number
}

function shareOn({ lanes, connections, tally, timeLimitMs = 20_000 }: Sharing, statement: Statement) {
  return lanes.share<readonly Row[]>({
    text: statement.text,
    bounds: { timeLimitMs },
    shared: (session) => {
      tally.shared++
      return session.ask(statement)
    },
    alone: () => {
      tally.alone++
      return connections.ask(statement)
    },
  })
}

async function sharing(work: (sharing: Sharing) => Promise<void>): Promise<void> {
  await connected(async (connections) => {
    using lanes = createLanes(connections.lane)
    await work({ lanes, connections, tally: { shared: 0, alone: 0 } })
  })
}

/** Several at once, again and again, until they are shared. */
async function untilShared(sharing: Sharing, statement: Statement): Promise<void> {
  const { tally } = sharing
  for (let i = 0; i < 3_000; i++) {
    const before = tally.shared
    await Promise.all(Array.from({ length: 4 }, () => shareOn(sharing, statement)))
    if (tally.shared >= before + 4) return
    await sleep(10)
  }
  assert.fail('never shared')
}

test('lanes: one find at a time has a connection of its own, many at once share few', async () => {
  await sharing(async (context) => {
    const { tally } = context
    for (let i = 0; i < 10; i++) await shareOn(context, doubled(i))
    assert.deepEqual(tally, { shared: 0, alone: 10 })
    await untilShared(context, doubled(0))
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => shareOn(context, doubled(i))))
    assert.deepEqual(
      answers.map(([row]) => row![0]),
      Array.from({ length: 60 }, (_, i) => String(2 * i)),
    )
    assert.ok(new Set(answers.map(([row]) => row![1])).size < 30)
  })
})

test('lanes: what is allowed little time is not shared', async () => {
  await sharing(async (context) => {
    await untilShared(context, doubled(0))
    const tally = { shared: 0, alone: 0 }
    await Promise.all([1, 2, 3, 4].map((n) => shareOn({ ...context, tally, timeLimitMs: 1_999 }, doubled(n))))
    assert.deepEqual(tally, { shared: 0, alone: 4 })
  })
})

test('lanes: a find that turns out slow is done alone, and so are those that waited behind it', async () => {
  await sharing(async (context) => {
    const slept = (seconds: number): Statement => ({
      text: 'select $1::text from pg_sleep($1::float8)',
      values: [String(seconds)],
    })
    await untilShared(context, slept(0))
    const tally = { shared: 0, alone: 0 }
    const counted = { ...context, tally }
    const answers = await Promise.all([
      shareOn(counted, slept(1)),
      ...Array.from({ length: 8 }, (_, i) => shareOn(counted, doubled(i))),
      ...Array.from({ length: 8 }, () => shareOn(counted, slept(0))),
    ])
    assert.deepEqual(
      answers.map(([row]) => row![0]),
      ['1', ...Array.from({ length: 8 }, (_, i) => String(2 * i)), ...Array.from({ length: 8 }, () => '0')],
    )
    // the eight that are not known yet, the slow one, and at least one that waited behind it
    assert.ok(tally.alone >= 10, `${tally.alone} were done alone`)
    const { shared } = tally
    await shareOn(counted, slept(0))
    assert.equal(tally.shared, shared)
  })
})

test('lanes: finds are answered while their connections are cut again and again', async () => {
  await connected(async (connections) => {
    const backends: string[] = []
    const lease = async () => {
      const leased = await connections.lane()
      const [row] = await leased.lane.ask(plain('select pg_backend_pid()'), watchedPace())
      backends.push(row![0]!)
      return leased
    }
    using lanes = createLanes(lease)
    const context = { lanes, connections, tally: { shared: 0, alone: 0 } }
    for (let round = 0; round < 10; round++) {
      await untilShared(context, doubled(0))
      const asked = Promise.all(Array.from({ length: 40 }, (_, i) => shareOn(context, doubled(i))))
      const text = 'select pg_terminate_backend(pid::int) from unnest($1::text[]) as pid'
      await connections.quick.ask({ text, values: [`{${backends.splice(0).join(',')}}`] })
      assert.deepEqual(
        (await asked).map(([row]) => row![0]),
        Array.from({ length: 40 }, (_, i) => String(2 * i)),
      )
      // some of them on a connection that is cut already
      await Promise.all(Array.from({ length: 40 }, (_, i) => shareOn(context, doubled(i))))
    }
  })
})

test('lanes: where no connection can be had, finds are done alone', async () => {
  await connected(async (connections) => {
    let leases = 0
    const lease = async (): Promise<never> => {
      leases++
      throw new Error('none left')
    }
    using lanes = createLanes(lease)
    const tally = { shared: 0, alone: 0 }
    for (let round = 0; round < 5; round++)
      await Promise.all([1, 2, 3, 4].map((n) => shareOn({ lanes, connections, tally }, doubled(n))))
    assert.deepEqual(tally, { shared: 0, alone: 20 })
    assert.ok(leases > 0)
  })
})

test('lanes: connections that nobody uses any more are given back, and those in use when all ends', async () => {
  await connected(async (connections) => {
    const held = new Set<object>()
    const lease = async () => {
      const leased = await connections.lane()
      held.add(leased)
      const release = () => {
        held.delete(leased)
        leased.release()
      }
      return { ...leased, release }
    }
    const lanes = createLanes(lease)
    const context = { lanes, connections, tally: { shared: 0, alone: 0 } }
    await untilShared(context, doubled(0))
    for (let i = 0; held.size > 0; i++) {
      assert.ok(i < 1_000, 'never given back')
      await sleep(20)
    }
    await untilShared(context, doubled(0))
    assert.ok(held.size > 0)
    lanes[Symbol.dispose]()
    assert.equal(held.size, 0)
  })
})

test(`postgres: finds at once answer what each would alone, and see what was just written (seed ${SEED})`, async () => {
  const open = {
    freshPlace: () => freshPlace('postgres'),
    openAt: async (url: string) => openPostgresStore({ url }),
  }
  await using stage = await openStage(open, [index(['s'])])
  const { store } = stage
  const documents = Array.from({ length: 300 }, (_, i) => ({ _id: `d${i}`, s: `s${i % 20}`, i }))
  await insert(store, JSON.stringify(documents))
  const chance = chanceFrom(SEED)
  const queries = [
    () => ({ field: 's', op: '=', rvalue: `s${chance(25)}` }),
    () => ({ field: 's', op: '$in', values: [`s${chance(25)}`, `s${chance(25)}`] }),
    () => ({ field: 'i', op: '<', rvalue: chance(300) }),
  ]
  const makeAsked = () => {
    const from = chance(5)
    const query = { $and: [{ field: '_id', op: '<', rvalue: 'w' }, queries[chance(queries.length)]!()] }
    return {
      query,
      sort: { i: chance(2) ? '$asc' : '$desc' },
      from,
      to: from + chance(30),
      counted: chance(2) === 0,
    }
  }
  const asked = Array.from({ length: 60 }, makeAsked)
  const expected = []
  for (const each of asked) expected.push(await find(store, each))
  for (let round = 0; round < 25; round++) {
    const found = asked.map((each) => find(store, each))
    const written = Array.from({ length: 4 }, async (_, i) => {
      const s = `w${round}-${i}`
      await insert(store, JSON.stringify([{ _id: s, s, i: -1 }]))
      return (await find(store, { query: { field: 's', op: '=', rvalue: s } })).documents.map(({ id }) => id)
    })
    assert.deepEqual(await Promise.all(found), expected)
    assert.deepEqual(
      await Promise.all(written),
      Array.from({ length: 4 }, (_, i) => [`w${round}-${i}`]),
    )
  }
})
