/** Connections to one database: pooled, bounded in time, and never handed on in a state that others would notice. */
import pg from 'pg'
import { type FairQueue, type Release, createFairQueue } from '../../../base/work/fair-queue.ts'
import { callerLeft } from '../../../base/work/work.ts'
import type { Statement } from '../../sql/fragment.ts'
import type { Bounds } from '../../bounds.ts'
import { LostError, StoppedError, ResultTooLarge, UnreachableError, isLost, stateOf } from './failures.ts'
import { WAIT_MS, bounded, patiently } from './time-limit.ts'
import { collectRows, collectAllRows } from './collect-rows.ts'
import { type LeasedPipeline, createPipeline } from './pipeline.ts'
import { PIPELINES } from './pipeline-pool.ts'
import type { Location } from './location.ts'
import { type NamedStatement, type Row, backendOf, breakOff, transactionStatus } from './driver.ts'
import { type StatementNames, createStatementNames } from './statement-names.ts'

export type { Row }

/** Something statements can be put to: a connection of the pool for each, or the one of a transaction. */
export interface Session {
  query(statement: Statement): Promise<readonly Row[]>
}

/** One connection, for as long as the work takes. */
export interface Connection extends Session {
  /**
   * The same, but with no more than so many bytes: what has more is ended, and fails with TooMuchAtOnce when it has. Not
   * for use inside a transaction, which would be lost with it.
   */
  queryAtMost(maxBytes: number, statement: Statement): Promise<readonly Row[]>
  /** Text of our own without parameters, not waited for: what fails here fails the next statement too. */
  send(text: string): void
  /** Fails when the transaction was taken back instead, which is how the server answers where something failed. */
  commit(): Promise<void>
  /** Ends what runs when the time is over, or when nobody waits any more. */
  within<T>(bounds: Bounds, work: () => Promise<T>): Promise<T>
}

export interface Lease extends Disposable {
  readonly connection: Connection
}

export interface Connections extends AsyncDisposable {
  /** Runs work on a connection of its own. */
  with<T>(work: (connection: Connection) => Promise<T>, bounds?: Bounds): Promise<T>
  /** The same for what took long the last time: few of these run at a time, and fewer of one caller. */
  withSlow<T>(work: (connection: Connection) => Promise<T>, bounds?: Bounds): Promise<T>
  /** A connection for as long as the work wants, for what takes its time; with bounds, out of the caller's share. */
  lease(bounds?: Bounds): Promise<Lease>
  /** One statement, on its own. */
  query(statement: Statement, bounds?: Bounds): Promise<readonly Row[]>
  /** The same on connections that long statements never have. */
  readonly quick: Session
  /** A connection for many statements at once, which only read and are quick. */
  readonly leasePipeline: () => Promise<LeasedPipeline>
}

export function openConnections(location: Location, onError: (error: unknown) => void): Connections {
  const names = createStatementNames()
  const pools = {
    main: createPool(location, { max: location.poolSize }, onError),
    quick: createPool(location, { max: 2, query_timeout: WAIT_MS }, onError),
    long: createPool(location, { max: LONG.slots + LONG.ownUse }, onError),
    pipelined: createPool(location, { max: PIPELINES }, onError),
    // Cancelling must not wait for what is to be cancelled.
    control: createPool(location, { max: 1, query_timeout: WAIT_MS }, onError),
  }
  const cancel = async (backend: number): Promise<void> => {
    await pools.control.query('select pg_cancel_backend($1)', [backend])
  }
  const shares = {
    main: createFairQueue({
      slots: location.poolSize,
      slotsPerCaller: maxOf(location.poolSize),
      ...WAITING,
    }),
    long: createFairQueue({ slots: LONG.slots, ...WAITING }),
    slow: createFairQueue({ ...slowShare(location.poolSize), ...WAITING, maxWaitMs: SLOW_WAIT_MS }),
  }
  const shared = <T>(work: (connection: Connection) => Promise<T>, bounds?: Bounds): Promise<T> =>
    withShare(shares.main, bounds, () => run(pools.main, work, bounds))
  const run = <T>(pool: pg.Pool, work: (connection: Connection) => Promise<T>, bounds?: Bounds): Promise<T> =>
    withClient(pool, (client) => {
      const connection = connectionOn(client, { names, cancel })
      return bounds ? connection.within(bounds, () => work(connection)) : work(connection)
    })
  return {
    with: shared,
    withSlow: (work, bounds) => withShare(shares.slow, bounds, () => shared(work, bounds)),
    lease: async (bounds) => {
      const release = bounds ? await acquire(shares.long, bounds) : ignore
      try {
        const client = await clientOf(pools.long)
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
    },
    leasePipeline: async () => {
      const client = await clientOf(pools.pipelined)
      const pipeline = createPipeline(client, names)
      const release = (): void => {
        const isUnfinished = pipeline.inFlight > 0
        if (isUnfinished && !pipeline.isBroken) void cancel(backendOf(client)).catch(ignore)
        if (isUnfinished) breakOff(client)
        client.release(isUnfinished || pipeline.isBroken)
      }
      return { pipeline, release }
    },
    query: (statement, bounds = ORDINARY) => shared((connection) => connection.query(statement), bounds),
    quick: { query: (statement) => run(pools.quick, (connection) => connection.query(statement)) },
    async [Symbol.asyncDispose]() {
      await patiently(Promise.all(Object.values(pools).map((pool) => pool.end())))
    },
  }
}

/** Long connections that callers share, and those that the store itself builds indexes with. */
const LONG = { slots: 6, ownUse: 2 }

/** For statements that are known to take long: half of the connections, and a quarter of them for one caller. */
function slowShare(connections: number) {
  return { slots: Math.ceil(connections / 2), slotsPerCaller: Math.ceil(connections / 4) }
}

const SLOW_WAIT_MS = 30_000

/** How long, and how many, wait for a connection; the time limit of the work begins once it has one. */
const WAITING = { maxWaitMs: WAIT_MS, maxWaiting: 10_000, maxWaitingPerCaller: 2_000 }

/** What one caller has at most of so many connections: what is left answers everybody else. */
function maxOf(connections: number): number {
  return Math.ceil(connections / 2)
}

async function acquire(share: FairQueue, { caller, getSignal, work }: Bounds): Promise<Release> {
  const signal = getSignal?.()
  const arrivedMs = performance.now()
  try {
    const release = await share.acquire(caller, signal)
    work?.waited(performance.now() - arrivedMs)
    return release
  } catch (error) {
    throw signal?.aborted ? callerLeft() : error
  }
}

async function withShare<T>(share: FairQueue, bounds: Bounds = ORDINARY, work: () => Promise<T>): Promise<T> {
  const release = await acquire(share, bounds)
  try {
    return await work()
  } finally {
    release()
  }
}

/** For single statements that nobody gave a limit. */
const ORDINARY: Bounds = { timeLimitMs: 20_000 }

function createPool({ config }: Location, size: pg.PoolConfig, onError: (error: unknown) => void): pg.Pool {
  const pool = new pg.Pool({
    ...config,
    ...size,
    pipeline: true,
    connectionTimeoutMillis: WAIT_MS,
    idleTimeoutMillis: 60_000,
    // With a connection goes all that was prepared on it.
    maxLifetimeSeconds: 1_800,
    allowExitOnIdle: true,
    keepAlive: true,
    types: { getTypeParser: () => asText },
  })
  // One that breaks while it is in use fails what runs on it; beyond that there is nothing to do. It may break before
  // whoever waits for it hears that it is there.
  pool.on('connect', (client) => void client.on('error', ignore))
  // An idle connection that breaks is dropped; whoever asks next gets a new one.
  pool.on('error', (error) => onError(new LostError('an idle connection was lost', { cause: error })))
  return pool
}

/** Nothing is converted by the driver: those who ask know what they asked for. */
const asText = (text: string): string => text

async function withClient<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await clientOf(pool)
  let isBroken = false
  try {
    return await work(client)
  } catch (error) {
    isBroken = isLost(error)
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

interface Means {
  readonly names: StatementNames
  readonly cancel: (backend: number) => Promise<void>
}

function connectionOn(client: pg.PoolClient, { names, cancel }: Means): Connection {
  let failure: unknown
  let isStopped = false
  let begun: Promise<void> = Promise.resolve()
  /** In a transaction that has failed already, what matters is why; and who asked, rather than who read the answer. */
  const reasonOf = (error: unknown): unknown => {
    if (error instanceof Error) Error.captureStackTrace(error)
    return lostIfSilent(stateOf(error) === FAILED_BEFORE ? (failure ?? error) : error)
  }
  /** A beginning must not be cancelled: what follows it would be committed piece by piece. */
  const cancelOn = (backend: number): Promise<void> => begun.then(() => cancel(backend))
  const named = ({ text, values }: Statement): NamedStatement => {
    // What runs was cancelled; what would follow is not begun. Only taking back is always right.
    if (isStopped && text !== 'rollback') throw new StoppedError('stopped')
    return { text, values, name: names.nameOf(text) }
  }
  return {
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
        // What comes next on this connection must not be met by a cancellation that is still on its way.
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
    within: (bounds, work) =>
      bounded(client, { bounds, cancel: cancelOn, onStop: (stopped) => (isStopped = stopped) }, work),
  }
}

const FAILED_BEFORE = '25P02'

function lostIfSilent(error: unknown): unknown {
  return stateOf(error) === undefined ? new LostError('connection lost', { cause: error }) : error
}
