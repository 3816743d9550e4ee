/** Requests with an idempotency key whose parts are stored one by one: that they are answered, and for how long they are known. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import pg from 'pg'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { Work } from '../../src/base/work/work.ts'
import { boundsOf } from '../../src/service/deps.ts'
import { type OnceAnswer, runInParts } from '../../src/service/idempotency.ts'
import type { Database } from '../../src/store/database.ts'
import { openStore } from '../../src/store/open.ts'
import { directoryOf, freshPlace, onEveryStore } from '../support/store-kind.ts'

type Parts = Awaited<ReturnType<Parameters<typeof runInParts>[2]>>

const DONE: Parts = { status: 200, text: 'done', isComplete: true }
const REQUEST = { caller: 'c', key: 'k' }
const LIMIT_MS = 300

async function openPlace(): Promise<{ store: Database; location: string } & AsyncDisposable> {
  await using opened = new AsyncDisposableStack()
  const { location } = opened.use(await freshPlace())
  const store = opened.use(await openStore(location))
  const owned = opened.move()
  return { store, location, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function ask(
  store: Database,
  work: () => Promise<Parts>,
  { fingerprint = 'f', now = new Date() }: { readonly fingerprint?: string; readonly now?: Date } = {},
): Promise<OnceAnswer> {
  const bounds = boundsOf(new Work({ timeLimitMs: LIMIT_MS }), {})
  const request = { ...REQUEST, fingerprint, bounds }
  return runInParts({ store, limits: DEFAULT_LIMITS, now: () => now }, request, work)
}

/** Somebody else has locked what the store needs to keep an answer. */
async function lockAnswers(location: string): Promise<() => Promise<void>> {
  if (location.startsWith('sqlite:')) {
    const other = new DatabaseSync(join(directoryOf(location), 'smalt.db'), { timeout: 5_000 })
    other.exec('begin immediate')
    return async () => other.close()
  }
  const client = new pg.Client({ connectionString: location.replace(/\?.*/, '') })
  await client.connect()
  const schema = new URL(location).searchParams.get('schema')!
  await client.query(`begin; select from ${schema}.smalt_answer for update`)
  return () => client.end()
}

onEveryStore(() => {
  const ENDS: readonly [string, Partial<Parts>][] = [
    ['done', {}],
    ['not done', { isComplete: false }],
  ]
  for (const [what, end] of ENDS) {
    test(`parts: work that is ${what} is answered soon, also if its end cannot be stored`, async () => {
      await using place = await openPlace()
      const { store, location } = place
      let unlock = async (): Promise<void> => undefined
      const began = performance.now()
      const answer = await ask(store, async () => {
        unlock = await lockAnswers(location)
        return { ...DONE, ...end }
      })
      assert.ok(performance.now() - began < 5_000)
      assert.deepEqual(answer, { status: 200, text: 'done', isRepeated: false })
      await unlock()
    })
  }

  test('parts: where nothing was kept, a repetition carries the work out', async () => {
    await using place = await openPlace()
    const { store } = place
    await assert.rejects(
      ask(store, () => Promise.reject(new Error('broken'))),
      /broken/,
    )
    await ask(store, async () => ({ ...DONE, isComplete: false }))
    assert.equal((await ask(store, async () => DONE)).isRepeated, false)
    assert.equal((await ask(store, async () => DONE)).isRepeated, true)
  })

  test('parts: repetitions of what is not done do not prolong the time for which the key is known', async () => {
    await using place = await openPlace()
    const { store } = place
    const first = Date.now()
    const at = (hours: number): Date => new Date(first + hours * 3_600_000)
    const notDone = async (): Promise<Parts> => ({ ...DONE, isComplete: false })
    for (const hours of [0, 12, 23]) await ask(store, notDone, { now: at(hours) })
    await assert.rejects(ask(store, notDone, { fingerprint: 'other', now: at(23) }), {
      code: 'crud:IdempotencyMismatch',
    })
    assert.equal((await ask(store, notDone, { fingerprint: 'other', now: at(24.1) })).isRepeated, false)
  })
})
