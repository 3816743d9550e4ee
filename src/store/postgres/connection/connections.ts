/**
 * Connection pools of one database. Work on a connection is bounded in time, and a connection goes back to
 * its pool only in a clean state: without an open transaction and without a cancellation on its way.
 */
import pg from 'pg'
import { timedOut } from '../../../base/work/work.ts'
import type { Statement } from '../../sql/fragment.ts'
import type { Bounds } from '../../bounds.ts'
import { type Connection, connectionOn } from './connection.ts'
import { LostError, UnreachableError, isLost, stateOf } from './failures.ts'
import { WAIT_MS, untilEnded } from './time-limit.ts'
import { type LeasedPipeline, createPipeline } from './pipeline.ts'
import { PIPELINES } from './pipeline-pool.ts'
import { choosePlans } from './plan-choice.ts'
import type { Location } from './location.ts'
import { type Row, backendOf, breakOff, transactionStatus } from './driver.ts'
import {
  type Charge,
  LONG_SLOTS,
  acquire,
  createForcedShare,
  createShares,
  holderOf,
  waitFor,
  withShare,
} from './shares.ts'
import { type SlowKinds, createSlowKinds } from './slow-kinds.ts'
import { type StatementNames, createStatementNames } from './statement-names.ts'

export type { Charge, Row }

export interface Lease extends Disposable {
  readonly connection: Connection
}

export interface Connections extends AsyncDisposable {
  /**
   * Runs work on a connection of the main pool. Work of a kind that was slow the last time waits until few of that sort
   * are running.
   */
  with<T>(work: (connection: Connection) => Promise<T>, charge?: Charge): Promise<T>
  /** Notes that a caller is active, for work that does not go through `with`. */
  noteCaller(caller: string | undefined): void
  /** A connection for long work, until it is disposed; with bounds, it counts against the caller's share. */
  lease(bounds?: Bounds): Promise<Lease>
  /** Runs one statement outside of a transaction. */
  query(statement: Statement, bounds?: Bounds): Promise<readonly Row[]>
  /** The same on a small pool that long statements never use. */
  readonly quick: { query(statement: Statement, bounds?: Bounds): Promise<readonly Row[]> }
  /**
   * Sends read-only statements together, on one connection of a pool that writers do not use: they may wait for each other.
   * Returns the rows of each statement, or undefined if it failed. Fails as a whole at the time limit.
   */
  lookUpAll(
    statements: readonly Statement[],
    timeLimitMs: number,
  ): Promise<readonly (readonly Row[] | undefined)[]>
  /** A connection on which many quick, read-only statements run without waiting for each other. */
  readonly leasePipeline: () => Promise<LeasedPipeline>
}

export function openConnections(location: Location, onError: (error: unknown) => void): Connections {
  const names = createStatementNames()
  const pools = createPools(location, onError)
  const cancel = async (backend: number): Promise<void> => {
    await pools.control.query('select pg_cancel_backend($1::integer)', [backend])
  }
  const shares = createShares(location.poolSize)
  const shared = <T>(work: (connection: Connection) => Promise<T>, charge: Charge): Promise<T> =>
    withShare(shares.main, holderOf(charge), () => run(pools.main, work, charge))
  const run = <T>(
    pool: pg.Pool,
    work: (connection: Connection) => Promise<T>,
    { bounds, plans = 'auto' }: Charge,
  ): Promise<T> =>
    withClient(pool, (client) => {
      choosePlans(client, plans)
      const connection = connectionOn(client, { names, cancel })
      return bounds ? connection.within(bounds, () => work(connection)) : work(connection)
    })
  const slowKinds = createSlowKinds()
  /** Runs the first work of a kind. If it turns out to be slow, it takes a slot of the slow share. */
  const tryOut = async <T>(
    kind: string,
    work: (connection: Connection) => Promise<T>,
    charge: Charge,
  ): Promise<T> => {
    const forced = createForcedShare(shares.slow, holderOf(charge))
    try {
      return await shared((connection) => {
        slowKinds.startTrial(kind, forced.occupy)
        return work(connection)
      }, charge)
    } finally {
      forced.release()
      slowKinds.endTrial(kind)
    }
  }
  return {
    async with(work, charge = {}) {
      const holder = holderOf(charge)
      shares.noteCaller(holder.caller)
      if (charge.kind === undefined) return await shared(work, charge)
      // By caller: short time limits of one must not make the work of another slow.
      const kind = `${holder.caller ?? ''} ${charge.kind}`
      const measured = (connection: Connection) => measure(slowKinds, kind, { connection, work })
      const trial = slowKinds.trialOf(kind)
      if (trial === 'first') return await tryOut(kind, measured, charge)
      if (trial) await waitFor(trial, holder)
      if (!slowKinds.isSlow(kind)) return await shared(measured, charge)
      return await withShare(shares.slow, holder, () => shared(measured, charge))
    },
    noteCaller: shares.noteCaller,
    async lease(bounds) {
      shares.noteCaller(bounds?.caller)
      const release = bounds ? await acquire(shares.long, bounds) : ignore
      return await leaseFrom(pools.long, { names, cancel, release })
    },
    leasePipeline: () => leasePipeline(pools.pipelined, { names, cancel }),
    query: (statement, bounds = ORDINARY) => shared((connection) => connection.query(statement), { bounds }),
    quick: {
      query: (statement, bounds) => run(pools.quick, (connection) => connection.query(statement), { bounds }),
    },
    lookUpAll: (statements, timeLimitMs) =>
      lookUpAll(statements, timeLimitMs, { pool: pools.lookups, names, cancel }),
    async [Symbol.asyncDispose]() {
      await untilEnded(Promise.all(Object.values(pools).map((pool) => pool.end())))
    },
  }
}

interface Pools {
  readonly main: pg.Pool
  readonly quick: pg.Pool
  readonly lookups: pg.Pool
  readonly long: pg.Pool
  readonly pipelined: pg.Pool
  readonly control: pg.Pool
}

function createPools(location: Location, onError: (error: unknown) => void): Pools {
  return {
    main: createPool(location, { max: location.poolSize }, onError),
    quick: createPool(location, { max: 2, query_timeout: WAIT_MS }, onError),
    lookups: createPool(location, { max: LOOKUPS }, onError),
    long: createPool(location, { max: LONG_SLOTS + OWN_USE }, onError),
    pipelined: createPool(location, { max: PIPELINES }, onError),
    // A cancellation must not wait in a pool behind the statements that it is to cancel.
    control: createPool(location, { max: 1, query_timeout: WAIT_MS }, onError),
  }
}

/** What all connections of a store share. */
interface Shared {
  readonly names: StatementNames
  /** Cancels the running statement of a backend. */
  readonly cancel: (backend: number) => Promise<void>
}

async function leaseFrom(
  pool: pg.Pool,
  { names, cancel, release }: Shared & { readonly release: () => void },
): Promise<Lease> {
  try {
    const client = await clientOf(pool)
    return {
      connection: connectionOn(client, { names, cancel }),
      [Symbol.dispose]() {
        client.release(transactionStatus(client) !== 'I')
        release()
      },
    }
  } catch (error) {
    release()
    throw error
  }
}

async function leasePipeline(pool: pg.Pool, { names, cancel }: Shared): Promise<LeasedPipeline> {
  const client = await clientOf(pool)
  const pipeline = createPipeline(client, names)
  const release = (): void => {
    const isUnfinished = pipeline.inFlight > 0
    if (isUnfinished && !pipeline.isBroken) abandon(client, cancel)
    else if (isUnfinished) breakOff(client)
    client.release(isUnfinished || pipeline.isBroken)
  }
  return { pipeline, release }
}

async function lookUpAll(
  statements: readonly Statement[],
  timeLimitMs: number,
  { pool, names, cancel }: Shared & { readonly pool: pg.Pool },
): Promise<readonly (readonly Row[] | undefined)[]> {
  const client = await clientOf(pool)
  const connection = connectionOn(client, { names, cancel })
  let isCutOff = false
  const cutOff = (): void => {
    isCutOff = true
    abandon(client, cancel)
  }
  const timer = setTimeout(cutOff, timeLimitMs)
  const results = await Promise.allSettled(statements.map((each) => connection.query(each)))
  clearTimeout(timer)
  client.release(isCutOff || transactionStatus(client) !== 'I')
  if (isCutOff) throw timedOut(timeLimitMs)
  return results.map((result) => (result.status === 'fulfilled' ? result.value : undefined))
}

/**
 * Ends all statements on a connection, which the server would finish although nobody reads them any more. The running one is
 * cancelled, and with the socket the others fail at once, so that they can be repeated elsewhere.
 */
function abandon(client: pg.PoolClient, cancel: Shared['cancel']): void {
  void cancel(backendOf(client)).catch(ignore)
  breakOff(client)
}

/** Connections for finds by id on a cluster. Opened on demand, so never on a single server. */
export const LOOKUPS = 8

/** Connections for long work of the store itself, such as building indexes, beside those that callers share. */
const OWN_USE = 2

interface Measured<T> {
  readonly connection: Connection
  readonly work: (connection: Connection) => Promise<T>
}

async function measure<T>(slowKinds: SlowKinds, kind: string, { connection, work }: Measured<T>): Promise<T> {
  const [began, before] = [performance.now(), performance.eventLoopUtilization()]
  try {
    return await work(connection)
  } finally {
    const elapsedMs = performance.now() - began
    slowKinds.note(kind, {
      elapsedMs,
      idleMs: performance.eventLoopUtilization(before).idle,
      // Also where the work reports it in its own way, such as a find of a bulk.
      wasCancelled: connection.wasCancelled,
    })
  }
}

/** For single statements and short transactions without a limit of their own. */
export const ORDINARY: Bounds = { timeLimitMs: 20_000 }

function createPool({ config }: Location, size: pg.PoolConfig, onError: (error: unknown) => void): pg.Pool {
  const pool = new pg.Pool({
    ...config,
    ...size,
    pipeline: true,
    connectionTimeoutMillis: WAIT_MS,
    idleTimeoutMillis: 60_000,
    // Closing a connection frees all statements that were prepared on it.
    maxLifetimeSeconds: 1_800,
    allowExitOnIdle: true,
    keepAlive: true,
    types: { getTypeParser: () => asText },
  })
  // An error on a connection in use fails its running statement; there is nothing else to do. The handler is
  // attached on `connect`, because the connection may break before the waiting code receives it.
  pool.on('connect', (client) => void client.on('error', ignore))
  // The pool drops an idle connection that breaks, and opens a new one for the next request.
  pool.on('error', (error) => onError(new LostError('an idle connection was lost', { cause: error })))
  return pool
}

/** Disables the driver's conversions: each reader knows the types of its columns. */
const asText = (text: string): string => text

async function withClient<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await clientOf(pool)
  let isBroken = false
  try {
    return await work(client)
  } catch (error) {
    // An unknown outcome has the loss as its cause.
    isBroken = isLost(error) || (error instanceof Error && isLost(error.cause))
    throw error
  } finally {
    client.release(isBroken || transactionStatus(client) !== 'I')
  }
}

async function clientOf(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw stateOf(error) === undefined ? new UnreachableError('no connection', { cause: error }) : error
  }
}

const ignore = (): void => undefined
