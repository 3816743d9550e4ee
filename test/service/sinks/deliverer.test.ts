/** Delivering from real stores to real servers: everything gets there, in order, whatever others do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { viewOf } from '../../../src/access/view.ts'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { visibleEvent } from '../../../src/events/visible-event.ts'
import { printDefinition } from '../../../src/sinks/definition.ts'
import type { Overview } from '../../../src/sinks/delivery/delivery-state.ts'
import { cloudEvent } from '../../../src/sinks/cloud-event.ts'
import type { RenderEvent } from '../../../src/sinks/delivery/sink-run.ts'
import type { StoredEvent } from '../../../src/store/events.ts'
import type { SinkHold, SinkStore } from '../../../src/store/sinks.ts'
import type { StoreKind } from '../../../src/store/store.ts'
import { hookOf } from '../../unit/events/watching.ts'
import { compiledSchema } from '../../support/schema.ts'
import { keptEvent } from '../../unit/sinks/delivery-model.ts'
import { addSink, checkReceived, deliver, receiver, until, webhookTo, webhooks } from './delivering.ts'
import { answering } from './servers.ts'
import { type OpenSinks, type SinkDatasource, sinkPlace } from './stores.ts'

const BOUNDED = { timeout: 200_000 }

function eventLog(count: number, documents = 17): readonly StoredEvent[] {
  return Array.from({ length: count }, (_, i) => keptEvent(i + 1, `d${i % documents}`))
}

/** Hours pass in seconds. */
function fastClock(): () => number {
  const began = performance.now()
  return () => Math.round(1_000_000 + (performance.now() - began) * 5_000)
}

interface Stage {
  readonly place: SinkDatasource
  readonly store: OpenSinks
  readonly diagnostic: (text: string) => void
}

for (const kind of ['sqlite', 'postgres'] as const) {
  const check = (name: string, work: (stage: Stage) => Promise<void>): void => {
    test(`${name} (${kind})`, BOUNDED, (context) =>
      onStage(kind, { diagnostic: (text) => context.diagnostic(text), work }),
    )
  }

  check('deliver: every event, those of a document in their order', async ({ store, diagnostic }) => {
    const log = eventLog(2_000)
    await using server = await receiver()
    await addSink(store, webhookTo(server.url))
    const began = performance.now()
    await using _deliverer = deliver(store, log)
    await until(() => server.got.length >= log.length)
    diagnostic(`${Math.round(log.length / ((performance.now() - began) / 1000))} events a second`)
    checkReceived(server.got, log)
    await until(async () => (await store.read('a'))!.progress.position === log.length)
  })

  check('deliver: what comes later is sent when there is notice of it', async ({ store }) => {
    const log = [...eventLog(1)]
    await using server = await receiver()
    await addSink(store, webhookTo(server.url))
    await using deliverer = deliver(store, log)
    await until(() => server.got.length === 1)
    await sleep(50)
    const began = performance.now()
    log.push(keptEvent(2, 'x'))
    deliverer.wake()
    await until(() => server.got.length === 2)
    assert.ok(performance.now() - began < 900, 'without notice it is looked every second')
    log.push(keptEvent(3, 'x'))
    await until(() => server.got.length === 3, 3_000)
  })

  check('deliver: a receiver that often fails gets everything in order', async ({ store }) => {
    const log = eventLog(150, 10)
    let calls = 0
    await using server = await receiver(() => ++calls % 3 === 0)
    await addSink(store, webhookTo(server.url))
    await using _deliverer = deliver(store, log, { now: fastClock() })
    await until(() => server.got.length >= log.length)
    checkReceived(server.got, log)
    await until(async () => (await store.readItems('a')).length === 0)
  })

  check('deliver: sinks that hang, fail or talk nonsense delay no other', async ({ store }) => {
    const log = eventLog(1_000)
    await using hanging = await answering(() => undefined)
    await using failing = await answering((request, response) => {
      request.resume()
      response.writeHead(500).end()
    })
    await using closing = await answering((request) => request.socket.destroy())
    await using well = await receiver()
    const urls = [hanging, failing, closing].map(({ url }) => url)
    for (const [i, url] of urls.entries()) await addSink(store, webhookTo(url, { name: `bad${i}` }))
    await addSink(store, webhookTo('http://no.such.host.invalid/', { name: 'nowhere' }))
    await addSink(store, webhookTo(well.url, { name: 'well' }))
    await using _deliverer = deliver(store, log)
    // To wait for what hangs would take seconds for each event, which is far longer than this waits.
    await until(() => well.got.length >= log.length)
    checkReceived(well.got, log)
    await until(async () => (await store.read('bad1'))!.progress.failures >= 5)
    const items = await store.readItems('bad1')
    assert.ok(items.length > 0 && items.length <= 256, `${items.length} items do not pile up`)
  })

  check(
    'deliver: twelve failures make a dead letter, and redriven it goes out in order',
    async ({ store }) => {
      const log = eventLog(30, 3)
      const attempts: number[] = []
      let isWell = false
      await using server = await receiver((seq) => {
        if (seq === 4) attempts.push(seq)
        return seq === 4 && !isWell
      })
      await addSink(store, webhookTo(server.url))
      let state: Overview | undefined
      const observer = { state: (_sink: string, overview: Overview) => void (state = overview) }
      await using deliverer = deliver(store, log, { now: fastClock(), observer })
      const dead = () => store.listDead('a', { since: 0, limit: 10 })
      await until(async () => {
        deliverer.wake()
        return (await dead()).length === 1
      })
      await until(() => server.got.length === 21)
      const [letter] = await dead()
      assert.deepEqual(
        [letter!.id, letter!.attempts, letter!.error, letter!.held, attempts.length],
        ['event-4', 12, 'status 500', 8, 12],
      )
      assert.deepEqual(JSON.parse((await store.readDead('a', 'event-4'))!.event), log[3])
      await until(() => state?.dead === 1)
      assert.deepEqual([state!.undelivered, state!.oldestAt], [8, 7])
      isWell = true
      assert.equal(await store.redrive('a'), 1)
      await until(() => server.got.length === 30)
      checkReceived(server.got, log)
      await until(async () => (await store.readItems('a')).length === 0)
    },
  )

  check(
    'deliver: documents that are refused delay no other, also if nothing else happens',
    async ({ store }) => {
      const log = [...eventLog(5, 5)]
      await using server = await receiver((seq) => seq <= 5)
      await addSink(store, webhookTo(server.url))
      await using deliverer = deliver(store, log)
      await until(async () => (await store.read('a'))!.progress.failures >= 5)
      log.push(keptEvent(6, 'other'))
      deliverer.wake()
      await until(() => server.got.length === 1, 20_000)
    },
  )

  check('deliver: a discarded letter lets those behind it go', async ({ store }) => {
    const log = eventLog(9, 3)
    await using server = await receiver((seq) => seq === 2)
    await addSink(store, webhookTo(server.url))
    await using deliverer = deliver(store, log, { now: fastClock() })
    await until(async () => {
      deliverer.wake()
      return (await store.listDead('a', { since: 0, limit: 1 })).length === 1
    })
    assert.equal(await store.discard('a', 'event-2'), true)
    await until(() => server.got.length === 8)
    checkReceived(
      server.got,
      log.filter(({ seq }) => seq !== 2),
    )
  })

  check('deliver: 410 disables a sink; replaced, it goes on where it was', async ({ store }) => {
    const log = [...eventLog(5, 2)]
    await using gone = await answering((request, response) => {
      request.resume()
      response.writeHead(410).end()
    })
    await addSink(store, webhookTo(gone.url))
    await using _deliverer = deliver(store, log)
    await until(async () => (await store.read('a'))!.progress.isDisabled)
    const { connections } = gone
    const before = connections()
    await sleep(1_500)
    assert.equal(connections(), before, 'it is left alone')
    await using server = await receiver()
    await replaceSink(store, printDefinition(webhookTo(server.url)))
    await until(() => server.got.length === 5)
    checkReceived(server.got, log)
  })

  for (const isNoticed of [true, false]) {
    const when = isNoticed ? 'after' : 'before'
    check(`deliver: 410 of an earlier address, ${when} the new one is known`, async ({ store }) => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      await using gone = await answering((request, response) => {
        request.resume()
        void released.then(() => response.writeHead(410).end())
      })
      await using server = await receiver()
      await addSink(store, webhookTo(gone.url))
      const { counted, leases } = countingLeases(store)
      const renewMs = isNoticed ? 50 : 60_000
      await using _deliverer = deliver(counted, eventLog(2, 1), { ttlMs: 120_000, renewMs })
      await until(() => gone.connections() === 1)
      await replaceSink(store, printDefinition(webhookTo(server.url)))
      const before = leases()
      await until(() => !isNoticed || leases() >= before + 2)
      release()
      await until(() => server.got.length === 2, 20_000)
      assert.equal((await store.read('a'))!.progress.isDisabled, false)
    })
  }

  check(
    'deliver: a sink that is replaced after a 410, while a send is under way, stays active',
    async ({ store }) => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      let requests = 0
      await using gone = await answering((request, response) => {
        request.resume()
        if (++requests === 1) response.writeHead(410).end()
        else void released.then(() => response.writeHead(500).end())
      })
      await using server = await receiver()
      await addSink(store, webhookTo(gone.url))
      const { counted, leases } = countingLeases(store)
      await using _deliverer = deliver(counted, eventLog(2, 2), { ttlMs: 120_000, renewMs: 300 })
      await until(async () => (await store.read('a'))!.progress.isDisabled)
      const before = leases()
      await replaceSink(store, printDefinition(webhookTo(server.url)))
      await until(() => leases() >= before + 2)
      release()
      await until(() => server.got.length === 2, 20_000)
      assert.equal((await store.read('a'))!.progress.isDisabled, false)
    },
  )

  check('deliver: a new address is used without a new start', async ({ store }) => {
    const log = [...eventLog(3, 3)]
    await using one = await receiver()
    await using other = await receiver()
    await addSink(store, webhookTo(one.url))
    await using deliverer = deliver(store, log)
    await until(() => one.got.length === 3)
    await replaceSink(store, printDefinition(webhookTo(other.url)))
    let count = 3
    // When it is noticed is not reported, so events come until one goes to the new address.
    await until(async () => {
      if (other.got.length > 0) return true
      log.push(...eventLog(++count, 3).slice(count - 1))
      deliverer.wake()
      await sleep(300)
      return false
    })
    await until(() => one.got.length + other.got.length === count)
    const all = [...one.got, ...other.got].toSorted((a, b) => a - b)
    assert.deepEqual(
      all,
      Array.from({ length: count }, (_, i) => i + 1),
    )
  })

  check('deliver: a sink that is removed and created again begins anew', async ({ store }) => {
    const log = [...eventLog(3, 3)]
    await using one = await receiver()
    await using other = await receiver()
    await addSink(store, webhookTo(one.url))
    const { counted, leases } = countingLeases(store)
    await using deliverer = deliver(counted, log, { renewMs: 50 })
    await until(async () => (await store.read('a'))!.progress.position === 3)
    await store.remove('a')
    const definition = printDefinition(webhookTo(other.url))
    assert.ok(await store.create({ name: 'a', definition, position: 5 }))
    const before = leases()
    await until(() => leases() >= before + 3)
    log.push(...eventLog(8, 8).slice(3))
    deliverer.wake()
    await until(() => one.got.length + other.got.length === 6)
    assert.deepEqual([one.got.length, other.got.toSorted((a, b) => a - b)], [3, [6, 7, 8]])
  })

  check(
    'deliver: the transport of an earlier definition is closed when its last send has ended',
    async ({ store }) => {
      const [opened, sent, closed]: string[][] = [[], [], []]
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      const [one, two, three] = ['one', 'two', 'three'].map((name) => webhookTo(`http://${name}.example/`))
      await addSink(store, one!)
      await using _deliverer = deliver(store, eventLog(1), {
        openTransport({ url }) {
          opened!.push(url)
          return {
            async send() {
              sent!.push(url)
              await released
              return { kind: 'delivered' }
            },
            async [Symbol.asyncDispose]() {
              closed!.push(url)
            },
          }
        },
      })
      await until(() => sent!.length === 1)
      for (const [i, next] of [two!, three!].entries()) {
        await replaceSink(store, printDefinition(next))
        await until(() => opened!.length === i + 2)
      }
      await until(() => closed!.length === 1)
      release()
      await until(() => closed!.length === 2)
      assert.deepEqual([sent, closed], [[one!.url], [two!.url, one!.url]])
    },
  )

  check('deliver: of two processes one delivers, and the other takes over', async ({ place, store }) => {
    const log = [...eventLog(50)]
    await using server = await receiver()
    await addSink(store, webhookTo(server.url))
    await using another = await place.open()
    const delivered = { first: 0, second: 0 }
    const count = (which: keyof typeof delivered) => ({ delivered: () => void delivered[which]++ })
    await using first = deliver(store, log, { observer: count('first') })
    await until(() => server.got.length === 50)
    await using _second = deliver(another, log, { observer: count('second') })
    log.push(...eventLog(100).slice(50))
    await until(() => delivered.first + delivered.second === 100)
    assert.deepEqual(delivered, { first: 100, second: 0 })
    await first[Symbol.asyncDispose]()
    log.push(...eventLog(150).slice(100))
    await until(() => delivered.first + delivered.second === 150)
    assert.deepEqual(delivered, { first: 100, second: 50 }, 'and nothing was sent twice')
    checkReceived(server.got, log)
  })

  check('deliver: stopping waits a little for what is under way', async ({ store }) => {
    const log = eventLog(8, 8)
    await using server = await answering((request, response) => {
      request.resume()
      // four are slow, four never come
      const path = Number(request.headers['webhook-id']?.toString().slice('event-'.length))
      if (path <= 4) setTimeout(() => response.end(), 300)
    })
    await addSink(store, webhookTo(server.url))
    await using deliverer = deliver(store, log, { openTransport: webhooks(300_000) })
    await until(() => server.connections() === 8)
    const began = performance.now()
    await deliverer[Symbol.asyncDispose]()
    assert.ok(performance.now() - began < 60_000, 'far less than those that never come may take')
    const { progress } = (await store.read('a'))!
    assert.deepEqual([progress.position, progress.failures], [4, 0], 'what was called off did not fail')
    assert.ok(await store.hold({ name: 'a', owner: 'somebody', ttlMs: 1_000 }))
  })

  check('deliver: a sink gets what its filter lets through', async ({ store }) => {
    const log = Array.from({ length: 100 }, (_, i) => keptEvent(i + 1, 'd', i % 10 === 0 ? 'rare' : 'e'))
    await using server = await receiver()
    await addSink(store, webhookTo(server.url, { filter: { entity: 'rare' } }))
    await using _deliverer = deliver(store, log)
    await until(() => server.got.length === 10)
    await until(async () => (await store.read('a'))!.progress.position === 100)
    assert.deepEqual(
      server.got,
      log.filter(({ entity }) => entity === 'rare').map(({ seq }) => seq),
    )
  })

  check('deliver: a new filter holds for events that were read before it', async ({ store }) => {
    const log = ['e', 'rare', 'e', 'rare'].map((entity, i) => keptEvent(i + 1, `d${i}`, entity))
    await using failing = await receiver(() => true)
    await using server = await receiver()
    await addSink(store, webhookTo(failing.url))
    await using _deliverer = deliver(store, log)
    await until(async () => (await store.readItems('a')).length === 4)
    await replaceSink(store, printDefinition(webhookTo(server.url, { filter: { entity: 'rare' } })))
    await until(async () => (await store.readItems('a')).length === 0)
    assert.deepEqual(
      server.got.toSorted((a, b) => a - b),
      [2, 4],
    )
  })

  check('deliver: a sink sees what its roles may see', async ({ store }) => {
    await using clerk = await receiver()
    await using boss = await receiver()
    await addSink(store, webhookTo(clerk.url, { name: 'clerk', roles: ['clerk'] }))
    await addSink(store, webhookTo(boss.url, { name: 'boss', roles: ['boss'] }))
    await using _deliverer = deliver(store, salaries(), { renderEvent: eventRenderer() })
    await until(() => boss.got.length === 3)
    await until(async () => (await store.read('clerk'))!.progress.position === 3)
    assert.deepEqual(
      [clerk.got, boss.got],
      [
        [1, 3],
        [1, 2, 3],
      ],
    )
  })

  check('deliver: an event that cannot be made fails by itself', async ({ store }) => {
    const errors: unknown[] = []
    await using server = await receiver()
    await addSink(store, webhookTo(server.url))
    const renderEvent: RenderEvent = (event) => {
      if (event.seq === 2) throw new Error('what is this?')
      return { body: JSON.stringify(cloudEvent(event, { seq: event.seq })) }
    }
    const observer = { error: (error: unknown) => void errors.push(error) }
    await using _deliverer = deliver(store, eventLog(3, 3), { renderEvent, observer })
    await until(() => server.got.length === 2)
    await until(async () => (await store.readItems('a')).length === 1)
    assert.equal(errors.length, 1)
  })
}

test('deliver: a definition that cannot be used keeps no other sink waiting', BOUNDED, () =>
  onStage('sqlite', {
    diagnostic: () => undefined,
    async work({ store }) {
      const errors: string[] = []
      await using server = await receiver()
      await addSink(store, {
        kind: 'nats',
        name: 'a',
        url: 'nats://x',
        subject: 's',
        roles: ['r'],
        filter: {},
      })
      await addSink(store, webhookTo(server.url, { name: 'b' }))
      const observer = { error: (_error: unknown, sink?: string) => void errors.push(sink ?? '') }
      await using _deliverer = deliver(store, eventLog(3), { observer, openTransport: webhooks() })
      await until(() => server.got.length === 3)
      await sleep(1_500)
      assert.deepEqual(errors, ['a'], 'and is not tried all the time')
    },
  }),
)

interface Play {
  readonly diagnostic: (text: string) => void
  readonly work: (stage: Stage) => Promise<void>
}

async function onStage(kind: StoreKind, { diagnostic, work }: Play): Promise<void> {
  await using place = await sinkPlace(kind)
  await using store = await place.open()
  await work({ place, store, diagnostic })
}

interface CountedLeases {
  readonly counted: SinkStore
  /** How often a lease was asked for or renewed. */
  readonly leases: () => number
}

function countingLeases(store: SinkStore): CountedLeases {
  let count = 0
  const counting = (how: 'hold' | 'renew') => async (wanted: SinkHold) => {
    const held = await store[how](wanted)
    count++
    return held
  }
  return { counted: { ...store, hold: counting('hold'), renew: counting('renew') }, leases: () => count }
}

/** Ann comes; her salary rises; her name changes. */
function salaries(): readonly StoredEvent[] {
  const states = [
    { _id: 'ann', name: 'Ann', salary: 1 },
    { _id: 'ann', name: 'Ann', salary: 2 },
    { _id: 'ann', name: 'Anna', salary: 2 },
  ]
  return states.map((after, i) => ({
    ...keptEvent(i + 1, 'ann', 'person'),
    operation: i === 0 ? 'insert' : 'update',
    before: i === 0 ? null : JSON.stringify(states[i - 1]),
    after: JSON.stringify(after),
  }))
}

async function replaceSink(store: OpenSinks, definition: string): Promise<void> {
  assert.ok(await store.replace((await store.read('a'))!, definition))
}

/** As the service would: the event made anew for each caller, from whole documents. */
function eventRenderer(): RenderEvent {
  const schema = compiledSchema('person', {
    name: { type: 'string' },
    salary: { type: 'integer', access: { find: ['boss'] } },
  })
  const hook = hookOf()
  return (kept, caller) => {
    const { id, seq, operation, before, after } = kept
    const happening = {
      id,
      operation,
      principal: 'p',
      date: '',
      ...(before !== null && { before: parseTrusted(before) as JsonObject }),
      ...(after !== null && { after: parseTrusted(after) as JsonObject }),
    }
    const event = visibleEvent(happening, { hook, view: viewOf(schema)(caller) })
    return event ? { body: JSON.stringify(cloudEvent(kept, { ...event, seq })) } : 'invisible'
  }
}
