/** Many readers of events at once: none of them stops the service, takes its memory, or reads what another has read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairGate } from '../../src/base/work/fair-gate.ts'
import { CallerQueue } from '../../src/base/work/caller-queue.ts'
import { SizedCache } from '../../src/base/sized-cache.ts'
import { ByteShares } from '../../src/service/events/memory-shares.ts'
import { EventScheduler } from '../../src/service/events/scheduler.ts'
import { EventHub } from '../../src/service/events/hub.ts'
import { EventLog } from '../../src/service/events/log.ts'
import type { FollowedEvents } from '../../src/service/service.ts'
import type { EventHead, EventStore } from '../../src/store/events.ts'
import { type TestService, callerWith, failLoudly, openTestService } from '../support/service.ts'

const HOOKS = { info: { hooks: [{ name: 'all', actions: ['insert'] }] } }
const ACCESS = { find: ['boss'], insert: ['anyone'], update: ['anyone'], delete: ['anyone'] }

async function openWith(count: number, length: number): Promise<TestService> {
  const tester = await openTestService()
  await tester.define('seen', { s: { type: 'string' } }, HOOKS)
  await tester.define('hidden', { s: { type: 'string' } }, { ...HOOKS, schema: { access: ACCESS } })
  await write(tester, 'seen', count, length)
  return tester
}

let written = 0

async function write({ service }: TestService, entity: string, count: number, length: number): Promise<void> {
  const data = Array.from({ length: count }, () => ({ _id: `d${written++}`, s: 'x'.repeat(length) }))
  assert.equal((await service.data.insert(callerWith('boss'), { entity }, { data })).status, 'COMPLETE')
}

function named(principal: string, ...roles: readonly string[]) {
  return { ...callerWith(...roles), principal }
}

/** The longest time that this thread worked without letting others have a turn, in milliseconds of the processor. */
async function longestStretch(work: () => Promise<unknown>): Promise<number> {
  const used = (): number => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  let [isOver, longest, last] = [false, 0, used()]
  const beat = (): void => {
    const now = used()
    longest = Math.max(longest, now - last)
    last = now
    if (!isOver) setImmediate(beat)
  }
  setImmediate(beat)
  try {
    await work()
  } finally {
    isOver = true
  }
  return longest
}

async function followTo({ service }: TestService, principal: string, last: number): Promise<number> {
  const ending = new AbortController()
  const following = { parameters: new URLSearchParams('since=0'), lastEventId: undefined }
  let count = 0
  const followed = await service.events.follow(named(principal), { ...following, ending: ending.signal })
  for await (const { events, position } of followed) {
    count += events.length
    if (position === last) ending.abort()
  }
  return count
}

test('follow: 200 followers who are 2,000 events behind let others have their turn', async (t) => {
  await using tester = await openWith(2_000, 200)
  const followers = Array.from({ length: 200 }, (_, i) => `p${i % 10}`)
  let counts: readonly number[] = []
  const longest = await longestStretch(async () => {
    counts = await Promise.all(followers.map((principal) => followTo(tester, principal, 2_000)))
  })
  t.diagnostic(`longest stretch ${longest.toFixed(1)} ms`)
  assert.ok(counts.every((count) => count === 2_000))
  assert.ok(longest < 150, `${longest} ms`)
})

test('events: 500 waits over hidden events let others have their turn', async (t) => {
  await using tester = await openWith(1, 10)
  await write(tester, 'hidden', 5_000, 500)
  const read = (principal: string) =>
    tester.service.events.read(named(principal), new URLSearchParams('since=1&wait=1'))
  const longest = await longestStretch(async () => {
    const pages = await Promise.all(Array.from({ length: 500 }, (_, i) => read(`p${i % 10}`)))
    assert.ok(pages.every(({ events, next }) => events.length === 0 && next > 1_000))
  })
  t.diagnostic(`longest stretch ${longest.toFixed(1)} ms`)
  assert.ok(longest < 150, `${longest} ms`)
})

test('follow: followers who take nothing hold little, and let others of their own read on', async () => {
  await using tester = await openWith(60, 500_000)
  const parameters = new URLSearchParams('since=0')
  const ending = new AbortController()
  const idle: Promise<void>[] = []
  let held = 0
  const take = async (iteration: AsyncIterator<FollowedEvents>): Promise<void> => {
    const { value } = (await iteration.next()) as IteratorResult<FollowedEvents, undefined>
    held += value?.events.reduce((sum, { text }) => sum + text.length, 0) ?? 0
  }
  for (let i = 0; i < 100; i++) {
    const following = { parameters, lastEventId: undefined, ending: ending.signal }
    const followed = await tester.service.events.follow(named('slow'), following)
    const iteration = followed[Symbol.asyncIterator]()
    await iteration.next()
    idle.push(take(iteration))
  }
  assert.equal(await followTo(tester, 'quick', 60), 60)
  assert.ok(held > 10_000_000 && held < 20_000_000, String(held))
  ending.abort()
  await Promise.all(idle)
})

function head(seq: number): EventHead {
  const event = { id: String(seq), entity: 'e', hook: 'h', operation: 'insert', document: 'd' } as const
  return { ...event, seq, at: 0, details: '{"entityVersion":"1.0.0","hook":{}}', holder: seq, bytes: 10 }
}

/** A log of so many events that counts what is read of it. */
function countedLog(last: number) {
  const reads = { heads: 0, states: 0, atOnce: 0, most: 0 }
  const slowly = async <T>(value: T): Promise<T> => {
    reads.most = Math.max(reads.most, ++reads.atOnce)
    await new Promise(setImmediate)
    reads.atOnce--
    return value
  }
  const store: Pick<EventStore, 'readHeads' | 'readStates' | 'eventBounds' | 'onEvents'> = {
    eventBounds: async () => ({ first: 1, last }),
    readHeads: ({ after, upTo }) => {
      reads.heads++
      return slowly(Array.from({ length: upTo - after }, (_, i) => head(after + i + 1)))
    },
    readStates: (holders) => {
      reads.states++
      return slowly(new Map(holders.map((seq) => [seq, { before: null, after: '{}' }])))
    },
    onEvents: () => undefined,
  }
  return { store, reads }
}

test('event log: those who read the same read the store once, and few read it at a time', async () => {
  const { store, reads } = countedLog(1_000)
  const log = new EventLog(store, 1_000)
  const readAll = async (caller: string): Promise<number> => {
    let count = 0
    for (let position = 0; ;) {
      const { heads, to } = await log.after(position, caller)
      if (to === position) return count
      await log.statesOf(heads, caller)
      count += heads.length
      position = to
    }
  }
  const counts = await Promise.all(Array.from({ length: 200 }, (_, i) => readAll(`p${i % 7}`)))
  assert.ok(counts.every((count) => count === 1_000))
  // the end of the log is looked at anew, since there may be more
  assert.ok(reads.heads <= 12 && reads.states <= 10, JSON.stringify(reads))
  assert.ok(reads.most <= 4, JSON.stringify(reads))
})

test('event hub: whoever cannot be concerned sleeps on, and learns how far the log has got', async () => {
  let last = 5
  const { store } = countedLog(0)
  const hub = new EventHub(
    { ...store, eventBounds: async () => ({ first: 1, last }) },
    { timeLimitMs: 1_000, onInternalError: failLoudly },
  )
  await using _hub = hub
  using _joined = hub.join()
  await hub.newsAfter(0, { signals: [], timeoutMs: 5_000 })
  let asked = 0
  const interest = {
    key: 'nobody',
    concerns: () => {
      asked++
      return false
    },
  }
  const waits = Array.from({ length: 1_000 }, () =>
    hub.newsAfter(5, { signals: [], timeoutMs: 2_500, interest }),
  )
  const woken = hub.newsAfter(5, { signals: [], timeoutMs: 60_000 })
  last = 30
  assert.equal(await woken, 5)
  const positions = await Promise.all(waits)
  assert.ok(positions.every((position) => position === 30))
  assert.ok(asked < 5, `asked ${asked} times`)
})

test('fair queue: callers are served in turn, each in the order of its requests', () => {
  const queue = new CallerQueue<string>()
  for (let i = 0; i < 4; i++) queue.enqueue('a', `a${i}`)
  queue.enqueue('b', 'b0')
  queue.enqueue('b', 'b1')
  queue.enqueue('c', 'c0')
  const taken: string[] = []
  for (let item = queue.dequeue(); item !== undefined; item = queue.dequeue()) taken.push(item)
  assert.deepEqual(taken, ['a0', 'b0', 'c0', 'a1', 'b1', 'a2', 'a3'])
  assert.ok(queue.isEmpty)
})

test('fair gate: so many at a time, also when one of them fails', async () => {
  const gate = new FairGate(2)
  let [inside, most] = [0, 0]
  const work = async (): Promise<void> => {
    most = Math.max(most, ++inside)
    await new Promise(setImmediate)
    if (inside-- === 2) throw new Error('it fails')
  }
  const done = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => gate.run(`p${i % 3}`, work)))
  assert.equal(most, 2)
  assert.ok(done.some(({ status }) => status === 'rejected'))
  await gate.run('p', async () => undefined)
})

test('sized cache: what was used last stays, up to the size of all', () => {
  const cache = new SizedCache<string, number>(10)
  cache.set('a', 1, 4)
  cache.set('b', 2, 4)
  cache.get('a')
  cache.set('c', 3, 4)
  assert.deepEqual([cache.get('a'), cache.get('b'), cache.get('c')], [1, undefined, 3])
  cache.set('d', 4, 11)
  assert.equal(cache.has('d'), false)
  cache.set('a', 5, 6)
  assert.deepEqual([cache.get('a'), cache.get('c')], [5, 3])
})

test('byte shares: a caller has its part at most, one alone may be larger, and who leaves takes nothing', async () => {
  const shares = new ByteShares({ all: 100, perCaller: 40 })
  const { signal } = new AbortController()
  const leaving = new AbortController()
  const first = await shares.reserve('a', 30, signal)
  const order: string[] = []
  const note = (name: string) => (share: Disposable | undefined) => {
    order.push(share ? name : `${name} left`)
    return share
  }
  const second = shares.reserve('a', 30, signal).then(note('second'))
  const gone = shares.reserve('a', 30, leaving.signal).then(note('gone'))
  const other = await shares.reserve('b', 65, signal)
  const third = shares.reserve('c', 10, signal).then(note('third'))
  leaving.abort()
  await gone
  assert.deepEqual(order, ['gone left'])
  first![Symbol.dispose]()
  first![Symbol.dispose]()
  await Promise.all([second, third].slice(0, 1))
  other![Symbol.dispose]()
  await third
  assert.deepEqual(order.toSorted(), ['gone left', 'second', 'third'])
  ;(await second)![Symbol.dispose]()
  ;(await third)![Symbol.dispose]()
  assert.ok(await shares.reserve('d', 1_000, signal), 'one alone is granted however large it is')
})

test('event turns: work is shared among callers, and what fails fails alone', async () => {
  const turns = new EventScheduler()
  const order: string[] = []
  function* work(name: string, steps: number) {
    for (let i = 0; i < steps; i++) {
      for (const end = performance.now() + 1; performance.now() < end;);
      yield
    }
    order.push(name)
    return name
  }
  function* failing() {
    yield
    throw new Error('it fails')
  }
  const greedy = Array.from({ length: 10 }, (_, i) => turns.run('greedy', work(`g${i}`, 20)))
  const modest = turns.run('modest', work('m', 2))
  await assert.rejects(turns.run('other', failing()), /it fails/)
  assert.equal(await modest, 'm')
  assert.ok(order.indexOf('m') < 2, order.join())
  await Promise.all(greedy)
})

test('events: a rendering of a large event is shared only under the metadata by which readers see the same', async () => {
  await using tester = await openTestService()
  await tester.define('seen', { s: { type: 'string' } }, HOOKS)
  await write(tester, 'seen', 4, 200_000)
  const { service } = tester
  const rendered: (readonly [principal: string, seq: number])[] = []
  let isCurrent = true
  let fails = false
  service.events.renderLargeBy(async ({ datasource, seq }, caller) => {
    assert.equal(datasource, 'default')
    rendered.push([caller.principal, seq])
    await new Promise((resolve) => setTimeout(resolve, 50))
    if (fails && caller.principal === 'one') throw new Error('its thread has ended')
    return { text: JSON.stringify(caller.principal), epoch: service.epoch() + (isCurrent ? 0 : 1) }
  })
  const read = async (principal: string, since: number): Promise<string> => {
    const page = await service.events.read(named(principal), new URLSearchParams(`since=${since}&limit=1`))
    return page.events.join()
  }
  const both = (since: number): Promise<readonly PromiseSettledResult<string>[]> =>
    Promise.allSettled([read('one', since), read('two', since)])
  const values = (results: readonly PromiseSettledResult<string>[]): readonly (string | undefined)[] =>
    results.map((each) => (each.status === 'fulfilled' ? each.value : undefined))
  assert.deepEqual(values(await both(0)), ['"one"', '"one"'])
  assert.equal(await read('three', 0), '"one"', 'it is kept')
  isCurrent = false
  assert.deepEqual(values(await both(1)), ['"one"', '"two"'])
  assert.equal(await read('three', 1), '"three"', 'it is not kept')
  isCurrent = true
  fails = true
  assert.deepEqual(values(await both(2)), [undefined, '"two"'])
  assert.deepEqual(rendered, [
    ['one', 1],
    ['one', 2],
    ['two', 2],
    ['three', 2],
    ['one', 3],
    ['two', 3],
  ])
})

test('events: a single event is rendered by its number, as its reader sees it', async () => {
  await using tester = await openWith(1, 10)
  await write(tester, 'hidden', 1, 10)
  const { render } = tester.service.events
  const at = (seq: number) => ({ datasource: 'default', seq })
  const { text, epoch } = await render(at(1), named('one'))
  assert.match(text, /"seq":1,.*"entity":"seen"/)
  assert.equal(epoch, tester.service.epoch())
  assert.equal((await render(at(2), named('one'))).text, '')
  assert.match((await render(at(2), named('one', 'boss'))).text, /"entity":"hidden"/)
  await assert.rejects(render(at(4), named('one')))
})
