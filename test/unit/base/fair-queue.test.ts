/** The fair queue: random histories against a simple model, and the limits of waiting. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type FairQueueOptions, type Release, createFairQueue } from '../../../src/base/work/fair-queue.ts'
import { SEED } from '../../support/seed.ts'

const NO_LIMITS = { maxWaitMs: 60_000, maxWaiting: 1_000, maxWaitingPerCaller: 1_000 }
const UNAVAILABLE = { code: 'crud:Unavailable' }

type Step =
  | { readonly kind: 'acquire' | 'occupy'; readonly caller: string }
  | { readonly kind: 'release' | 'abort'; readonly which: number }
  | { readonly kind: 'restrict'; readonly callers: readonly string[] }

interface Request {
  readonly no: number
  readonly caller: string
}

/** The expected behaviour, implemented with lists and linear searches. */
class Model {
  readonly active: Request[] = []
  readonly waiting: Request[] = []
  /** When each caller last acquired or released a slot, or began to wait with no other request waiting. */
  readonly lastTurnAt = new Map<string, number>()
  time = 0
  readonly options: FairQueueOptions

  constructor(options: FairQueueOptions) {
    this.options = options
  }

  acquire(request: Request): 'granted' | 'waiting' | 'refused' {
    const { maxWaiting, maxWaitingPerCaller } = this.options
    const own = this.waiting.filter(({ caller }) => caller === request.caller).length
    if (own === 0 && this.hasFreeSlotFor(request.caller)) {
      this.active.push(request)
      this.lastTurnAt.set(request.caller, ++this.time)
      return 'granted'
    }
    if (this.waiting.length >= maxWaiting || own >= maxWaitingPerCaller) return 'refused'
    if (own === 0) this.lastTurnAt.set(request.caller, ++this.time)
    this.waiting.push(request)
    while (this.serve()) continue
    return this.active.includes(request) ? 'granted' : 'waiting'
  }

  occupy(request: Request): void {
    this.active.push(request)
    this.lastTurnAt.set(request.caller, ++this.time)
  }

  release(which: number): void {
    const [request] = this.active.splice(which, 1)
    this.lastTurnAt.set(request!.caller, ++this.time)
    while (this.serve()) continue
  }

  abort(which: number): void {
    this.waiting.splice(which, 1)
  }

  serve(): Request | undefined {
    const eligible = [...new Set(this.waiting.map(({ caller }) => caller))].filter((each) =>
      this.hasFreeSlotFor(each),
    )
    eligible.sort(
      (a, b) => this.inUse(a) - this.inUse(b) || this.lastTurnAt.get(a)! - this.lastTurnAt.get(b)!,
    )
    const next = this.waiting.find(({ caller }) => caller === eligible[0])
    if (!next) return undefined
    this.waiting.splice(this.waiting.indexOf(next), 1)
    this.active.push(next)
    this.lastTurnAt.set(next.caller, ++this.time)
    return next
  }

  inUse(name: string): number {
    return this.active.filter(({ caller }) => caller === name).length
  }

  hasFreeSlotFor(name: string): boolean {
    const { slots, slotsPerCaller = Math.max(1, slots - 1), mayHaveMore } = this.options
    const own = this.inUse(name)
    return this.counted() < slots && own < slotsPerCaller && (own === 0 || mayHaveMore!(name))
  }

  /** What a caller took by force beyond its share keeps nobody waiting. */
  counted(): number {
    const { slots, slotsPerCaller = Math.max(1, slots - 1) } = this.options
    const callers = [...new Set(this.active.map(({ caller }) => caller))]
    return callers.reduce((sum, each) => sum + Math.min(this.inUse(each), slotsPerCaller), 0)
  }
}

const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('acquire'), caller: fc.constantFrom('a', 'b', 'c', 'd') }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('occupy'), caller: fc.constantFrom('a', 'b', 'c', 'd') }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('release'), which: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort'), which: fc.nat() }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('restrict'), callers: fc.subarray(['a', 'b', 'c', 'd']) }),
    },
  ),
  // without a size, most histories would be too short for several callers to wait
  { maxLength: 80, size: 'max' },
) as fc.Arbitrary<Step[]>
const sizes = fc.record({
  slots: fc.integer({ min: 1, max: 4 }),
  maxWaiting: fc.integer({ min: 2, max: 12 }),
})

test('acquire: random histories have the same outcome as in the model', async () => {
  const property = fc.asyncProperty(sizes, steps, async ({ slots, maxWaiting }, history) => {
    let restricted: readonly string[] = []
    const mayHaveMore = (caller: string): boolean => !restricted.includes(caller)
    const options = { slots, maxWaiting, maxWaitingPerCaller: 4, maxWaitMs: 60_000, mayHaveMore }
    const queue = createFairQueue(options)
    const model = new Model(options)
    const releases = new Map<number, Release>()
    const aborts = new Map<number, AbortController>()
    const failed = new Set<number>()
    for (const [no, step] of history.entries()) {
      if (step.kind === 'acquire') {
        const request = { no, caller: step.caller }
        const outcome = model.acquire(request)
        const controller = new AbortController()
        aborts.set(no, controller)
        queue.acquire(step.caller, controller.signal).then(
          (release) => releases.set(no, release),
          () => failed.add(no),
        )
        await settled()
        assert.deepEqual([releases.has(no), failed.has(no)], [outcome === 'granted', outcome === 'refused'])
      } else if (step.kind === 'occupy') {
        model.occupy({ no, caller: step.caller })
        releases.set(no, queue.occupy(step.caller))
      } else if (step.kind === 'release' && model.active.length > 0) {
        const which = step.which % model.active.length
        const { no: released } = model.active[which]!
        model.release(which)
        releases.get(released)!()
        releases.get(released)!()
        releases.delete(released)
      } else if (step.kind === 'abort' && model.waiting.length > 0) {
        const which = step.which % model.waiting.length
        aborts.get(model.waiting[which]!.no)!.abort()
        model.abort(which)
      } else if (step.kind === 'restrict') {
        restricted = step.callers
      }
      await settled()
      const active = model.active.map((each) => each.no).sort((a, b) => a - b)
      assert.deepEqual(
        [...releases.keys()].sort((a, b) => a - b),
        active,
      )
      assert.deepEqual([queue.inUse, queue.waiting], [model.counted(), model.waiting.length])
    }
    for (const controller of aborts.values()) controller.abort()
  })
  await fc.assert(property, { seed: SEED, numRuns: 300 })
})

/** Enough turns for the callbacks of promises that are settled already. */
async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await Promise.resolve()
}

test('acquire: one slot stays free for other callers, who do not wait behind a long queue of one caller', async () => {
  const queue = createFairQueue({ slots: 3, ...NO_LIMITS })
  const controller = new AbortController()
  const order: string[] = []
  const wait = (caller: string): void =>
    void queue.acquire(caller, controller.signal).then(
      () => order.push(caller),
      () => undefined,
    )
  const active = [await queue.acquire('greedy'), await queue.acquire('greedy')]
  for (let i = 0; i < 50; i++) wait('greedy')
  active.push(await queue.acquire('other'))
  wait('other')
  for (const release of active) {
    release()
    await settled()
  }
  assert.deepEqual(order, ['other', 'greedy', 'greedy'])
  controller.abort()
})

test('acquire: waiting ends after maxWaitMs, and is refused when too many wait', async () => {
  const queue = createFairQueue({ slots: 1, maxWaitMs: 20, maxWaiting: 2, maxWaitingPerCaller: 1 })
  const release = await queue.acquire('a')
  const waits = [queue.acquire('a'), queue.acquire('b')]
  await assert.rejects(queue.acquire('a'), UNAVAILABLE)
  await assert.rejects(queue.acquire('c'), UNAVAILABLE)
  for (const each of waits) await assert.rejects(each, UNAVAILABLE)
  assert.equal(queue.waiting, 0)
  release()
  ;(await queue.acquire('c'))()
  assert.equal(queue.inUse, 0)
})

test('acquire: a signal ends the wait, and an aborted one prevents it', async () => {
  const queue = createFairQueue({ slots: 1, ...NO_LIMITS })
  const release = await queue.acquire()
  const controller = new AbortController()
  const waiting = queue.acquire(undefined, controller.signal)
  controller.abort(new Error('gone'))
  await assert.rejects(waiting, /gone/)
  await assert.rejects(queue.acquire(undefined, controller.signal), /gone/)
  release()
  assert.deepEqual([queue.inUse, queue.waiting], [0, 0])
})
