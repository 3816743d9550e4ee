/** The PostgreSQL store, shared by any number of processes; the same statements run on a Citus cluster. */
import type { AggregatePlan } from '../../plan/aggregate.ts'
import type { ReadPlan } from '../../plan/plan.ts'
import { requestedId } from '../../plan/plan-properties.ts'
import { microseconds, risingFrom } from '../clock.ts'
import type { Bounds } from '../bounds.ts'
import type { Database } from '../database.ts'
import type { BeginGroups, Found, OnDocument } from '../store.ts'
import { createTransfer } from '../tables/export.ts'
import { collectionExport } from './transfer/export.ts'
import { openSnapshotOn } from './transfer/snapshot.ts'
import { claimImport, collectionImport } from './transfer/import.ts'
import { writeAtOnce } from './write/single-statement.ts'
import { createFiller } from './schema/filler.ts'
import { tidyUp } from './schema/index-builds.ts'
import { collectionsOf } from './schema/changes.ts'
import { createMetadata } from '../tables/metadata.ts'
import { openConnections } from './connection/connections.ts'
import { FIRST_PIECE } from './connection/cursor.ts'
import { aggregateAtOnce, aggregateByPieces, canAggregate, explainGroups } from './read/aggregate.ts'
import { findAtOnce, findByPieces, findPage, findWithin, pageOf, repeatingUntaken } from './read/find.ts'
import { createKnownTables } from './schema/table-cache.ts'
import { mayBeStale } from './connection/failures.ts'
import { createPipelining } from './connection/pipelining.ts'
import { createListening } from './connection/listen.ts'
import { readLocation } from './connection/location.ts'
import { createAnswers } from '../tables/answers.ts'
import { createLocks } from '../tables/locks.ts'
import { createSequences, peekingOn } from '../tables/sequences.ts'
import { createSharedReads } from './read/shared-reads.ts'
import { examineServer, requireWorkers } from './schema/server.ts'
import { migrate } from './schema/migrations.ts'
import { outboxTable } from './events/event-numbers.ts'
import { capturing, notifyAfterCapture } from './events/outbox.ts'
import { createOutbox } from '../tables/outbox.ts'
import { readHistory } from './read/history.ts'
import { pushdownTo } from './read/pushdown.ts'
import { createSharedWrites } from './write/shared-writes.ts'
import { readStatementsFor, preparedStatements } from './read/reads.ts'
import { noteRefusal } from './read/refused.ts'
import { createRunner } from './runner.ts'
import { createSequencer } from './events/sequencer.ts'
import { sequenceDrawsOn, explainIn, inOneSnapshot, requireTable, sessionIn, stampFor } from './session.ts'
import { createSinks } from '../tables/sinks.ts'
import { ping } from '../engine.ts'
import { CHANNELS, createPostgresEngine } from './engine.ts'
import { streamOn } from './read/stream.ts'
import { type Transaction, inTransaction } from './connection/transaction.ts'

interface PostgresOptions {
  readonly url: string
  /** Microseconds since 1970; document versions are made from it. */
  readonly now?: () => number
  readonly onTiming?: (operation: string, seconds: number) => void
  /** Called for failures outside of any operation, such as a connection that broke while idle. */
  readonly onError?: (error: unknown) => void
  readonly onWarning?: (message: string) => void
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
  const {
    url,
    now = microseconds,
    onTiming,
    onError = () => undefined,
    onWarning = () => undefined,
    isBeside = false,
  } = options
  const given = readLocation(url)
  const location = isBeside ? { ...given, poolSize: Math.min(given.poolSize, BESIDE_POOL_SIZE) } : given
  const connections = openConnections(location, onError)
  const listening = createListening(location)
  const reads = createSharedReads(connections)
  const shared = { reads, writes: createSharedWrites(connections) }
  const pipelining = createPipelining(connections.leasePipeline)
  /** Known when the store has started; metadata, and with it every collection, is read later. */
  let isCluster = false
  const known = createKnownTables(connections, () => isCluster)
  const { tableOf } = known
  const version = risingFrom(now)
  const building = { connections, schema: location.schema, now: version, isCluster: () => isCluster }
  const filler = createFiller({ ...building, reload: known.reload }, { onError })
  const reload = async (): Promise<void> => {
    await known.reload()
    if (!isBeside && known.hasIncomplete()) filler.wake()
  }
  const builder = { ...building, reload }
  const start = untilDone(async () => {
    const server = await examineServer(connections, location)
    isCluster = server.isCluster
    if (!isBeside) await migrate(connections, location)
    await reload()
    await tidyUp(builder)
    if (!isBeside) server.warnings.forEach(onWarning)
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
  const context = { engine, tableOf, version: () => version(), isCluster: () => isCluster }

  async function find(plan: ReadPlan, take: OnDocument, bounds: Bounds): Promise<Found> {
    const table = tableOf(plan.collection)
    if (!table) return { matchCount: 0 }
    connections.noteCaller(bounds.caller)
    const id = requestedId(plan)
    if (id !== undefined) return pageOf(await reads.find(table, id, bounds), plan, take)
    const read = readStatementsFor(bounds, preparedStatements(plan, table))
    const finding = { read, take }
    // A count may take much longer than its page, so the two kinds are measured apart.
    const kind = plan.counted ? read.page.text : `${read.page.text} uncounted`
    // Never repeated: documents may have been passed on already.
    const once = { bounds, isSnapshot: true, mayRepeat: false, kind }
    if (read.residual)
      return await inTransaction(connections, (each) => findWithin(each, plan, finding), once)
    const found = await pipelining.run({
      kind,
      bounds,
      pipelined: (session): Promise<Found | undefined> => findPage(session, plan, finding),
      alone: (timed) =>
        connections.with((each) => timed(() => findAtOnce(each, plan, finding)), { bounds, kind }),
    })
    if (found) return found
    // Too large to be collected in memory; nothing was passed on, so the page is read again in pieces.
    const large = { ...finding, maxRows: FIRST_PIECE }
    return await inTransaction(connections, (each) => findByPieces(each, plan, large), once)
  }

  async function aggregate(plan: AggregatePlan, begin: BeginGroups, bounds: Bounds): Promise<Found> {
    const aggregating = { table: tableOf(plan.collection), begin }
    const once = (): Promise<Found | undefined> =>
      connections.with((each) => aggregateAtOnce(each, plan, aggregating), { bounds, kind: 'aggregate' })
    // A connection may have died while idle in the pool. Repeating is safe, because groups are passed on last.
    const found = await once().catch((error: unknown) => {
      if (mayBeStale(error)) return once()
      throw error
    })
    if (found) return found
    // Too large to be collected in memory; nothing was passed on, so the page is read again in pieces.
    return await inTransaction(connections, (each) => aggregateByPieces(each, plan, aggregating), {
      bounds,
      isSnapshot: true,
      mayRepeat: false,
    })
  }

  return {
    kind: 'postgres',
    isShared: true,
    answers: (query) => pushdownTo({ isDistributed: isCluster }).answers(query),
    canJoin: () => pushdownTo({ isDistributed: isCluster }).canJoin,
    description: 'PostgreSQL, shared by any number of processes',
    find: (plan, take, bounds) =>
      run('find', () =>
        noteRefusal([plan.query], () => repeatingUntaken(take, (each) => find(plan, each, bounds))),
      ),
    stream: (plan, bounds) =>
      runner.runStream(
        () =>
          streamOn(connections, {
            plan,
            tableOf: () => tableOf(plan.collection),
            withCurrentTables: runner.withCurrentTables,
            bounds,
          }),
        (first) => noteRefusal([plan.query], first),
      ),
    readHistory: (request, bounds) =>
      runner.runStream(() =>
        readHistory(request, { table: tableOf(request.collection), connections, bounds }),
      ),
    explain: (plan, bounds) =>
      run('explain', () =>
        noteRefusal([plan.query], () =>
          inTransaction(
            connections,
            (each) => explainIn(each, plan, { table: tableOf(plan.collection), bounds }),
            { bounds, isSnapshot: true },
          ),
        ),
      ),
    canAggregate: (plan) => canAggregate(plan, isCluster),
    aggregate: (plan, begin, bounds) => run('aggregate', () => aggregate(plan, begin, bounds)),
    explainAggregate: (plan, bounds) =>
      run('explain', () =>
        inTransaction(connections, (each) => explainGroups(each, plan, tableOf(plan.collection)), {
          bounds,
          isSnapshot: true,
        }),
      ),
    write: (given, begin, bounds) =>
      run(given.kind, () =>
        notifyAfterCapture(sequencer.wake, async (note) => {
          connections.noteCaller(bounds.caller)
          const plan = note(given)
          const table = requireTable(tableOf(plan.collection), plan.collection)
          const stamp = stampFor(plan, context.version())
          const draw = sequenceDrawsOn(engine)
          const isDone = await writeAtOnce(plan, { connections, table, stamp, draw, begin, bounds, shared })
          // Undefined: one statement is not enough, or there was a conflict.
          if (isDone !== undefined) return isDone
          const work = async (transaction: Transaction): Promise<boolean> => {
            const isKept = await sessionIn(transaction, context).write(plan, begin, bounds)
            if (!isKept) transaction.undo()
            return isKept
          }
          const kind = `${plan.kind} in ${table.name}`
          return await inTransaction(connections, work, { holder: bounds, kind })
        }),
      ),
    transact: (work, { isDryRun = false, caller } = {}) =>
      run('transact', () =>
        notifyAfterCapture(sequencer.wake, (note) =>
          inTransaction(
            connections,
            async (transaction) => {
              if (!isDryRun)
                return await work(capturing(sessionIn(transaction, inOneSnapshot(context)), note))
              const next = peekingOn({ peekValues: createSequences(engine).peek })
              const result = await work(sessionIn(transaction, { ...inOneSnapshot(context), next }))
              transaction.undo()
              return result
            },
            { isSnapshot: true, queue: `transactions of ${location.schema}`, holder: { caller } },
          ),
        ),
      ),
    nextValues: createSequences(engine).next,
    peekValues: createSequences(engine).peek,
    raiseSequence: createSequences(engine).raise,
    locks: createLocks(engine),
    kept: createAnswers(engine),
    metadata: createMetadata(engine, collections),
    sinks: createSinks(engine),
    transfer: createTransfer({
      engine,
      collections,
      outbox,
      from: collectionExport(connections, (work) => run('move', work)),
      openSnapshot: openSnapshotOn(connections),
      openImport: () => collectionImport(builder, (work) => run('move', work)),
      claim: () => claimImport(builder),
    }),
    events: createOutbox(engine, outbox),
    async ping() {
      await ping(engine)
      if (isCluster) await run('ping', () => requireWorkers(connections.quick))
    },
    async [Symbol.asyncDispose]() {
      await runner[Symbol.asyncDispose]()
      await filler[Symbol.asyncDispose]()
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
