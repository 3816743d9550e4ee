import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Code, ServiceError } from '../../src/base/errors.ts'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import type { Service } from '../../src/service/service.ts'
import { rowsOf } from '../support/postgres.ts'
import { openRelay } from '../support/relay.ts'
import { startTestServer } from '../support/server.ts'
import { ADMIN, openServiceAt, openTestService } from '../support/service.ts'
import { type Tenant, shareService } from '../support/shared-service.ts'
import { directoryOf, freshPlace, onEveryStore, storeKind } from '../support/store-kind.ts'

const openShared = shareService()

interface LockTester extends AsyncDisposable {
  readonly service: Service
  readonly location: string
  /** As if this time had passed since the locks of the domain were changed. */
  pass(ms: number): Promise<void>
  ask(operation: string, callerId: string, more?: JsonObject): Promise<boolean | number>
}

/** Locks of one domain, in which only this test has any. */
async function openLocks(): Promise<LockTester> {
  return locksOf(await openShared())
}

/** For who looks at what there is in all domains. */
async function openLocksApart(): Promise<LockTester> {
  return locksOf({ ...(await openTestService()), entity: 'd' })
}

function locksOf({ service, location, entity: domain, [Symbol.asyncDispose]: dispose }: Tenant): LockTester {
  return {
    service,
    location,
    pass: (ms) => pass(location, ms, domain),
    ask: (operation: string, callerId: string, more: JsonObject = {}) =>
      service.data.lock(ADMIN, { operation, domain, callerId, resourceId: 'r', ...more }),
    [Symbol.asyncDispose]: dispose,
  }
}

/** Locks expire by the clock of the database, which no test can set. */
async function pass(location: string, ms: number, domain = 'd'): Promise<void> {
  const earlier = `set expires = expires - ${ms} where domain = '${domain}'`
  if (storeKind() === 'postgres')
    return void (await rowsOf(location, (schema) => `update ${schema}.smalt_lock ${earlier}`))
  using database = new DatabaseSync(join(directoryOf(location), 'smalt.db'), { timeout: 10_000 })
  database.exec(`update smalt_lock ${earlier}`)
}

/** Somebody else's transaction, which uses the row of the only lock. */
async function useRow(location: string) {
  const client = new pg.Client({ connectionString: location.replace(/\?.*/, '') })
  await client.connect()
  const table = `${new URL(location).searchParams.get('schema')!}.smalt_lock`
  await client.query('begin')
  await client.query(`select from ${table} for update`)
  const waiting = 'select from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))'
  const expired = `select from ${table} where expires + 500 < extract(epoch from clock_timestamp()) * 1000`
  return {
    end: () => client.end(),
    /** Until so many statements wait for it, and the lock has expired for a while. */
    async untilExpiredWith(statements: number): Promise<void> {
      for (const deadline = Date.now() + 60_000; ; await sleep(20)) {
        const [{ rowCount: waiters }, { rowCount: over }] = [
          await client.query(waiting),
          await client.query(expired),
        ]
        if (waiters === statements && over === 1) return
        assert.ok(Date.now() < deadline)
      }
    },
  }
}

async function refused(work: Promise<unknown>, code: Code, message: RegExp): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof ServiceError, String(error))
    assert.equal(error.code, code)
    assert.match(error.message, message)
    return true
  })
}

const notHeld = (work: Promise<unknown>): Promise<void> =>
  refused(work, 'crud:InvalidLock', /InvalidLockException: r$/)

onEveryStore((kind) => {
  test('lock: a free resource is acquired, and nobody else acquires it', async () => {
    await using locks = await openLocks()
    assert.equal(await locks.ask('acquire', 'a'), true)
    assert.equal(await locks.ask('acquire', 'b'), false)
    assert.equal(await locks.ask('count', 'a'), 1)
  })

  test('lock: each acquire by its holder is counted, and needs a release of its own', async () => {
    await using locks = await openLocks()
    await locks.ask('acquire', 'a')
    assert.equal(await locks.ask('acquire', 'a'), true)
    assert.equal(await locks.ask('count', 'a'), 2)
    assert.equal(await locks.ask('release', 'a'), false)
    assert.equal(await locks.ask('acquire', 'b'), false)
    assert.equal(await locks.ask('release', 'a'), true)
    assert.equal(await locks.ask('acquire', 'b'), true)
  })

  test('lock: release, count and ping of a lock that is not held are refused', async () => {
    await using locks = await openLocks()
    for (const operation of ['release', 'count', 'ping']) await notHeld(locks.ask(operation, 'a'))
    await locks.ask('acquire', 'a')
    for (const operation of ['release', 'count', 'ping']) await notHeld(locks.ask(operation, 'b'))
    assert.equal(await locks.ask('count', 'a'), 1)
    await locks.ask('release', 'a')
    await notHeld(locks.ask('release', 'a'))
  })

  test('lock: it expires when its time is over, not before, and anyone may take it over', async () => {
    await using locks = await openLocks()
    await locks.ask('acquire', 'a', { ttl: 1_000_000 })
    await locks.ask('acquire', 'a', { ttl: 1_000_000 })
    await locks.pass(900_000)
    assert.equal(await locks.ask('acquire', 'b'), false)
    await locks.pass(100_000)
    for (const operation of ['release', 'count', 'ping']) await notHeld(locks.ask(operation, 'a'))
    assert.equal(await locks.ask('acquire', 'b'), true)
    assert.equal(await locks.ask('count', 'b'), 1)
  })

  test('lock: its own holder takes an expired lock over with a count of one', async () => {
    await using locks = await openLocks()
    await locks.ask('acquire', 'a', { ttl: 10 })
    await locks.ask('acquire', 'a', { ttl: 10 })
    await locks.pass(10)
    assert.equal(await locks.ask('acquire', 'a'), true)
    assert.equal(await locks.ask('count', 'a'), 1)
  })

  test('lock: without a ttl it lives an hour', async () => {
    await using locks = await openLocks()
    await locks.ask('acquire', 'a')
    await locks.pass(3_500_000)
    assert.equal(await locks.ask('count', 'a'), 1)
    await locks.pass(100_000)
    await notHeld(locks.ask('count', 'a'))
  })

  test('lock: ping and a partial release begin the stored ttl anew; another acquire replaces it', async () => {
    await using locks = await openLocks()
    await locks.ask('acquire', 'a', { ttl: '1000000' })
    await locks.pass(800_000)
    assert.equal(await locks.ask('ping', 'a'), true)
    await locks.pass(800_000)
    await locks.ask('acquire', 'a', { ttl: 500_000 })
    await locks.pass(400_000)
    assert.equal(await locks.ask('release', 'a'), false)
    await locks.pass(400_000)
    assert.equal(await locks.ask('count', 'a'), 1)
    await locks.pass(100_000)
    await notHeld(locks.ask('count', 'a'))
  })

  test('lock: a ttl of nothing or less is over at once', async () => {
    await using locks = await openLocks()
    for (const ttl of [0, -5]) {
      assert.equal(await locks.ask('acquire', 'a', { ttl }), true)
      await notHeld(locks.ask('count', 'a'))
    }
  })

  test('lock: domains and resources have nothing to do with each other', async () => {
    await using locks = await openLocks()
    await locks.ask('acquire', 'a')
    assert.equal(await locks.ask('acquire', 'b', { domain: 'other' }), true)
    assert.equal(await locks.ask('acquire', 'b', { resourceId: 'other' }), true)
    assert.equal(await locks.ask('acquire', 'b', { resourceId: 'R' }), true)
  })

  test('lock: of a hundred callers at once exactly one acquires', async () => {
    await using locks = await openLocks()
    const results = await Promise.all(Array.from({ length: 100 }, (_, i) => locks.ask('acquire', `c${i}`)))
    assert.equal(results.filter((each) => each === true).length, 1)
    assert.equal(results.filter((each) => each === false).length, 99)
  })

  test('lock: a caller holds a limited number, whatever the owners, and others are not concerned', async () => {
    await using tester = await openTestService({ limits: { locks: 3 } })
    const { data } = tester.service
    const ask = (operation: string, resourceId: string, more: JsonObject = {}, caller = ADMIN) =>
      data.lock(caller, { operation, domain: 'd', callerId: 'a', resourceId, ...more })
    const tooMany = (work: Promise<unknown>): Promise<void> =>
      refused(work, 'crud:LimitExceeded', /^one caller may hold 3 locks at a time; release some/)
    const other = { ...ADMIN, principal: 'p'.repeat(30_000) }
    assert.equal(await ask('acquire', '1', { ttl: 1_000_000 }), true)
    assert.equal(await ask('acquire', '2', { callerId: 'b' }), true)
    assert.equal(await ask('acquire', '3', { domain: 'e' }), true)
    for (const callerId of ['a', 'b', 'c']) await tooMany(ask('acquire', '4', { callerId }))
    assert.equal(await ask('acquire', '1', { ttl: 1_000_000 }), true, 'what is held can be acquired again')
    assert.equal(await ask('acquire', '1', { callerId: 'b' }), false, 'who owns it is the answer')
    assert.equal(await ask('acquire', '4', {}, other), true)
    assert.equal(await ask('acquire', '2', { callerId: 'b' }, other), true)
    await ask('release', '4', {}, other)
    await tooMany(ask('acquire', '4'))
    assert.equal(await ask('release', '3', { domain: 'e' }), true)
    assert.equal(await ask('acquire', '4'), true)
    await tooMany(ask('acquire', '5'))
    await pass(tester.location, 1_000_000)
    assert.equal(await ask('acquire', '5'), true, 'an expired lock does not count')
    await tooMany(ask('acquire', '1'))
    await pass(tester.location, 3_600_000)
    assert.equal(await ask('acquire', '2', {}, other), true, 'it is the lock of who takes it over')
    for (const resource of ['1', '3', '5']) assert.equal(await ask('acquire', resource), true)
    await tooMany(ask('acquire', '6'))
  })

  test('lock: the number is exact though not each acquire counts, and no number of them is refused that are released', async () => {
    await using tester = await openTestService({ limits: { locks: 40 } })
    const { data } = tester.service
    const ask = (operation: string, resourceId: string) =>
      data.lock(ADMIN, { operation, domain: 'd', callerId: 'a', resourceId })
    for (let i = 0; i < 100; i++) {
      assert.equal(await ask('acquire', 'same'), true)
      assert.equal(await ask('release', 'same'), true)
    }
    for (let i = 0; i < 40; i++) assert.equal(await ask('acquire', `r${i}`), true)
    await refused(ask('acquire', 'r40'), 'crud:LimitExceeded', /^one caller may hold 40 locks/)
    const all = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => ask('acquire', `more${i}`)))
    assert.deepEqual(
      all.map(({ status }) => status),
      all.map(() => 'rejected'),
    )
  })

  test('lock: with a key, one too many is refused, and may succeed later', async () => {
    await using server = await startTestServer({ limits: { locks: 1 } })
    const send = (operation: string, resourceId: string, key?: string) =>
      server.ask('POST', '/data/lock', {
        body: { operation, domain: 'd', callerId: 'a', resourceId },
        headers: key === undefined ? {} : { 'Idempotency-Key': key },
      })
    assert.equal((await send('acquire', '1', 'k1')).status, 200)
    const refusal = await send('acquire', '2', 'k2')
    assert.equal(refusal.status, 400)
    assert.equal(refusal.json.errors[0].errorCode, 'crud:LimitExceeded')
    assert.equal((await send('acquire', '1', 'k1')).text, '{"result":true}', 'a repetition acquires nothing')
    assert.equal((await send('release', '1')).status, 200)
    assert.equal((await send('acquire', '2', 'k2')).text, '{"result":true}')
    assert.deepEqual(server.faults(), [])
  })

  test('lock: of many that one caller acquires at once, no more are held than it may, with keys or without', async () => {
    await using place = await freshPlace()
    const options = { location: place.location, limits: { locks: 5 } }
    await using server = await startTestServer(options)
    // only one process has the file of an embedded store
    await using other = kind === 'postgres' ? await startTestServer(options) : undefined
    for (const domain of ['plain', 'keyed', 'plain again', 'keyed again']) {
      const acquire = async (i: number): Promise<number> => {
        const headers = domain.startsWith('keyed') ? { 'Idempotency-Key': `${domain.length}-${i}` } : {}
        const path = `/data/lock/${encodeURIComponent(domain)}/me/r${i}`
        return (await ((i % 2 ? other : undefined) ?? server).ask('PUT', path, { headers })).status
      }
      const release = (i: number) => server.ask('DELETE', `/data/lock/${encodeURIComponent(domain)}/me/r${i}`)
      const all = Array.from({ length: 24 }, (_, i) => i)
      const statuses = await Promise.all(all.map(acquire))
      assert.deepEqual(statuses.toSorted(), [...Array(5).fill(200), ...Array(19).fill(400)], domain)
      for (const i of all) if (statuses[i] === 200) assert.equal((await release(i)).status, 200)
    }
    assert.deepEqual([...server.faults(), ...(other?.faults() ?? [])], [])
  })

  test('lock: expired locks of other resources are swept away, living ones stay', async () => {
    await using locks = await openLocksApart()
    for (let i = 0; i < 30; i++) await locks.ask('acquire', 'a', { resourceId: `old${i}`, ttl: 1_000_000 })
    await locks.ask('acquire', 'a', { resourceId: 'living' })
    await locks.pass(1_000_000)
    for (let i = 0; i < 5; i++) await locks.ask('acquire', 'b', { resourceId: `new${i}` })
    assert.equal(await locks.ask('count', 'a', { resourceId: 'living' }), 1)
    assert.deepEqual(await rows(locks.location), ['living', 'new0', 'new1', 'new2', 'new3', 'new4'])
  })

  async function rows(location: string): Promise<readonly unknown[]> {
    if (storeKind() === 'postgres') {
      const found = await rowsOf(location, (schema) => `select resource from ${schema}.smalt_lock`)
      return found.map(({ resource }) => resource).sort()
    }
    using database = new DatabaseSync(join(directoryOf(location), 'smalt.db'), { readOnly: true })
    const found = database.prepare('select resource from smalt_lock order by resource').all()
    return found.map(({ resource }) => resource)
  }

  // only one process has the file of an embedded store
  if (kind === 'postgres')
    test('lock: services whose clocks differ agree on when it expires', async () => {
      await using place = await freshPlace()
      const asking = (service: Service) => (operation: string, callerId: string) =>
        service.data.lock(ADMIN, { domain: 'd', resourceId: 'r', ttl: 60_000, operation, callerId })
      await using service = await openServiceAt(place.location)
      const ask = asking(service)
      for (const aheadMs of [90_000, -90_000]) {
        await using other = await openServiceAt(place.location, { now: () => new Date(Date.now() + aheadMs) })
        const askOther = asking(other)
        assert.equal(await ask('acquire', 'a'), true)
        assert.equal(await askOther('acquire', 'b'), false, `by a clock that is ${aheadMs} ms ahead`)
        assert.equal(await askOther('count', 'a'), 1)
        await pass(place.location, 60_000)
        assert.equal(await askOther('acquire', 'b'), true)
        assert.equal(await ask('acquire', 'a'), false)
        assert.equal(await ask('release', 'b'), true)
      }
    })

  if (kind === 'postgres')
    test('lock: an answer that arrives late ends no lock early', async () => {
      await using place = await freshPlace()
      await using relay = await openRelay(place.location)
      await using service = await openServiceAt(place.location)
      await using late = await openServiceAt(relay.url)
      const take = ({ data }: Service, callerId: string, resourceId: string) =>
        data.lock(ADMIN, { operation: 'acquire', domain: 'd', ttl: 1_000, callerId, resourceId })
      const delayed = relay.delayAt('clock_timestamp')
      const first = take(late, 'a', 'first')
      const pass = await delayed
      await sleep(1_500)
      pass()
      assert.equal(await first, true)
      for (const resource of ['second', 'third', 'fourth']) {
        const began = performance.now()
        assert.equal(await take(late, 'a', resource), true)
        const isTakenOver = await take(service, 'b', resource)
        const elapsedMs = performance.now() - began
        assert.ok(isTakenOver === false || elapsedMs >= 1_000, `two owners after ${elapsedMs} ms`)
      }
    })

  if (kind === 'postgres')
    test('lock: an acquire that waits for another statement loses nothing of its lifetime', async () => {
      await using place = await freshPlace()
      await using service = await openServiceAt(place.location)
      const acquire = (callerId: string) => {
        const lock = { operation: 'acquire', domain: 'd', resourceId: 'r', ttl: 1_000, callerId }
        return service.data.lock(ADMIN, lock)
      }
      assert.equal(await acquire('a'), true)
      const other = await useRow(place.location)
      let began = 0
      const waiting = acquire('a').finally(() => (began = performance.now()))
      await other.untilExpiredWith(1)
      await other.end()
      assert.equal(await waiting, true)
      const isTakenOver = await acquire('b')
      const elapsedMs = performance.now() - began
      assert.ok(isTakenOver === false || elapsedMs >= 500, `over after ${elapsedMs} ms`)
    })

  test('lock: it outlives the process', async () => {
    await using place = await freshPlace()
    const ask = { domain: 'd', resourceId: 'r' }
    {
      await using service = await openServiceAt(place.location)
      assert.equal(await service.data.lock(ADMIN, { ...ask, operation: 'acquire', callerId: 'a' }), true)
    }
    {
      await using service = await openServiceAt(place.location)
      assert.equal(await service.data.lock(ADMIN, { ...ask, operation: 'acquire', callerId: 'b' }), false)
      assert.equal(await service.data.lock(ADMIN, { ...ask, operation: 'count', callerId: 'a' }), 1)
    }
  })

  const SOUND = { operation: 'acquire', domain: 'd', callerId: 'a', resourceId: 'r' }
  const UNSOUND: readonly [what: string, body: Json | undefined, place: RegExp][] = [
    ['no body', undefined, /at the top/],
    ['an array', [], /at the top/],
    ['an operation in upper case', { ...SOUND, operation: 'ACQUIRE' }, /at \/operation/],
    ['no operation', { domain: 'd', callerId: 'a', resourceId: 'r' }, /at \/operation/],
    ['an empty domain', { ...SOUND, domain: '' }, /at \/domain/],
    ['a number as caller', { ...SOUND, callerId: 7 }, /at \/callerId/],
    ['no resource', { ...SOUND, resourceId: null }, /at \/resourceId/],
    ['a resource that is too long', { ...SOUND, resourceId: '😀'.repeat(1_001) }, /at \/resourceId/],
    ['a ttl that is no number', { ...SOUND, ttl: 'soon' }, /at \/ttl/],
    ['an empty ttl', { ...SOUND, ttl: '' }, /at \/ttl/],
    ['a fraction as ttl', { ...SOUND, ttl: 1.5 }, /at \/ttl/],
    ['a truth value as ttl', { ...SOUND, ttl: true }, /at \/ttl/],
    ['a ttl beyond counting', { ...SOUND, ttl: 1e16 }, /at \/ttl/],
    ['a key that it does not know', { ...SOUND, tll: 5 }, /at \/tll/],
  ]

  test('lock: an unusable request is refused, naming the place', async () => {
    await using locks = await openLocks()
    for (const [what, body, place] of UNSOUND) {
      await refused(locks.service.data.lock(ADMIN, body), 'crud:InvalidRequest', place).catch((error) => {
        throw new Error(what, { cause: error })
      })
    }
    const longest = { ...SOUND, resourceId: '😀'.repeat(1_000), ttl: null, client: {} }
    assert.equal(await locks.service.data.lock(ADMIN, longest), true)
  })

  test('lock: over HTTP, both forms speak of the same locks', async () => {
    await using http = await startTestServer()
    const sound = { domain: 'd', callerId: 'a', resourceId: 'x/y' }
    const place = '/data/lock/d/a/x%2Fy'
    const asked: readonly [method: string, path: string, result: Json, body?: Json][] = [
      ['POST', '/data/lock', true, { ...sound, operation: 'acquire' }],
      ['PUT', `/rest${place}?ttl=5000`, true],
      ['PUT', '/data/lock/d/b/x%2Fy', false],
      ['GET', place, 2],
      ['PUT', `${place}/ping`, true],
      ['DELETE', place, false],
      ['POST', '/rest/data/lock/', true, { ...sound, operation: 'release' }],
    ]
    for (const [method, path, result, body] of asked) {
      const { status, json } = await http.ask(method, path, body === undefined ? {} : { body })
      assert.deepEqual([status, json], [200, { result }], `${method} ${path}`)
    }
  })

  test('lock: over HTTP, problems are told in a response document', async () => {
    await using http = await startTestServer()
    const place = '/data/lock/d/a/x%2Fy'
    const { status, json } = await http.ask('GET', place)
    assert.equal(status, 409)
    const { errors, ...rest } = json
    assert.deepEqual(rest, { status: 'ERROR', modifiedCount: 0, matchCount: 0 })
    const [{ objectType, errorCode, context, msg }] = errors
    assert.deepEqual([objectType, errorCode, context], ['error', 'crud:InvalidLock', 'lock'])
    assert.match(msg, /^.*InvalidLockException: x\/y$/)
    assert.equal((await http.ask('PUT', `${place}?ttl=x`)).status, 400)
    assert.equal((await http.ask('POST', '/data/lock', { body: { operation: 'steal' } })).status, 400)
    assert.equal((await http.ask('POST', '/data/lock')).status, 400)
    assert.equal((await http.ask('POST', place)).headers.allow, 'GET, HEAD, PUT, DELETE')
  })

  test('lock: over HTTP, of a hundred callers at once exactly one acquires', async () => {
    await using http = await startTestServer()
    const callers = Array.from({ length: 100 }, (_, i) => `/data/lock/d/c${i}/r`)
    const answers = await Promise.all(callers.map((path) => http.ask('PUT', path)))
    assert.deepEqual(answers.filter(({ json }) => json.result === true).length, 1)
    assert.ok(answers.every(({ status }) => status === 200))
  })
})
