/** The PostgreSQL store, shared by any number of processes; the same statements run on a Citus cluster. */
import type { ReadPlan } from '../../plan/plan.ts'
import { requestedId } from '../../plan/about.ts'
import { microseconds, risingFrom } from '../clock.ts'
import type { Bounds } from '../bounds.ts'
import type { Database } from '../database.ts'
import type { Found } from '../store.ts'
import { createTransfer } from '../tables/export.ts'
import { collectionExport } from './transfer/export.ts'
import { claimImport, collectionImport } from './transfer/import.ts'
import { writeAtOnce } from './write/single-statement.ts'
import { tidyUp } from './schema/index-builds.ts'
import { collectionsOf } from './schema/changes.ts'
import { createMetadata } from '../tables/metadata.ts'
import { type Connection, openConnections } from './connection/connections.ts'
import { FIRST_PIECE } from './connection/cursor.ts'
import {
  type OnDocument,
  findAtOnce,
  findByPieces,
  findPage,
  findWithin,
  pageOf,
  repeatingUntaken,
} from './read/find.ts'
import { createKnownTables } from './schema/table-cache.ts'
import { createPipelining } from './connection/pipelining.ts'
import { createListening } from './connection/listen.ts'
import { readLocation } from './connection/location.ts'
import { createLocks } from '../tables/locks.ts'
import { createSequences } from '../tables/sequences.ts'
import { createLookups } from './read/lookups.ts'
import { migrate } from './schema/migrations.ts'
import { outboxTable } from './events/event-numbers.ts'
import { capturing, notifyAfterCapture } from './events/outbox.ts'
import { createOutbox } from '../tables/outbox.ts'
import { readHistory } from './read/history.ts'
import { answers, readStatementsFor, preparedStatements } from './read/reads.ts'
import { createRunner } from './runner.ts'
import { createSequencer } from './events/sequencer.ts'
import { sequenceDrawsOn, explainIn, inOneSnapshot, requireTable, sessionIn, stampFor } from './session.ts'
import { createSinks } from '../tables/sinks.ts'
import { ping } from '../engine.ts'
import { CHANNELS, createPostgresEngine } from './engine.ts'
import { streamOn } from './read/stream.ts'
import { inTransaction } from './connection/transaction.ts'

interface PostgresOptions {
  readonly url: string
  /** Microseconds since 1970; document versions are made from it. */
  readonly now?: () => number
  readonly onTiming?: (operation: string, seconds: number) => void
  /** Called for failures outside of any operation, such as a connection that broke while idle. */
  readonly onError?: (error: unknown) => void
  /**
   * Whether another thread of this process has opened the store already; it has created the tables and serves
   * most requests.
   */
  readonly isBeside?: boolean
}

/** A worker thread serves one request at a time, which may have a few parts. */
const BESIDE_POOL_SIZE = 4

/** Returns at once and connects on first use. While the database is unreachable, every operation fails. */
export function openPostgresStore(options: PostgresOptions): Database {
  const { url, now = microseconds, onTiming, onError = () => undefined, isBeside = false } = options
  const given = readLocation(url)
  const location = isBeside ? { ...given, poolSize: Math.min(given.poolSize, BESIDE_POOL_SIZE) } : given
  const connections = openConnections(location, onError)
  const listening = createListening(location)
  const lookups = createLookups(connections.quick)
  const pipelining = createPipelining(connections.leasePipeline)
  const { tableOf, reload } = createKnownTables(connections)
  const version = risingFrom(now)
  const builder = { connections, schema: location.schema, reload, now: version }
  const start = untilDone(async () => {
    if (!isBeside) await migrate(connections, location)
    await reload()
    await tidyUp(builder)
  })
  const runner = createRunner({ start, reload, onTiming })
  const { run } = runner
  const eventListeners: (() => void)[] = []
  const onPublished = (): void => eventListeners.forEach((listener) => listener())
  const sequencer = createSequencer({ location, ready: start, onPublished, onError })
  const engine = createPostgresEngine({
    connections,
    schema: location.schema,
    run: (operation, work) => {
      // Events of processes that died get their numbers as soon as somebody reads.
      if (operation === 'events' || operation === 'trim') sequencer.watch()
      return run(operation, work)
    },
    listen(topic, listener) {
      listening.add(CHANNELS[topic], listener)
      if (topic !== 'events') return
      eventListeners.push(listener)
      sequencer.watch()
    },
  })
  const outbox = outboxTable(engine, { quick: connections.quick, watch: sequencer.watch })
  const collections = collectionsOf(builder)
  const context = { engine, tableOf, version: () => version() }

  async function find(plan: ReadPlan, take: OnDocument, bounds: Bounds): Promise<Found> {
    const table = tableOf(plan.collection)
    if (!table) return { matchCount: 0 }
    const id = requestedId(plan)
    if (id !== undefined) return pageOf(await lookups.find(table, id), plan, take)
    const read = readStatementsFor(bounds, preparedStatements(plan, table))
    const finding = { read, take }
    // Never repeated: documents may have been passed on already.
    const once = { bounds, isSnapshot: true, mayRepeat: false }
    if (read.residual)
      return await inTransaction(connections, (each) => findWithin(each, plan, finding), once)
    const found = await pipelining.run({
      // A count may take much longer than its page, so the two kinds are measured apart.
      kind: plan.counted ? read.page.text : `${read.page.text} uncounted`,
      bounds,
      pipelined: (session): Promise<Found | undefined> => findPage(session, plan, finding),
      alone: (timed, isSlow) => {
        const work = (each: Connection) => timed(() => findAtOnce(each, plan, finding))
        return isSlow ? connections.withSlow(work, bounds) : connections.with(work, bounds)
      },
    })
    if (found) return found
    // Too large to be collected in memory; nothing was passed on, so the page is read again in pieces.
    const large = { ...finding, maxRows: FIRST_PIECE }
    return await inTransaction(connections, (each) => findByPieces(each, plan, large), once)
  }

  return {
    kind: 'postgres',
    isShared: true,
    answers,
    description: 'PostgreSQL, shared by any number of processes',
    find: (plan, take, bounds) =>
      run('find', () => repeatingUntaken(take, (each) => find(plan, each, bounds))),
    stream: (plan, bounds) =>
      runner.runStream(() => streamOn(connections, { plan, table: tableOf(plan.collection), bounds })),
    readHistory: (request, bounds) =>
      runner.runStream(() =>
        readHistory(request, { table: tableOf(request.collection), connections, bounds }),
      ),
    explain: (plan, bounds) =>
      run('explain', () =>
        inTransaction(
          connections,
          (each) => explainIn(each, plan, { table: tableOf(plan.collection), bounds }),
          {
            bounds,
            isSnapshot: true,
          },
        ),
      ),
    write: (given, begin, bounds) =>
      run(given.kind, () =>
        notifyAfterCapture(sequencer.wake, async (note) => {
          const plan = note(given)
          const table = requireTable(tableOf(plan.collection), plan.collection)
          const stamp = stampFor(plan, context.version())
          const draw = sequenceDrawsOn(engine)
          const isDone = await writeAtOnce(plan, { connections, table, stamp, draw, begin, bounds })
          // Undefined: one statement is not enough, or there was a conflict.
          if (isDone !== undefined) return isDone
          return await inTransaction(connections, async (transaction) => {
            const isKept = await sessionIn(transaction, context).write(plan, begin, bounds)
            if (!isKept) transaction.undo()
            return isKept
          })
        }),
      ),
    transact: (work) =>
      run('transact', () =>
        notifyAfterCapture(sequencer.wake, (note) =>
          inTransaction(
            connections,
            (transaction) => work(capturing(sessionIn(transaction, inOneSnapshot(context)), note)),
            { isSnapshot: true, queue: `transactions of ${location.schema}` },
          ),
        ),
      ),
    nextValues: createSequences(engine).next,
    locks: createLocks(engine),
    metadata: createMetadata(engine, collections),
    sinks: createSinks(engine),
    transfer: createTransfer({
      engine,
      collections,
      outbox,
      from: collectionExport(connections, (work) => run('move', work)),
      openImport: () => collectionImport(builder, (work) => run('move', work)),
      claim: () => claimImport(builder),
    }),
    events: createOutbox(engine, outbox),
    ping: () => ping(engine),
    async [Symbol.asyncDispose]() {
      await runner[Symbol.asyncDispose]()
      await sequencer[Symbol.asyncDispose]()
      await listening[Symbol.asyncDispose]()
      pipelining[Symbol.dispose]()
      await connections[Symbol.asyncDispose]()
    },
  }
}

/** Work that is done once: concurrent callers share the attempt, and after a failure the next caller tries again. */
function untilDone(work: () => Promise<void>): () => Promise<void> {
  let doing: Promise<void> | undefined
  return () => {
    doing ??= work().catch((error: unknown) => {
      doing = undefined
      throw error
    })
    return doing
  }
}
