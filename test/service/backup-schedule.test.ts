/** Which process makes a scheduled backup, and when it is tried again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startSchedule } from '../../src/service/backup/backup-schedule.ts'
import { openStore } from '../../src/store/open.ts'
import type { LockOperation, Locks } from '../../src/store/tables/locks.ts'
import { failLoudly } from '../support/service.ts'
import { freshPlace, onEveryStore, storeKind } from '../support/store-kind.ts'

const BOUNDED = { timeout: 60_000 }
const HOUR_MS = 3_600_000

interface Process {
  readonly locks: Locks
  /** How often an operation succeeded. */
  readonly done: (operation: LockOperation) => number
  /** How often one was tried. */
  readonly tried: (operation: LockOperation) => number
}

interface Stage extends AsyncDisposable {
  readonly one: Process
  readonly other: Process
}

/** Two processes on one store. */
async function openStage(): Promise<Stage> {
  await using opened = new AsyncDisposableStack()
  const { location } = opened.use(await freshPlace())
  const one = opened.use(await openStore(location))
  // only one process has the file of an embedded store
  const other = storeKind() === 'postgres' ? opened.use(await openStore(location)) : one
  const owned = opened.move()
  return {
    one: watched(one.locks),
    other: watched(other.locks),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function watched(locks: Locks): Process {
  const changes: { readonly operation: LockOperation; readonly isDone: boolean }[] = []
  const numberOf = (operation: LockOperation, needed: boolean): number =>
    changes.filter((each) => each.operation === operation && (each.isDone || !needed)).length
  return {
    locks: {
      ...locks,
      async change(request) {
        const outcome = await locks.change(request)
        changes.push({ operation: request.operation, isDone: outcome.count !== undefined })
        return outcome
      },
    },
    done: (operation) => numberOf(operation, true),
    tried: (operation) => numberOf(operation, false),
  }
}

type Times = Pick<Parameters<typeof startSchedule>[0], 'leaseMs' | 'onInternalError'>

function schedule(locks: Locks, make: () => Promise<unknown>, times: Partial<Times> = {}): AsyncDisposable {
  return startSchedule({
    datasources: [{ name: 'default' }],
    make,
    locks,
    everyMs: HOUR_MS,
    lookEveryMs: 5,
    onInternalError: failLoudly,
    ...times,
  })
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(5)
}

onEveryStore(() => {
  test(
    'schedule: a backup that takes longer than its lock is made once, and not again in its period',
    BOUNDED,
    async () => {
      await using stage = await openStage()
      let made = 0
      const make = async (): Promise<void> => {
        made++
        await until(() => stage.one.done('ping') + stage.other.done('ping') > 5)
      }
      await using _one = schedule(stage.one.locks, make, { leaseMs: 2_000 })
      await using _other = schedule(stage.other.locks, make, { leaseMs: 2_000 })
      // to begin, and for the rest of the period
      await until(() => stage.one.done('acquire') + stage.other.done('acquire') === 2)
      const [before, beforeOther] = [stage.one.tried('acquire'), stage.other.tried('acquire')]
      await until(
        () => stage.one.tried('acquire') > before + 5 && stage.other.tried('acquire') > beforeOther + 5,
      )
      assert.equal(made, 1)
    },
  )

  test(
    'schedule: what a process that was killed did not make, another one makes when the lock is over',
    BOUNDED,
    async () => {
      await using stage = await openStage()
      const { one, other } = stage
      const killed = Promise.withResolvers<void>()
      const silent: Locks = {
        ...one.locks,
        change: async (request) => (request.operation === 'ping' ? { count: 1 } : one.locks.change(request)),
      }
      await using _one = schedule(silent, () => killed.promise, { leaseMs: 1_000 })
      await until(() => one.done('acquire') === 1)
      let made = 0
      await using _other = schedule(other.locks, async () => made++)
      await until(() => other.done('acquire') === 2)
      killed.resolve()
      const before = one.tried('acquire')
      await until(() => one.tried('acquire') > before + 5)
      assert.deepEqual([made, one.done('acquire')], [1, 1], 'the lock is not taken from its new owner')
    },
  )

  test('schedule: a backup that failed is tried again at the next look', BOUNDED, async () => {
    await using stage = await openStage()
    const errors: unknown[] = []
    let tries = 0
    const make = async (): Promise<void> => {
      if (++tries < 3) throw new Error(`try ${tries}`)
    }
    await using _schedule = schedule(stage.one.locks, make, {
      leaseMs: HOUR_MS,
      onInternalError: (error) => errors.push((error as Error).message),
    })
    await until(() => tries === 3)
    assert.deepEqual(errors, ['try 1', 'try 2'])
  })

  test('schedule: who ends it waits until the lock of a failure is released', BOUNDED, async () => {
    await using stage = await openStage()
    const { one, other } = stage
    const making = Promise.withResolvers<void>()
    const ending = schedule(one.locks, () => making.promise, { onInternalError: () => undefined })
    await until(() => one.done('acquire') === 1)
    const ended = ending[Symbol.asyncDispose]()
    making.reject(new Error('the service ends'))
    await ended
    assert.equal(one.done('release'), 1)
    let made = 0
    await using _other = schedule(other.locks, async () => made++)
    await until(() => made === 1)
  })
})
