/** Quick finds that share connections on PostgreSQL: each gets its own answer, and a bad neighbour costs nobody more than time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Connections,
  type Row,
  openConnections,
} from '../../src/store/postgres/connection/connections.ts'
import { NotPipelined, type Pipeline } from '../../src/store/postgres/connection/pipeline.ts'
import { PIPELINES } from '../../src/store/postgres/connection/pipeline-pool.ts'
import { type Pipelining, createPipelining } from '../../src/store/postgres/connection/pipelining.ts'
import { readLocation } from '../../src/store/postgres/connection/location.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Latency } from '../../src/store/postgres/connection/statement-latency.ts'
import type { Statement } from '../../src/store/sql/fragment.ts'
import { freshDatabase, rowsOf } from '../support/postgres.ts'
import { SEED } from '../support/seed.ts'
import { chanceFrom } from '../support/seeded.ts'
import { failLoudly } from '../support/service.ts'
import { freshPlace } from '../support/store-kind.ts'
import { find, index, insert, openStage } from './contract.ts'

async function connected(work: (connections: Connections) => Promise<void>): Promise<void> {
  await using database = await freshDatabase()
  const location = readLocation(database.url)
  await using connections = openConnections(location, failLoudly)
  await connections.query(plain(`create schema ${location.schema}`))
  await work(connections)
}

async function leasedLane(connections: Connections): Promise<{ readonly pipeline: Pipeline } & Disposable> {
  const { pipeline, release } = await connections.leasePipeline()
  return { pipeline, [Symbol.dispose]: release }
}

const plain = (text: string): Statement => ({ text, values: [] })
const doubled = (n: number): Statement => ({ text: 'select $1::bigint * 2, pg_backend_pid()', values: [n] })

function watchedPace(): Latency & { readonly noted: number[]; excluded: number } {
  const latency = {
    noted: [] as number[],
    excluded: 0,
    note: (ms: number) => void latency.noted.push(ms),
    exclude: () => void latency.excluded++,
  }
  return latency
}

test('pipeline: statements at once have their own answers, and one that fails fails alone', async () => {
  await connected(async (connections) => {
    using leased = await leasedLane(connections)
    const { pipeline } = leased
    const latency = watchedPace()
    for (let round = 0; round < 3; round++) {
      const asked = Array.from({ length: 50 }, (_, i) =>
        pipeline.query(i % 7 === 3 ? plain(`select 1 / (${i} - ${i})`) : doubled(i), latency),
      )
      assert.equal(pipeline.inFlight, 50)
      for (const [i, settled] of (await Promise.allSettled(asked)).entries()) {
        if (i % 7 === 3) assert.ok(settled.status === 'rejected' && settled.reason instanceof NotPipelined)
        else assert.equal(settled.status === 'fulfilled' && settled.value[0]![0], String(2 * i))
      }
    }
    assert.deepEqual(
      [pipeline.inFlight, pipeline.answered, pipeline.isBroken, latency.noted.length],
      [0, 150, false, 150],
    )
    assert.equal(latency.excluded, 3 * 7)
    await sleep(1_000)
    await pipeline.query(doubled(1), latency)
    assert.ok(latency.noted.at(-1)! < 1_000, 'the time before it was asked counts, too')
  })
})

test('pipeline: a statement of which all that wait share the name may fail to be prepared, and works for the next', async () => {
  await connected(async (connections) => {
    using leased = await leasedLane(connections)
    const { pipeline } = leased
    const latency = watchedPace()
    const absent = plain('select n from comes_later')
    for (let round = 0; round < 3; round++) {
      const settled = await Promise.allSettled([1, 2, 3].map(() => pipeline.query(absent, latency)))
      assert.ok(settled.every(({ status }) => status === 'rejected'))
    }
    await connections.query(plain('create table comes_later as select 7 as n'))
    for (let round = 0; round < 3; round++)
      assert.deepEqual(await Promise.all([1, 2, 3].map(() => pipeline.query(absent, latency))), [
        [['7']],
        [['7']],
        [['7']],
      ])
  })
})

test('pipeline: an answer that is too large is refused, and those behind it come', async () => {
  await connected(async (connections) => {
    using leased = await leasedLane(connections)
    const { pipeline } = leased
    const latency = watchedPace()
    const large = plain(`select repeat('x', 1000), generate_series(1, 2000)`)
    const [first, second] = await Promise.allSettled([
      pipeline.query(large, latency),
      pipeline.query(doubled(2), latency),
    ])
    assert.ok(first.status === 'rejected' && first.reason instanceof NotPipelined)
    assert.equal(second.status === 'fulfilled' && second.value[0]![0], '4')
    assert.equal(latency.excluded, 1)
  })
})

test('pipeline: what is under way when the connection ends fails so that it can be asked elsewhere', async () => {
  await connected(async (connections) => {
    using leased = await leasedLane(connections)
    const { pipeline } = leased
    const latency = watchedPace()
    const [[, backend]] = (await pipeline.query(doubled(1), latency)) as [Row]
    const asked = [plain('select pg_sleep(20)'), doubled(1), doubled(2)].map((each) =>
      pipeline.query(each, latency),
    )
    const settling = Promise.allSettled(asked)
    await connections.query({ text: 'select pg_terminate_backend($1::int)', values: [backend!] })
    for (const settled of await settling)
      assert.ok(settled.status === 'rejected' && settled.reason instanceof NotPipelined)
    assert.ok(pipeline.isBroken)
  })
})

test('pipeline: one that is released with work under way ends it on the server, and excludes what was slow', async () => {
  await connected(async (connections) => {
    const { pipeline, release } = await connections.leasePipeline()
    const [[backend]] = (await pipeline.query(plain('select pg_backend_pid()'), watchedPace())) as [Row]
    const [slow, behind] = [watchedPace(), watchedPace()]
    const asked = Promise.all([
      assert.rejects(pipeline.query(plain('select pg_sleep(200)'), slow), NotPipelined),
      assert.rejects(pipeline.query(doubled(1), behind), NotPipelined),
    ])
    await until(connections, { backend: backend!, isActive: true })
    await sleep(100)
    release()
    await asked
    assert.deepEqual([slow.excluded, behind.excluded], [1, 0])
    await until(connections, { backend: backend!, isActive: false })
  })
})

async function until(
  connections: Connections,
  { backend, isActive }: { readonly backend: string; readonly isActive: boolean },
): Promise<void> {
  const text = `select count(*) > 0 from pg_stat_activity where pid = $1::int and state = 'active'`
  for (let i = 0; i < 1_000; i++) {
    const [row] = await connections.query({ text, values: [backend] })
    if (row![0] === (isActive ? 't' : 'f')) return
    await sleep(20)
  }
  assert.fail(`never ${isActive ? 'active' : 'done'}`)
}

/** Counts how finds were done. */
interface Tally {
  shared: number
  alone: number
}

interface Sharing {
  readonly pipelines: Pipelining
  readonly connections: Connections
  readonly tally: Tally
  readonly timeLimitMs?: number
}

function shareOn({ pipelines, connections, tally, timeLimitMs = 20_000 }: Sharing, statement: Statement) {
  return pipelines.run<readonly Row[]>({
    kind: statement.text,
    bounds: { timeLimitMs },
    pipelined: (session) => {
      tally.shared++
      return session.query(statement)
    },
    alone: (timed) => {
      tally.alone++
      return connections.with((each) => timed(() => each.query(statement)))
    },
  })
}

async function sharing(work: (sharing: Sharing) => Promise<void>): Promise<void> {
  await connected(async (connections) => {
    using pipelines = createPipelining(connections.leasePipeline)
    await work({ pipelines, connections, tally: { shared: 0, alone: 0 } })
  })
}

/** All at once, again and again, until all of them are shared. */
async function untilShared(sharing: Sharing, statements: readonly Statement[]) {
  const { tally } = sharing
  for (let i = 0; i < 6_000; i++) {
    const { alone } = tally
    const answers = await Promise.all(statements.map((each) => shareOn(sharing, each)))
    if (tally.alone === alone) return answers
    await sleep(10)
  }
  assert.fail('never shared')
}

const EIGHT = Array.from({ length: 8 }, (_, i) => doubled(i))

test('pipeline: one find at a time has a connection of its own, many at once share few', async () => {
  await sharing(async (context) => {
    const { tally } = context
    for (let i = 0; i < 10; i++) await shareOn(context, doubled(i))
    assert.deepEqual(tally, { shared: 0, alone: 10 })
    const numbers = Array.from({ length: 60 }, (_, i) => i)
    const answers = await untilShared(context, numbers.map(doubled))
    assert.deepEqual(
      answers.map(([row]) => row![0]),
      numbers.map((n) => String(2 * n)),
    )
    assert.ok(new Set(answers.map(([row]) => row![1])).size <= PIPELINES)
  })
})

test('pipeline: what is allowed little time is not shared', async () => {
  await sharing(async (context) => {
    await untilShared(context, EIGHT)
    const tally = { shared: 0, alone: 0 }
    await Promise.all([1, 2, 3, 4].map((n) => shareOn({ ...context, tally, timeLimitMs: 1_999 }, doubled(n))))
    assert.deepEqual(tally, { shared: 0, alone: 4 })
  })
})

test('pipeline: a find that turns out slow is done alone, and so are those that waited behind it', async () => {
  await sharing(async (context) => {
    const slept = (seconds: number): Statement => ({
      text: 'select $1::text from pg_sleep($1::float8)',
      values: [String(seconds)],
    })
    await untilShared(context, [0, 0, 0, 0].map(slept))
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

test('pipeline: finds are answered while their connections are cut again and again', async () => {
  await connected(async (connections) => {
    const backends: string[] = []
    const lease = async () => {
      const leased = await connections.leasePipeline()
      const [row] = await leased.pipeline.query(plain('select pg_backend_pid()'), watchedPace())
      backends.push(row![0]!)
      return leased
    }
    using pipelines = createPipelining(lease)
    const context = { pipelines, connections, tally: { shared: 0, alone: 0 } }
    for (let round = 0; round < 10; round++) {
      await untilShared(context, EIGHT)
      const asked = Promise.all(Array.from({ length: 40 }, (_, i) => shareOn(context, doubled(i))))
      const text = 'select pg_terminate_backend(pid::int) from unnest($1::text[]) as pid'
      await connections.quick.query({ text, values: [`{${backends.splice(0).join(',')}}`] })
      assert.deepEqual(
        (await asked).map(([row]) => row![0]),
        Array.from({ length: 40 }, (_, i) => String(2 * i)),
      )
      // some of them on a connection that is cut already
      await Promise.all(Array.from({ length: 40 }, (_, i) => shareOn(context, doubled(i))))
    }
  })
})

test('pipeline: where no connection can be had, finds are done alone', async () => {
  await connected(async (connections) => {
    const refused: Error[] = []
    const lease = async (): Promise<never> => {
      refused.push(new Error('none left'))
      throw refused.at(-1)!
    }
    using pipelines = createPipelining(lease)
    const tally = { shared: 0, alone: 0 }
    for (let i = 0; refused.length === 0; i++) {
      assert.ok(i < 1_000, 'none was asked for')
      await Promise.all([1, 2, 3, 4].map((n) => shareOn({ pipelines, connections, tally }, doubled(n))))
    }
    assert.equal(tally.shared, 0)
  })
})

test('pipeline: connections that nobody uses any more are given back, and those in use when all ends', async () => {
  await connected(async (connections) => {
    const held = new Set<object>()
    const lease = async () => {
      const leased = await connections.leasePipeline()
      held.add(leased)
      const release = () => {
        held.delete(leased)
        leased.release()
      }
      return { ...leased, release }
    }
    const pipelines = createPipelining(lease)
    const context = { pipelines, connections, tally: { shared: 0, alone: 0 } }
    await untilShared(context, EIGHT)
    for (let i = 0; held.size > 0; i++) {
      assert.ok(i < 1_000, 'never given back')
      await sleep(20)
    }
    for (let i = 0; held.size === 0; i++) {
      assert.ok(i < 1_000, 'none was taken')
      await Promise.all(EIGHT.map((each) => shareOn(context, each)))
    }
    pipelines[Symbol.dispose]()
    assert.equal(held.size, 0)
  })
})

test(`postgres: finds at once answer what each would alone, and see what was just written (seed ${SEED})`, async () => {
  const name = `sharing_${process.pid}`
  const open = {
    freshPlace: () => freshPlace('postgres'),
    // with one connection for those that do not share
    openAt: async (url: string) => openPostgresStore({ url: `${url}&pool=1&application_name=${name}` }),
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
  let isShared = false
  for (let round = 0; round < 25 || !isShared; round++) {
    assert.ok(round < 1_000, 'never shared')
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
    const [backends] = await rowsOf(
      stage.location,
      () => `select count(*)::int as count from pg_stat_activity
       where application_name = '${name}' and query ~ 'from doc_.* order by'`,
    )
    isShared ||= Number(backends!['count']) > 1
  }
})
