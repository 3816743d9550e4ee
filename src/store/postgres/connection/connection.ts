/**
 * One connection, reserved for some work. After a failed statement it reports the first failure, and after a cancellation it
 * starts no further statement.
 */
import type pg from 'pg'
import type { Bounds } from '../../bounds.ts'
import type { Statement } from '../../sql/fragment.ts'
import { collectAllRows, collectRows } from './collect-rows.ts'
import { type NamedStatement, type Row, backendOf } from './driver.ts'
import { LostError, ResultTooLarge, StoppedError, stateOf } from './failures.ts'
import type { StatementNames } from './statement-names.ts'
import { bounded } from './time-limit.ts'

/** Runs statements: each on any connection of a pool, or all on the connection of one transaction. */
export interface SqlSession {
  query(statement: Statement): Promise<readonly Row[]>
}

/** One connection, reserved until the work has ended. */
export interface Connection extends SqlSession {
  /**
   * Like `query`, with a limit on the size of the result: a larger one is cancelled and fails with
   * `ResultTooLarge`. Not for use inside a transaction, because the cancellation aborts it.
   */
  queryAtMost(maxBytes: number, statement: Statement): Promise<readonly Row[]>
  /** Sends a constant text without parameters and does not wait for it: if it fails, the next statement fails too. */
  send(text: string): void
  /** Fails if the server rolled back instead, which is its response to `commit` after a failed statement. */
  commit(): Promise<void>
  /** The process id of the server's backend, as the server reported it when the connection was opened. */
  readonly backend: number
  /** Cancels the running statement at the time limit, or when the caller has disconnected. */
  within<T>(bounds: Bounds, work: () => Promise<T>): Promise<T>
  /** Whether that happened to any statement so far. */
  readonly wasCancelled: boolean
}

interface Means {
  readonly names: StatementNames
  readonly cancel: (backend: number) => Promise<void>
}

export function connectionOn(client: pg.PoolClient, { names, cancel }: Means): Connection {
  let failure: unknown
  let isStopped = false
  let wasCancelled = false
  let begun: Promise<void> = Promise.resolve()
  /**
   * In an aborted transaction every statement fails; the first failure is the reason to report. The stack is
   * captured again, so that it shows the caller instead of the driver's socket handler.
   */
  const reasonOf = (error: unknown): unknown => {
    if (error instanceof Error) Error.captureStackTrace(error)
    return lostIfSilent(stateOf(error) === FAILED_BEFORE ? (failure ?? error) : error)
  }
  /** A `begin` must not be cancelled: each statement behind it would be committed by itself. */
  const cancelOn = (backend: number): Promise<void> => begun.then(() => cancel(backend))
  const named = ({ text, values }: Statement): NamedStatement => {
    // The running statement was cancelled, and no further one may start. Only a rollback is always safe.
    if (isStopped && text !== 'rollback') throw new StoppedError('stopped')
    return { text, values, name: names.nameOf(text) }
  }
  const onStop = (stopped: boolean): void => {
    isStopped = stopped
    wasCancelled ||= stopped
  }
  return {
    backend: backendOf(client),
    get wasCancelled() {
      return wasCancelled
    },
    async query(statement) {
      const sent = named(statement)
      try {
        return await collectAllRows(client, sent)
      } catch (error) {
        throw reasonOf(error)
      }
    },
    async queryAtMost(maxBytes, statement) {
      const sent = named(statement)
      let cancelling: Promise<void> | undefined
      const onTooLarge = (): void => void (cancelling = cancelOn(backendOf(client)).catch(ignore))
      try {
        const rows = await collectRows(client, sent, { maxBytes, onTooLarge })
        if (rows) return rows
      } catch (error) {
        throw reasonOf(error)
      } finally {
        // A cancellation that is still on its way must not hit the next statement on this connection.
        if (cancelling) await cancelling
      }
      throw isStopped ? new StoppedError('stopped') : new ResultTooLarge('too much to be held at once')
    },
    send(text) {
      const sent = client.query(text).then(ignore, (error: unknown) => void (failure ??= error))
      if (text.startsWith('begin')) begun = sent
    },
    async commit() {
      const { command } = await client.query('commit').catch((error: unknown) => {
        throw reasonOf(error)
      })
      if (command !== 'COMMIT') throw lostIfSilent(failure ?? new Error('the transaction was taken back'))
    },
    within: (bounds, work) => bounded(client, { bounds, cancel: cancelOn, onStop }, work),
  }
}

const ignore = (): void => undefined

/** SQLSTATE `in_failed_sql_transaction`. */
const FAILED_BEFORE = '25P02'

function lostIfSilent(error: unknown): unknown {
  return stateOf(error) === undefined ? new LostError('connection lost', { cause: error }) : error
}
