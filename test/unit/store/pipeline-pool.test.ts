/** Which finds are pipelined on PostgreSQL, and when pipelines are opened and released: the rules alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pipeline } from '../../../src/store/postgres/connection/pipeline.ts'
import { PIPELINES, createPipelinePool } from '../../../src/store/postgres/connection/pipeline-pool.ts'
import { createStatementLatencies } from '../../../src/store/postgres/connection/statement-latency.ts'

test('latency: only kinds that were quick on their own connection are pipelined', () => {
  const latencies = createStatementLatencies(() => 0)
  assert.equal(latencies.pipelinable('a'), undefined)
  latencies.noteAlone('a', 24)
  latencies.noteAlone('b', 26)
  assert.ok(latencies.pipelinable('a'))
  assert.equal(latencies.pipelinable('b'), undefined)
  latencies.noteAlone('a', 26)
  assert.equal(latencies.pipelinable('a'), undefined)
  latencies.noteAlone('a', 25)
  assert.ok(latencies.pipelinable('a'))
})

test('latency: a kind that is slow on average is excluded, one that was slow once is not', () => {
  const latencies = createStatementLatencies(() => 0)
  const kinds = ['once', 'average', 'quick', 'interrupted']
  for (const kind of kinds) latencies.noteAlone(kind, 1)
  latencies.pipelinable('once')!.note(1_000)
  for (let i = 0; i < 20; i++) latencies.pipelinable('average')?.note(4)
  for (let i = 0; i < 1_000; i++) latencies.pipelinable('quick')!.note(i % 3)
  for (let i = 0; i < 1_000; i++) latencies.pipelinable('interrupted')!.note(i % 4 === 0 ? 40 : 0)
  assert.deepEqual(
    kinds.map((kind) => latencies.pipelinable(kind) !== undefined),
    [true, false, true, true],
  )
})

test('latency: a kind that was slow on average is tried again after a second, and the average begins anew', () => {
  let now = 0
  const latencies = createStatementLatencies(() => now)
  latencies.noteAlone('a', 1)
  for (let i = 0; i < 20; i++) latencies.pipelinable('a')?.note(4)
  now = 999
  latencies.noteAlone('a', 100)
  latencies.noteAlone('a', 1)
  assert.equal(latencies.pipelinable('a'), undefined)
  now = 1_000
  latencies.pipelinable('a')!.note(4)
  assert.ok(latencies.pipelinable('a'))
})

test('latency: a kind that stopped a pipeline is tried again after five seconds', () => {
  let now = 0
  const latencies = createStatementLatencies(() => now)
  latencies.noteAlone('a', 1)
  latencies.pipelinable('a')!.exclude()
  now = 4_999
  assert.equal(latencies.pipelinable('a'), undefined)
  now = 5_000
  assert.ok(latencies.pipelinable('a'))
})

test('latency: a bounded number of kinds is remembered', () => {
  const latencies = createStatementLatencies(() => 0)
  const kinds = Array.from({ length: 10_000 }, (_, i) => `select ${i}`)
  for (const kind of kinds) latencies.noteAlone(kind, 1)
  const remembered = kinds.filter((kind) => latencies.pipelinable(kind))
  assert.ok(remembered.length > 0 && remembered.length <= 500, `${remembered.length}`)
})

type State = { -readonly [K in keyof Omit<Pipeline, 'query'>]: Pipeline[K] } & { isReleased: boolean }

/** A pool whose clock and whose connections the test controls; it checks only when the test says so. */
function controlledPool() {
  const world = { now: 0, leases: 0 }
  const states: State[] = []
  const opening: PromiseWithResolvers<void>[] = []
  const lease = async () => {
    world.leases++
    const gate = Promise.withResolvers<void>()
    opening.push(gate)
    await gate.promise
    const fresh = { inFlight: 0, answered: 0, headSince: 0, isBroken: false }
    const state: State = { ...fresh, isReleased: false }
    states.push(state)
    const release = (): void => {
      assert.ok(!state.isReleased, 'released twice')
      state.isReleased = true
    }
    return { pipeline: Object.assign(state, { query: () => Promise.resolve([]) }), release }
  }
  // A check by the real clock would see times of the other one, and take a pipeline for late that is not.
  const pool = createPipelinePool({ lease, now: () => world.now, checkEveryMs: 2 ** 30 })
  return {
    world,
    states,
    pool,
    /** Lets every connection that is being opened open, or fail. */
    async finishOpening(problem?: Error): Promise<void> {
      for (const gate of opening.splice(0))
        if (problem) gate.reject(problem)
        else gate.resolve()
      await new Promise((resolve) => setImmediate(resolve))
    },
    pass(ms: number): void {
      world.now += ms
      pool.check()
    },
    [Symbol.dispose]: () => pool[Symbol.dispose](),
  }
}

async function openPool() {
  const all = controlledPool()
  all.pool.pipelineFor(2)
  await all.finishOpening()
  assert.equal(all.states.length, PIPELINES)
  return { ...all, state: all.states[0]! }
}

test('pool: opens no pipeline for one find at a time, and all of them once for several', async () => {
  using all = controlledPool()
  for (const alone of [0, 1, 0, 1]) assert.equal(all.pool.pipelineFor(alone), undefined)
  assert.equal(all.world.leases, 0)
  for (const alone of [2, 3, 4]) assert.equal(all.pool.pipelineFor(alone), undefined)
  assert.equal(all.world.leases, PIPELINES)
  await all.finishOpening()
  assert.equal(all.pool.pipelineFor(2), all.states[0])
  assert.equal(all.world.leases, PIPELINES)
})

test('pool: waits for a second after a connection could not be opened', async () => {
  using all = controlledPool()
  all.pool.pipelineFor(2)
  await all.finishOpening(new Error('too many connections'))
  all.world.now = 999
  all.pool.pipelineFor(2)
  assert.equal(all.world.leases, PIPELINES)
  all.world.now = 1_000
  all.pool.pipelineFor(2)
  assert.equal(all.world.leases, 2 * PIPELINES)
})

test('pool: gives the pipeline with the fewest statements, and none that is full or broken', async () => {
  using all = await openPool()
  const [first, second] = all.states as [State, State]
  for (const state of all.states) state.inFlight = 10
  second.inFlight = 1
  assert.equal(all.pool.pipelineFor(0), second)
  second.isBroken = true
  assert.notEqual(all.pool.pipelineFor(0), second)
  for (const state of all.states) state.inFlight = 128
  assert.equal(all.pool.pipelineFor(0), undefined)
  first.inFlight = 127
  assert.equal(all.pool.pipelineFor(0), first)
  all.pass(1)
  assert.deepEqual([first.isReleased, second.isReleased], [false, true])
})

test('pool: replaces a pipeline that broke', async () => {
  using all = await openPool()
  all.state.isBroken = true
  all.pass(1)
  all.pool.pipelineFor(2)
  assert.equal(all.world.leases, PIPELINES + 1)
})

test('pool: releases a pipeline that does not answer, but not when this process was late to read the answer', async () => {
  using all = await openPool()
  const { state } = all
  Object.assign(state, { inFlight: 3, headSince: 0 })
  all.pass(51)
  assert.ok(!state.isReleased)
  Object.assign(state, { inFlight: 2, answered: 1, headSince: 0 })
  all.pass(51)
  assert.ok(!state.isReleased)
  all.pass(50)
  assert.ok(state.isReleased)
})

test('pool: after a late pipeline no other is opened for five seconds', async () => {
  using all = await openPool()
  const { state } = all
  Object.assign(state, { inFlight: 1, headSince: 0 })
  all.pass(51)
  all.pass(50)
  assert.ok(state.isReleased)
  all.pool.pipelineFor(2)
  assert.equal(all.world.leases, PIPELINES)
  all.pass(4_999)
  all.pool.pipelineFor(2)
  assert.equal(all.world.leases, PIPELINES)
  all.pass(1)
  all.pool.pipelineFor(2)
  assert.equal(all.world.leases, PIPELINES + 1)
})

test('pool: a pipeline takes nothing more after ten seconds, and is released when it is empty', async () => {
  using all = await openPool()
  const { state } = all
  for (let i = 0; i <= 200; i++) {
    Object.assign(state, { inFlight: 1, answered: i, headSince: all.world.now })
    assert.ok(!state.isReleased)
    all.pass(50)
  }
  assert.ok(!state.isReleased)
  assert.equal(all.pool.pipelineFor(0), undefined)
  state.inFlight = 0
  all.pass(1)
  assert.ok(state.isReleased)
})

test('pool: a connection that opens after the end is released at once', async () => {
  const all = controlledPool()
  all.pool.pipelineFor(2)
  all.pool[Symbol.dispose]()
  await all.finishOpening()
  assert.deepEqual(
    all.states.map(({ isReleased }) => isReleased),
    all.states.map(() => true),
  )
  assert.equal(all.states.length, PIPELINES)
})
