/** Two clients on two documents: every order of their steps, and many unordered ones, must lose and tear nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { unlessOnCitus } from '../../support/citus.ts'
import { sample } from '../../support/chance.ts'
import { SEED } from '../../support/seed.ts'
import { ADMIN, type TestService, documentsOf, openTestService } from '../../support/service.ts'
import { onEveryStore, storeKind } from '../../support/store-kind.ts'

/**
 * add: one more on document a. both: one more on a and on b, in one request. read: remember a and its version.
 * write: a becomes what was remembered and one more, if it is still that version. remove: a is deleted, if it is still
 * that version.
 */
type Step = 'add' | 'both' | 'read' | 'write' | 'remove'
type Program = readonly Step[]

const STEPS: readonly Step[] = ['add', 'both', 'read', 'write']

/**
 * All programs of three steps; nobody can write what they have not read. Shorter ones are the beginnings of these, in
 * every order, and what is lost in the beginning is missing in the end.
 */
const PROGRAMS = programs(STEPS, 3).filter(readsFirst('write'))

/** Programs in which a may be deleted. */
const REMOVING_STEPS: readonly Step[] = ['add', 'read', 'remove']
const REMOVING_PROGRAMS = programs(REMOVING_STEPS, 3).filter(readsFirst('remove'))

function programs(steps: readonly Step[], length: number): readonly Program[] {
  if (length === 0) return [[]]
  return programs(steps, length - 1).flatMap((program) => steps.map((step) => [...program, step]))
}

function readsFirst(step: Step): (program: Program) => boolean {
  return (program) =>
    !program.includes(step) || (program.includes('read') && program.indexOf('read') < program.indexOf(step))
}

interface Client {
  remembered?: Remembered
}

interface Remembered {
  readonly n: number
  readonly version: string
}

/** What a step did to the numbers, as its response tells it. */
interface Effect {
  readonly a: number
  readonly b: number
  /** The number that a had in the version that was deleted. */
  readonly removed?: number
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
      await remember(client, run)
      return NOTHING
    case 'write':
      return { a: await write(client, run), b: 0 }
    case 'remove':
      return await remove(client, run)
  }
}

async function remember(client: Client, run: Run): Promise<void> {
  const remembered = await readIfThere(run)
  if (remembered) client.remembered = remembered
  else delete client.remembered
}

interface Run {
  readonly on: TestService
  readonly id: string
  readonly a: string
}

function addOne(query: JsonObject, counter?: string): JsonObject {
  return { query, update: { $add: counter === undefined ? { n: 1 } : { n: 1, [counter]: 1 } } }
}

/** Undefined once a was deleted. */
async function readIfThere(run: Run): Promise<Remembered | undefined> {
  const query = { field: 'run', op: '=', rvalue: run.id }
  const response = await run.on.find('pair', { query, projection: { field: '*' }, sort: { _id: '$asc' } })
  const [a, b] = documentsOf(response)
  if (!b) return undefined
  unlessOnCitus('snapshot', () => assert.equal(a!['both'], b['both'], 'a read never sees half of a request'))
  const version = (JSON.parse(response.resultMetadata![0]!) as { documentVersion: string }).documentVersion
  return { n: Number(a!['n']), version }
}

async function read(run: Run): Promise<Remembered> {
  const remembered = await readIfThere(run)
  assert.ok(remembered)
  return remembered
}

async function remove({ remembered }: Client, run: Run): Promise<Effect> {
  if (!remembered) return NOTHING
  const query = { field: '_id', op: '=', rvalue: run.a }
  const body = { query, documentVersions: [remembered.version] }
  const response = await run.on.service.data.delete(ADMIN, { entity: 'pair' }, body)
  if (response.modifiedCount === 1) return { ...NOTHING, removed: remembered.n }
  const code = response.dataErrors?.[0]?.errors[0]?.errorCode
  const isGone = response.status === 'COMPLETE' && response.matchCount === 0
  assert.ok(isGone || code === 'store-crud:ConcurrentUpdate', JSON.stringify(response))
  return NOTHING
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

async function runFreely(program: Program, run: Run): Promise<Effect> {
  const client: Client = {}
  let effect = NOTHING
  for (const step of program) effect = add(effect, await perform(step, client, run))
  return effect
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
  const removed = x.removed ?? y.removed
  assert.ok(x.removed === undefined || y.removed === undefined, 'a is deleted once')
  return { a: x.a + y.a, b: x.b + y.b, ...(removed !== undefined && { removed }) }
}

/** An acknowledged change of a is in the final document, or in the version whose deletion was acknowledged. */
function checkRemoved(effect: Effect, actual: Effect, what: string): void {
  const { a, removed } = effect
  assert.deepEqual([actual.a, actual.b], removed === undefined ? [a, 0] : [undefined, 0], what)
  if (removed !== undefined) assert.equal(removed, a, what)
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

  function* allSchedules(all = PROGRAMS): Generator<Schedule> {
    for (const [i, left] of all.entries()) {
      for (const right of all.slice(i)) {
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
      const effects = await Promise.all(clients.map((program) => runFreely(program, run)))
      assert.deepEqual(await finalNumbers(on, [run.id]), [effects.reduce(add)], `round ${round}`)
    }
  })

  test('concurrency: in every order of two clients’ steps a conditional delete takes no acknowledged change with it', async () => {
    await using on = await openPair()
    const all = [...allSchedules(REMOVING_PROGRAMS)]
    assert.ok(all.length > 1_000)
    const schedules = storeKind() === 'sqlite' ? all : all.filter((_, i) => (i + SEED) % SHARE === 0)
    for (let start = 0; start < schedules.length; start += BATCH) {
      const own = schedules.slice(start, start + BATCH)
      const ids = own.map((_, i) => `removed-${start}-${i}`)
      const runs = await startRuns(on, ids)
      const effects = await Promise.all(runs.map((run, i) => runSchedule(run, own[i]!)))
      for (const [i, actual] of (await finalNumbers(on, ids)).entries()) {
        const { left, right, order } = own[i]!
        checkRemoved(effects[i]!, actual, `${left.join()} / ${right.join()} as ${order.join('')}`)
      }
    }
  })

  test(`concurrency: nor does it when the clients do not wait for each other (SMALT_SEED=${SEED})`, async () => {
    await using on = await openPair()
    let removals = 0
    for (let round = 0; round < 60; round++) {
      const run = await startRun(on, `racing-${round}`)
      const clients = sample(SEED + round, (chance) =>
        Array.from({ length: 4 }, (): Program => [
          'read',
          ...chance.list(9, () => chance.pick(REMOVING_STEPS)),
        ]),
      )
      const effects = await Promise.all(clients.map((program) => runFreely(program, run)))
      const effect = effects.reduce(add)
      const [actual] = await finalNumbers(on, [run.id])
      checkRemoved(effect, actual!, `round ${round}`)
      if (effect.removed !== undefined) removals++
    }
    assert.ok(removals > 0)
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
