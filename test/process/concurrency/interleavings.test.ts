/** Two clients on two documents: every order of their steps, and many unordered ones, must lose and tear nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { sample } from '../../support/chance.ts'
import { SEED } from '../../support/seed.ts'
import { ADMIN, type TestService, documentsOf, openTestService } from '../../support/service.ts'
import { onEveryStore, storeKind } from '../../support/store-kind.ts'

/**
 * add: one more on document a. both: one more on a and on b, in one request. read: remember a and its version.
 * write: a becomes what was remembered and one more, if it is still that version.
 */
type Step = 'add' | 'both' | 'read' | 'write'
type Program = readonly Step[]

const STEPS: readonly Step[] = ['add', 'both', 'read', 'write']

/**
 * All programs of three steps; nobody can write what they have not read. Shorter ones are the beginnings of these, in
 * every order, and what is lost in the beginning is missing in the end.
 */
const PROGRAMS: readonly Program[] = programs(3).filter(
  (program) =>
    !program.includes('write') ||
    (program.includes('read') && program.indexOf('read') < program.indexOf('write')),
)

function programs(length: number): readonly Program[] {
  if (length === 0) return [[]]
  return programs(length - 1).flatMap((program) => STEPS.map((step) => [...program, step]))
}

interface Client {
  remembered?: { readonly n: number; readonly version: string }
}

/** What a step did to the numbers, as its response tells it. */
interface Effect {
  readonly a: number
  readonly b: number
}

const NOTHING: Effect = { a: 0, b: 0 }

async function perform(step: Step, client: Client, run: Run): Promise<Effect> {
  const { data } = run.on.service
  switch (step) {
    case 'add': {
      const response = await data.update(
        ADMIN,
        { entity: 'pair' },
        addOne({ field: '_id', op: '=', rvalue: run.a }),
      )
      return { a: response.modifiedCount, b: 0 }
    }
    case 'both': {
      const query = { field: 'run', op: '=', rvalue: run.id }
      const response = await data.update(ADMIN, { entity: 'pair' }, addOne(query, 'both'))
      assert.equal(response.modifiedCount, 2, 'both documents change, or none')
      return { a: 1, b: 1 }
    }
    case 'read':
      client.remembered = await read(run)
      return NOTHING
    case 'write':
      return { a: await write(client, run), b: 0 }
  }
}

interface Run {
  readonly on: TestService
  readonly id: string
  readonly a: string
}

function addOne(query: JsonObject, counter?: string): JsonObject {
  return { query, update: { $add: counter === undefined ? { n: 1 } : { n: 1, [counter]: 1 } } }
}

async function read(run: Run): Promise<{ n: number; version: string }> {
  const query = { field: 'run', op: '=', rvalue: run.id }
  const response = await run.on.find('pair', { query, projection: { field: '*' }, sort: { _id: '$asc' } })
  const [a, b] = documentsOf(response)
  assert.equal(a!['both'], b!['both'], 'a read never sees half of a request')
  const version = (JSON.parse(response.resultMetadata![0]!) as { documentVersion: string }).documentVersion
  return { n: Number(a!['n']), version }
}

/** Tells whether the write was accepted: 1, or 0 when the document had changed. */
async function write({ remembered }: Client, run: Run): Promise<number> {
  const response = await run.on.service.data.update(
    ADMIN,
    { entity: 'pair' },
    {
      query: { field: '_id', op: '=', rvalue: run.a },
      update: { $set: { n: remembered!.n + 1 } },
      onlyIfCurrent: true,
      documentVersions: [remembered!.version],
    },
  )
  const code = response.dataErrors?.[0]?.errors[0]?.errorCode
  assert.ok(response.modifiedCount === 1 || code === 'store-crud:ConcurrentUpdate', JSON.stringify(response))
  return response.modifiedCount
}

async function startRun(on: TestService, id: string): Promise<Run> {
  const [run] = await startRuns(on, [id])
  return run!
}

async function startRuns(on: TestService, ids: readonly string[]): Promise<readonly Run[]> {
  const pairOf = (id: string): readonly JsonObject[] =>
    ['a', 'b'].map((each) => ({ _id: `${id}-${each}`, run: id, n: 0, both: 0 }))
  await on.store('pair', ids.flatMap(pairOf))
  return ids.map((id) => ({ on, id, a: `${id}-a` }))
}

async function finalNumbers(on: TestService, ids: readonly string[]): Promise<readonly Effect[]> {
  const query = { field: 'run', op: '$in', values: ids }
  const found = documentsOf(await on.find('pair', { query, projection: { field: '*' } }))
  const numbers = new Map(found.map(({ _id, n }) => [_id, Number(n)]))
  return ids.map((id) => ({ a: numbers.get(`${id}-a`)!, b: numbers.get(`${id}-b`)! }))
}

function* interleavings(left: Program, right: Program): Generator<readonly (0 | 1)[]> {
  if (left.length === 0 || right.length === 0) {
    yield [...left.map(() => 0 as const), ...right.map(() => 1 as const)]
    return
  }
  for (const rest of interleavings(left.slice(1), right)) yield [0, ...rest]
  for (const rest of interleavings(left, right.slice(1))) yield [1, ...rest]
}

function add(x: Effect, y: Effect): Effect {
  return { a: x.a + y.a, b: x.b + y.b }
}

async function openPair(): Promise<TestService> {
  const on = await openTestService()
  const fields = { run: { type: 'string' }, n: { type: 'integer' }, both: { type: 'integer' } }
  const indexes = [{ name: 'run', fields: [{ field: 'run', dir: '$asc' }] }]
  await on.define('pair', fields, { info: { indexes } })
  return on
}

onEveryStore(() => {
  test('concurrency: in every order of two clients’ steps no acknowledged change is lost', async () => {
    const all = [...allSchedules()]
    assert.ok(all.length > 10_000)
    const schedules = storeKind() === 'sqlite' ? all : all.filter((_, i) => (i + SEED) % SHARE === 0)
    for (let first = 0; first < schedules.length; first += PER_SERVICE) {
      await using on = await openPair()
      const own = schedules.slice(first, first + PER_SERVICE)
      for (let start = 0; start < own.length; start += BATCH) {
        await runBatch(on, `${start}`, own.slice(start, start + BATCH))
      }
    }
  })

  /** Schedules have documents of their own, so many can share the flushes of one store. */
  const BATCH = 100
  /** SQLite reads small tables on the main thread, and large ones on others: a quarter of the schedules see the latter. */
  const PER_SERVICE = 1_300

  /** Where each step costs a journey to a server, one in so many orders is tried in a run; the seed says which. */
  const SHARE = 11

  interface Schedule {
    readonly left: Program
    readonly right: Program
    readonly order: readonly (0 | 1)[]
  }

  function* allSchedules(): Generator<Schedule> {
    for (const [i, left] of PROGRAMS.entries()) {
      for (const right of PROGRAMS.slice(i)) {
        for (const order of interleavings(left, right)) {
          const schedule = { left, right, order }
          if (!isRepeated(schedule)) yield schedule
        }
      }
    }
  }

  /** Who of two that do the same comes first makes no difference, nor which of two reads in a row. */
  function isRepeated({ left, right, order }: Schedule): boolean {
    if (left === right && order[0] === 1) return true
    const steps = [left.values(), right.values()] as const
    const done = order.map((who) => ({ who, step: steps[who].next().value! }))
    return done.some(
      ({ who, step }, i) =>
        who === 0 && step === 'read' && done[i - 1]?.who === 1 && done[i - 1]!.step === step,
    )
  }

  async function runBatch(on: TestService, name: string, schedules: readonly Schedule[]): Promise<void> {
    const ids = schedules.map((_, i) => `ordered-${name}-${i}`)
    const runs = await startRuns(on, ids)
    const expected = await Promise.all(runs.map((run, i) => runSchedule(run, schedules[i]!)))
    for (const [i, actual] of (await finalNumbers(on, ids)).entries()) {
      const { left, right, order } = schedules[i]!
      assert.deepEqual(actual, expected[i], `${left.join()} / ${right.join()} as ${order.join('')}`)
    }
  }

  /** What the responses tell that it did. */
  async function runSchedule(run: Run, { left, right, order }: Schedule): Promise<Effect> {
    const clients: [Client, Client] = [{}, {}]
    const steps = [left.values(), right.values()] as const
    let expected = NOTHING
    for (const who of order) {
      expected = add(expected, await perform(steps[who].next().value!, clients[who], run))
    }
    return expected
  }

  test(`concurrency: clients that do not wait for each other lose nothing either (SMALT_SEED=${SEED})`, async () => {
    await using on = await openPair()
    for (let round = 0; round < 60; round++) {
      const run = await startRun(on, `free-${round}`)
      const clients = sample(SEED + round, (chance) =>
        Array.from({ length: 4 }, (): Program => ['read', ...chance.list(9, () => chance.pick(STEPS))]),
      )
      const effects = await Promise.all(
        clients.map(async (program) => {
          const client: Client = {}
          let effect = NOTHING
          for (const step of program) effect = add(effect, await perform(step, client, run))
          return effect
        }),
      )
      assert.deepEqual(await finalNumbers(on, [run.id]), [effects.reduce(add)], `round ${round}`)
    }
  })

  test('concurrency: the versions of a document always rise', async () => {
    await using on = await openPair()
    const run = await startRun(on, 'versions')
    let last = 0
    for (let i = 0; i < 50; i++) {
      await Promise.all([perform('add', {}, run), perform('both', {}, run)])
      const version = Number((await read(run)).version.split(':').at(-1))
      assert.ok(version > last)
      last = version
    }
  })

  test('concurrency: a version that was deleted does not come back with the next document of that _id', async () => {
    await using on = await openPair()
    const seen = new Set<string>()
    for (let i = 0; i < 20; i++) {
      const run = await startRun(on, 'again')
      const { version } = await read(run)
      assert.ok(!seen.has(version))
      seen.add(version)
      await on.service.data.delete(
        ADMIN,
        { entity: 'pair' },
        { query: { field: 'run', op: '=', rvalue: 'again' } },
      )
    }
  })
})
