/** Delivery as a machine of its own: by example, and in random worlds in which nothing may get lost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backOffMs } from '../../../src/sinks/delivery/back-off.ts'
import { type Delivery, createDelivery } from '../../../src/sinks/delivery/delivery-state.ts'
import { ATTEMPTS } from '../../../src/sinks/delivery/delivery-result.ts'
import type { SinkItem } from '../../../src/store/sinks.ts'
import type { Answer } from '../../../src/sinks/transport.ts'
import { SEED } from '../../support/seed.ts'
import { BEHAVIOUR_NAMES, World, keptEvent, randomFrom } from './delivery-model.ts'

const DELIVERED: Answer = { kind: 'delivered' }
const FAILED: Answer = { kind: 'failed', reason: 'status 500' }
const START = { position: 0, isDisabled: false, failures: 0, retryAt: 0 }

function delivering(documents: string): Delivery {
  const delivery = createDelivery(START, [])
  const events = documents.split('').map((document, i) => keptEvent(i + 1, document))
  delivery.take(events, events.length)
  return delivery
}

function started(delivery: Delivery, now = 0): readonly number[] {
  return delivery.start(now).map(({ seq }) => seq)
}

function answer(delivery: Delivery, seq: number, given: Answer, now = 0): void {
  delivery.recordAnswer(seq, given, { now, random: 0.5 })
}

test('back-off: it doubles from a second to an hour, a fifth more or less', () => {
  assert.deepEqual(
    [1, 2, 3, 12, 13, 40].map((n) => backOffMs(n, 0.5)),
    [1_000, 2_000, 4_000, 2_048_000, 3_600_000, 3_600_000],
  )
  assert.deepEqual([backOffMs(1, 0), backOffMs(1, 1)], [800, 1_200])
})

test('start: eight documents at once, and of each document its first event only', () => {
  const delivery = delivering('aabbcdefghij')
  assert.deepEqual(started(delivery), [1, 3, 5, 6, 7, 8, 9, 10])
  answer(delivery, 3, DELIVERED)
  assert.deepEqual(started(delivery), [4])
})

test('recordAnswer: the position stays before the first event that is under way', () => {
  const delivery = delivering('abc')
  started(delivery)
  answer(delivery, 3, DELIVERED)
  answer(delivery, 2, DELIVERED)
  assert.equal(delivery.changes(), undefined)
  answer(delivery, 1, DELIVERED)
  assert.deepEqual(
    [delivery.changes()!.progress.position, delivery.changes()],
    [3, undefined],
    'and is reported once',
  )
})

test('recordAnswer: a postponed event waits a second, and is neither an attempt nor a failure of the sink', () => {
  const delivery = delivering('aab')
  started(delivery)
  answer(delivery, 1, { kind: 'postponed' })
  answer(delivery, 3, DELIVERED)
  const { entered, progress } = delivery.changes()!
  assert.deepEqual(
    entered.map(({ seq, attempts, nextAt }) => [seq, attempts, nextAt]),
    [
      [1, 0, 1_000],
      [2, 0, 0],
    ],
  )
  assert.deepEqual([progress.position, progress.failures], [3, 0])
  assert.deepEqual(started(delivery, 999), [])
  assert.deepEqual(started(delivery, 1_000), [1])
  answer(delivery, 1, DELIVERED, 1_000)
  assert.deepEqual(started(delivery, 1_000), [2])
})

test('recordAnswer: a failure holds back its document and no other', () => {
  const delivery = delivering('aab')
  started(delivery)
  answer(delivery, 1, FAILED)
  answer(delivery, 2 + 1, DELIVERED)
  const { entered, progress } = delivery.changes()!
  assert.deepEqual(
    entered.map(({ seq, attempts, nextAt }) => [seq, attempts, nextAt]),
    [
      [1, 1, 1_000],
      [2, 0, 0],
    ],
  )
  assert.equal(progress.position, 3)
  delivery.take([keptEvent(4, 'a'), keptEvent(5, 'b')], 5)
  assert.deepEqual(started(delivery, 999), [5])
  assert.equal(delivery.wakeAt(), 1_000)
  assert.deepEqual(started(delivery, 1_000), [1])
  answer(delivery, 1, DELIVERED, 1_000)
  assert.deepEqual(started(delivery, 1_000), [2])
})

test('recordAnswer: the twelfth failure makes a dead letter, whose document waits for somebody', () => {
  const delivery = delivering('aa')
  let now = 0
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    assert.deepEqual(started(delivery, now), [1], `attempt ${attempt}`)
    answer(delivery, 1, FAILED, now)
    assert.equal(delivery.overview().dead, attempt === ATTEMPTS ? 1 : 0)
    now += 5_000_000
  }
  assert.deepEqual(started(delivery, now), [])
  const { entered } = delivery.changes()!
  delivery.amend(entered.filter(({ state }) => state !== 'dead'))
  assert.deepEqual(started(delivery, now), [2])
})

test('recordAnswer: what is dead is not further on than the position, so that nobody reads it again', () => {
  // the first hangs, the second is refused, the others are taken
  const delivery = delivering(`ab${'c'.repeat(ATTEMPTS)}`)
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const now = attempt * 5_000_000
    const seqs = started(delivery, now)
    assert.ok(seqs.includes(2) && seqs.includes(2 + attempt), `attempt ${attempt}`)
    answer(delivery, 2 + attempt, DELIVERED, now)
    answer(delivery, 2, FAILED, now)
  }
  const { progress, entered } = delivery.changes()!
  assert.equal(progress.position, 2 + ATTEMPTS)
  assert.deepEqual(
    entered.map(({ seq, state }) => [seq, state]),
    [
      [2, 'dead'],
      [1, 'waiting'],
    ],
  )
  answer(delivery, 1, DELIVERED, 1)
  assert.deepEqual(delivery.changes()!.removed, [1])
})

test('recordAnswer: five failures in a row leave one probe for each back-off, and no reading on', () => {
  const delivery = delivering('abcdefghij')
  started(delivery)
  for (let seq = 1; seq <= 8; seq++) answer(delivery, seq, FAILED)
  assert.equal(delivery.wanted().limit, 0)
  assert.deepEqual(started(delivery, 999), [])
  assert.deepEqual(started(delivery, 1_000), [1])
  assert.deepEqual(started(delivery, 9_000), [], 'one at a time')
  answer(delivery, 1, FAILED, 9_000)
  assert.deepEqual(started(delivery, 10_999), [])
  assert.deepEqual(started(delivery, 11_000), [9], 'a retry and a fresh event in turn')
  answer(delivery, 9, FAILED, 11_000)
  assert.deepEqual(started(delivery, 15_000), [2])
  answer(delivery, 2, DELIVERED, 15_000)
  assert.deepEqual(started(delivery, 15_000), [3, 4, 5, 6, 10])
})

test('wanted: documents that are refused again and again keep no other from being read and sent', () => {
  const delivery = delivering('aa')
  for (let i = 0, now = 0; i < 5; i++, now += 100_000) {
    assert.deepEqual(started(delivery, now), [1])
    answer(delivery, 1, FAILED, now)
  }
  assert.deepEqual(delivery.wanted(), { since: 2, limit: 1 })
  delivery.take([keptEvent(3, 'a')], 3)
  assert.equal(delivery.wanted().limit, 1, 'it waits for its document and cannot be a probe')
  delivery.take([keptEvent(4, 'b')], 4)
  assert.equal(delivery.wanted().limit, 0)
  assert.deepEqual(started(delivery, 401_000), [4])
  answer(delivery, 4, DELIVERED, 401_000)
  assert.equal(delivery.status().isCircuitOpen, false)
})

test('wanted: however many dead letters there are, refused documents keep no other from being read', () => {
  const letters = Array.from({ length: 1_000 }, (_, i): SinkItem => {
    const seq = i + 1
    return { seq, doc: `item/dead${seq}`, state: 'dead', attempts: ATTEMPTS, nextAt: 0, error: '', at: seq }
  })
  const delivery = createDelivery({ ...START, position: 1_000 }, letters)
  delivery.take([keptEvent(1_001, 'a')], 1_001)
  for (let i = 0, now = 0; i < 5; i++, now += 100_000) {
    assert.deepEqual(started(delivery, now), [1_001])
    answer(delivery, 1_001, FAILED, now)
  }
  assert.deepEqual(delivery.wanted(), { since: 1_001, limit: 1 })
})

test('wanted: what waits for a broken receiver does not pile up', () => {
  const delivery = delivering('a')
  for (let i = 0, now = 0; i < 5; i++, now += 100_000) {
    started(delivery, now)
    answer(delivery, 1, FAILED, now)
  }
  let seq = 1
  while (delivery.wanted().limit > 0 && seq < 10_000) delivery.take([keptEvent(++seq, 'a')], seq)
  assert.equal(seq, 257)
  for (let i = 5, now = 500_000; i < ATTEMPTS; i++, now += 10_000_000) {
    started(delivery, now)
    answer(delivery, 1, FAILED, now)
  }
  assert.equal(delivery.wanted().limit, 1, 'behind a dead letter there is nothing to retry')
})

test('recordAnswer: whoever is gone is sent nothing more, and the event is kept', () => {
  const delivery = delivering('ab')
  started(delivery)
  answer(delivery, 1, { kind: 'gone', reason: 'status 410' })
  answer(delivery, 2, DELIVERED)
  const { progress, entered } = delivery.changes()!
  assert.deepEqual([progress.isDisabled, progress.position, entered.map(({ seq }) => seq)], [true, 2, [1]])
  assert.deepEqual(started(delivery, 10_000), [])
  assert.equal(delivery.wanted().limit, 0)
})

const WORLDS = 150
const STEPS = 1_500

test(`delivery: nothing is lost, in ${WORLDS} random worlds (seed ${SEED})`, (context) => {
  const totals = { events: 0, sent: 0, deaths: 0, breaks: 0, crashes: 0, discarded: 0 }
  for (let i = 0; i < WORLDS; i++) {
    const seed = SEED + i
    const world = new World(randomFrom(seed))
    try {
      live(world)
      recover(world)
    } catch (error) {
      throw new Error(`in the world of SMALT_SEED=${seed}`, { cause: error })
    }
    totals.events += world.log.length
    totals.sent += world.sent.values().reduce((sum, times) => sum + times, 0)
    totals.deaths += world.deaths
    totals.breaks += world.breaks
    totals.crashes += world.crashes
    totals.discarded += world.discarded.size
  }
  context.diagnostic(JSON.stringify(totals))
  for (const [what, count] of Object.entries(totals))
    assert.ok(count > WORLDS / 10, `too few ${what}: ${count}`)
})

function live(world: World): void {
  const documents = 1 + Math.floor(world.random() * 20)
  const busy = world.random()
  for (let step = 0; step < STEPS; step++) {
    const roll = world.random()
    if (roll < 0.15 * busy) world.happen(documents)
    else if (roll < 0.25) world.read()
    else if (roll < 0.45) world.saveAndSend()
    else if (roll < 0.75) world.answer()
    else if (roll < 0.85) world.wait()
    else if (roll < 0.95) world.save()
    else if (roll < 0.96) world.crash()
    else if (roll < 0.965) world.redrive(world.random() < 0.3)
    else if (roll < 0.97) world.discard()
    else if (roll < 0.98) world.enable()
    else if (roll < 0.985)
      world.behaviour = BEHAVIOUR_NAMES[Math.floor(world.random() * BEHAVIOUR_NAMES.length)]!
  }
}

/** From now on the receiver is well, and people see to what is left: all of it gets there. */
function recover(world: World): void {
  world.behaviour = 'healthy'
  for (let step = 0; step < 50_000; step++) {
    if (world.isDone()) break
    world.enable()
    world.read()
    world.saveAndSend()
    world.answer()
    world.save()
    if (world.deadStored > 0) world.redrive(true)
    if (step % 3 === 0) world.wait()
  }
  assert.ok(world.isDone(), JSON.stringify(world.overview))
  for (const { seq } of world.log) {
    assert.ok(world.settled.has(seq) || world.discarded.has(seq), `event ${seq} is received or discarded`)
  }
}
