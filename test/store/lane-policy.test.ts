/** Which finds share connections on PostgreSQL, and how many connections there are to share: the rules alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Pipeline, MAX_PIPELINES } from '../../src/store/postgres/connection/pipeline.ts'
import { createPipelinePool } from '../../src/store/postgres/connection/pipeline-pool.ts'
import { createStatementLatencies } from '../../src/store/postgres/connection/statement-latency.ts'

test('paces: only what was quick alone is shared', () => {
  const latencies = createStatementLatencies(() => 0)
  assert.equal(latencies.quick('a'), undefined)
  latencies.noteAlone('a', 24)
  latencies.noteAlone('b', 26)
  assert.ok(latencies.quick('a'))
  assert.equal(latencies.quick('b'), undefined)
  latencies.noteAlone('a', 26)
  assert.equal(latencies.quick('a'), undefined)
})

test('paces: what is slow on the average while it is shared is excluded, not what was so once', () => {
  const latencies = createStatementLatencies(() => 0)
  for (const text of ['once', 'average', 'quick']) latencies.noteAlone(text, 1)
  latencies.quick('once')!.note(1_000)
  for (let i = 0; i < 10; i++) latencies.quick('average')?.note(20)
  for (let i = 0; i < 1_000; i++) latencies.quick('quick')!.note(i % 6)
  assert.deepEqual(
    ['once', 'average', 'quick'].map((text) => latencies.quick(text) !== undefined),
    [true, false, true],
  )
  latencies.excludeSlower(1)
  assert.equal(latencies.quick('quick'), undefined)
})

test('paces: the exclusion ends after a run alone, and is longer each time that it comes again soon', () => {
  let now = 0
  const latencies = createStatementLatencies(() => now)
  latencies.noteAlone('a', 1)
  const excludedFor = (): number => {
    const since = now
    latencies.quick('a')!.exclude()
    for (; !latencies.quick('a'); now += 100) latencies.noteAlone('a', 1)
    return now - since - 100
  }
  assert.deepEqual([excludedFor(), excludedFor(), excludedFor()], [1_000, 2_000, 4_000])
  now += 100_000
  assert.equal(excludedFor(), 1_000)
  for (let i = 0; i < 10; i++) excludedFor()
  assert.equal(excludedFor(), 60_000)
})

test('paces: not more kinds are remembered than were said', () => {
  const latencies = createStatementLatencies(() => 0)
  for (let i = 0; i < 10_000; i++) latencies.noteAlone(`select ${i}`, 1)
  const remembered = Array.from({ length: 10_000 }, (_, i) => latencies.quick(`select ${i}`)).filter(Boolean)
  assert.ok(remembered.length > 0 && remembered.length <= 500, `${remembered.length}`)
})

type State = { -readonly [K in keyof Omit<Pipeline, 'query'>]: Pipeline[K] } & { isReleased: boolean }

/** A keeper whose clock, whose idle time and whose connections are in our hands. */
function kept() {
  const world = { now: 0, idle: 0.2, leases: 0 }
  const states: State[] = []
  const latencies = createStatementLatencies(() => world.now)
  const opening: PromiseWithResolvers<void>[] = []
  const lease = async () => {
    world.leases++
    const gate = Promise.withResolvers<void>()
    opening.push(gate)
    await gate.promise
    const fresh = { underWay: 0, answered: 0, headSince: 0, headAskedAt: Infinity, isBroken: false }
    const state: State = { ...fresh, isReleased: false }
    states.push(state)
    const release = (): void => {
      assert.ok(!state.isReleased, 'released twice')
      state.isReleased = true
    }
    return { pipeline: Object.assign(state, { query: () => Promise.resolve([]) }), release }
  }
  const keeper = createPipelinePool({ lease, latencies, now: () => world.now, idleShare: () => world.idle })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  return {
    world,
    states,
    latencies,
    keeper,
    inUse: () => states.filter(({ isReleased }) => !isReleased),
    /** Lets all that is being opened open, or fail. */
    async recordResults(problem?: Error): Promise<void> {
      for (const gate of opening.splice(0))
        if (problem) gate.reject(problem)
        else gate.resolve()
      await turn()
    },
    /** Time passes, and the keeper looks. */
    async pass(ms: number): Promise<void> {
      world.now += ms
      keeper.lookAfter()
      await turn()
    },
    [Symbol.dispose]: () => keeper[Symbol.dispose](),
  }
}

/** One that is open, and one find after the other. */
async function withOne() {
  const all = kept()
  all.keeper.pipelineFor(2)
  await all.recordResults()
  assert.equal(all.states.length, 1)
  return { ...all, state: all.states[0]! }
}

/** As many as there may be, all of them waiting for the server. */
async function withAll() {
  const all = await withOne()
  all.world.idle = 0.5
  for (let i = 1; i < MAX_PIPELINES; i++) {
    for (const state of all.states) state.underWay = 2
    await all.pass(10)
    await all.recordResults()
  }
  for (const state of all.states) state.underWay = 2
  assert.equal(all.states.length, MAX_PIPELINES)
  return all
}

test('keeper: opens none for one find at a time, and one at a time for several', async () => {
  using all = kept()
  for (const alone of [0, 1, 0, 1]) assert.equal(all.keeper.pipelineFor(alone), undefined)
  assert.equal(all.world.leases, 0)
  for (const alone of [2, 3, 4]) assert.equal(all.keeper.pipelineFor(alone), undefined)
  assert.equal(all.world.leases, 1)
  await all.recordResults()
  assert.equal(all.keeper.pipelineFor(2), all.states[0])
  assert.equal(all.world.leases, 1)
})

test('keeper: after a failure it waits for a second before it tries again', async () => {
  using all = kept()
  all.keeper.pipelineFor(2)
  await all.recordResults(new Error('too many connections'))
  all.world.now = 999
  all.keeper.pipelineFor(2)
  assert.equal(all.world.leases, 1)
  all.world.now = 1_000
  all.keeper.pipelineFor(2)
  assert.equal(all.world.leases, 2)
})

test('keeper: one more while the server is waited for and all are busy, up to a few', async () => {
  using all = await withOne()
  all.world.idle = 0.5
  all.state.underWay = 1
  await all.pass(10)
  assert.equal(all.world.leases, 1)
  all.state.underWay = 2
  all.world.idle = 0.2
  await all.pass(10)
  assert.equal(all.world.leases, 1)
  using many = await withAll()
  await many.pass(10)
  assert.equal(many.world.leases, MAX_PIPELINES)
})

test('keeper: where more would help and there are no more, what is not quick is excluded', async () => {
  using all = await withAll()
  for (const kind of ['quick', 'slower']) all.latencies.noteAlone(kind, 1)
  for (let i = 0; i < 100; i++) {
    all.latencies.quick('quick')!.note(1.5)
    all.latencies.quick('slower')!.note(3)
  }
  await all.pass(10)
  assert.ok(all.latencies.quick('quick'))
  assert.equal(all.latencies.quick('slower'), undefined)
})

test('keeper: one leaves while this process is busy, once it has nothing under way, but not the last', async () => {
  using all = await withAll()
  all.world.idle = 0.05
  await all.pass(10)
  const last = all.states.at(-1)!
  last.underWay = 1
  for (const state of all.states) if (state !== last) state.underWay = 5
  assert.notEqual(all.keeper.pipelineFor(0), last)
  assert.equal(all.inUse().length, MAX_PIPELINES)
  last.underWay = 0
  for (let i = 0; i < 10; i++) {
    for (const state of all.states) state.underWay = 0
    all.keeper.pipelineFor(0)
    await all.pass(10)
  }
  assert.equal(all.inUse().length, 1)
})

test('keeper: the least busy is taken, and none that has too much, is broken, or leaves', async () => {
  using all = await withAll()
  const [first, second, third] = all.states as [State, State, State]
  for (const [i, state] of all.states.entries()) state.underWay = 10 - i
  second.underWay = 1
  assert.equal(all.keeper.pipelineFor(0), second)
  second.isBroken = true
  assert.notEqual(all.keeper.pipelineFor(0), second)
  for (const state of all.states) state.underWay = 512
  assert.equal(all.keeper.pipelineFor(0), undefined)
  third.underWay = 511
  assert.equal(all.keeper.pipelineFor(0), third)
  await all.pass(1)
  assert.deepEqual([first.isReleased, second.isReleased, third.isReleased], [false, true, false])
})

test('keeper: one that does not answer is let go, but not when only this process was late to look', async () => {
  using all = await withOne()
  const { state } = all
  Object.assign(state, { underWay: 3, headSince: 0, headAskedAt: 0 })
  await all.pass(51)
  assert.ok(!state.isReleased)
  Object.assign(state, { underWay: 2, answered: 1, headSince: 0 })
  await all.pass(51)
  assert.ok(!state.isReleased)
  await all.pass(50)
  assert.ok(state.isReleased)
})

test('keeper: one whose statements wait too long is let go, though each of them is answered soon', async () => {
  using all = await withOne()
  const { state } = all
  Object.assign(state, { underWay: 100, headAskedAt: 0 })
  for (; all.world.now <= 1_000;) {
    Object.assign(state, { answered: state.answered + 1, headSince: all.world.now })
    assert.ok(!state.isReleased)
    await all.pass(40)
  }
  assert.ok(state.isReleased)
})

test('keeper: one that nobody used for a second is given back', async () => {
  using all = await withOne()
  await all.pass(900)
  all.keeper.pipelineFor(0)
  await all.pass(900)
  assert.ok(!all.state.isReleased)
  await all.pass(101)
  assert.ok(all.state.isReleased)
})

test('keeper: one that is in use all the time is given back after a minute, when it is empty', async () => {
  using all = await withOne()
  const { state } = all
  for (let i = 0; i <= 120; i++) {
    all.keeper.pipelineFor(0)
    Object.assign(state, { underWay: 1, answered: i, headSince: all.world.now, headAskedAt: all.world.now })
    assert.ok(!state.isReleased)
    await all.pass(500)
  }
  assert.ok(!state.isReleased)
  assert.equal(all.keeper.pipelineFor(0), undefined)
  state.underWay = 0
  await all.pass(1)
  assert.ok(state.isReleased)
})

test('keeper: one that opens when all has ended is given back at once', async () => {
  const all = kept()
  all.keeper.pipelineFor(2)
  all.keeper[Symbol.dispose]()
  await all.recordResults()
  assert.deepEqual(
    all.states.map(({ isReleased }) => isReleased),
    [true],
  )
})
