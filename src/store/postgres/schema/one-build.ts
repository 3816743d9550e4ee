/**
 * At most one index of a table is built concurrently at a time. Each such build waits for every older statement, also for one
 * that waits for the table itself, as another build and `analyze` do: that is a deadlock, which ends one of them. A cluster
 * builds each index on many tables at once, so that it happens often.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { tryLock, unlock } from '../connection/advisory-locks.ts'
import type { Connection } from '../connection/connection.ts'
import type { CollectionRecord } from './catalogue.ts'
import type { Builder } from './builder.ts'

interface Building extends Pick<Builder, 'schema'> {
  readonly record: Pick<CollectionRecord, 'no'>
  /** Whether to end instead of waiting for the others. */
  readonly isStopped?: (() => boolean) | undefined
}

/** Waits until no other process builds an index on the table. Returns whether the work was done. */
export async function asOnlyBuild(
  connection: Connection,
  { record, schema, isStopped }: Building,
  work: () => Promise<void>,
): Promise<boolean> {
  const lock = `index on ${schema}/${record.no}`
  // A statement that waits for the lock in the server is one of those that the other build waits for.
  while (!(await tryLock(connection, lock))) {
    if (isStopped?.() === true) return false
    await pause(RETRY_MS)
  }
  try {
    await work()
    return true
  } finally {
    await unlock(connection, lock).catch(() => undefined)
  }
}

/** Who builds several leaves others more time than this between two of them. */
export const RETRY_MS = 50
