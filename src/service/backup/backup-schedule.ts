/** The schedule of backups: of the processes that share a store, one makes each backup. */
import { randomUUID } from 'node:crypto'
import type { LockOperation, LockOutcome, Locks } from '../../store/tables/locks.ts'

interface ScheduleDeps<Datasource> {
  readonly datasources: readonly Datasource[]
  readonly make: (datasource: Datasource) => Promise<unknown>
  /** Those of the store that all processes share. */
  readonly locks: Locks
  /** The time from the beginning of a backup to that of the next one. */
  readonly everyMs: number
  /** How often the schedule looks for a backup that is due. */
  readonly lookEveryMs?: number
  /** How long the backup of a process that was killed keeps others from making it. */
  readonly leaseMs?: number
  readonly onInternalError: (error: unknown) => void
}

/**
 * A lock of the store decides which process makes the backup. While the backup is made, the lock is short and renewed, so that a
 * process that is killed does not take the backup of a whole period with it. After a success it lasts for the rest of the
 * period, and outlives restarts; after a failure it is released. Each datasource has a lock of its own: where one cannot be
 * backed up, new backups of the others would replace their older ones with every try.
 */
export function startSchedule<Datasource extends { readonly name: string }>(
  deps: ScheduleDeps<Datasource>,
): AsyncDisposable {
  const { datasources, everyMs, lookEveryMs = LOOK_EVERY_MS, onInternalError } = deps
  let isEnded = false
  let round: Promise<void> | undefined
  const makeDue = async (): Promise<void> => {
    for (const datasource of datasources)
      if (!isEnded) await backUpIfDue(datasource, deps).catch(onInternalError)
  }
  const look = (): void => void (round ??= makeDue().finally(() => (round = undefined)))
  const timer = setInterval(look, Math.min(everyMs, lookEveryMs)).unref()
  return {
    /** The last round changes its lock when it ends, and the store must be open until then. */
    async [Symbol.asyncDispose]() {
      isEnded = true
      clearInterval(timer)
      await round
    },
  }
}

async function backUpIfDue<Datasource extends { readonly name: string }>(
  datasource: Datasource,
  { locks, make, everyMs, leaseMs = LEASE_MS, onInternalError }: ScheduleDeps<Datasource>,
): Promise<void> {
  const lock = { domain: OWN_DOMAIN, resource: `backup ${datasource.name}`, owner: randomUUID() }
  const change = (operation: LockOperation, ttlMs: number): Promise<LockOutcome> =>
    locks.change({ ...lock, operation, ttlMs })
  const began = performance.now()
  const { count } = await change('acquire', leaseMs)
  if (count === undefined) return
  try {
    await using _renewals = repeating(() => change('ping', leaseMs).catch(onInternalError), leaseMs / 4)
    await make(datasource)
  } catch (error) {
    // a lock that cannot be released expires soon, and the failure of the backup is what must be known
    await change('release', leaseMs).catch(onInternalError)
    throw error
  }
  await change('acquire', Math.max(0, Math.round(everyMs - (performance.now() - began))))
}

/** Ends when the last repetition has ended. */
function repeating(work: () => Promise<unknown>, everyMs: number): AsyncDisposable {
  let working: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => void (working = work()), everyMs).unref()
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await working
    },
  }
}

/** No client can name it: whoever had this lock would keep the service from making backups. */
const OWN_DOMAIN = ''

const LOOK_EVERY_MS = 30_000
const LEASE_MS = 120_000
