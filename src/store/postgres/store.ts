/** The PostgreSQL store, shared by any number of processes; the same statements run on a Citus cluster. */
import { microseconds, risingFrom } from '../clock.ts'
import type { Database } from '../database.ts'
import { bookkeepingOperations } from '../tables/bookkeeping.ts'
import { createTransfer } from '../tables/export.ts'
import { collectionExport } from './transfer/export.ts'
import { openSnapshotOn } from './transfer/snapshot.ts'
import { claimImport, collectionImport } from './transfer/import.ts'
import { createFiller } from './schema/filler.ts'
import { tryToTidyUp } from './schema/index-builds.ts'
import { collectionsOf } from './schema/changes.ts'
import { type Connections, openConnections } from './connection/connections.ts'
import { createKnownTables } from './schema/table-cache.ts'
import { createPipelining } from './connection/pipelining.ts'
import { type Listening, createListening } from './connection/listen.ts'
import { type Location, readLocation } from './connection/location.ts'
import { createSharedReads } from './read/shared-reads.ts'
import { examineServer, requireRights, requireWorkers } from './schema/server.ts'
import { migrate } from './schema/migrations.ts'
import { outboxTable } from './events/event-numbers.ts'
import { createRecentDocuments } from './write/recent-documents.ts'
import { createSharedWrites } from './write/shared-writes.ts'
import { readOperations } from './read-operations.ts'
import { type Runner, createRunner } from './runner.ts'
import { writeOperations } from './write-operations.ts'
import { createSequencer } from './events/sequencer.ts'
import { ping } from '../engine.ts'
import { CHANNELS, createPostgresEngine } from './engine.ts'

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
  const { url, now = microseconds, isBeside = false } = options
  const { onTiming, onError = ignore, onWarning = ignore } = options
  const given = readLocation(url)
  const location = isBeside ? { ...given, poolSize: Math.min(given.poolSize, BESIDE_POOL_SIZE) } : given
  const connections = openConnections(location, onError)
  const listening = createListening(location)
  const reads = createSharedReads(connections)
  const shared = { reads, writes: createSharedWrites(connections), recent: createRecentDocuments() }
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
    if (isBeside) return await reload()
    await migrate(connections, location)
    await reload()
    // A table may be in use for hours, by a dump of the database, and no request needs what is to be dropped.
    if (!(await tryToTidyUp(builder))) filler.wake()
    server.warnings.forEach(onWarning)
  })
  const runner = createRunner({ start, reload, onError, onTiming })
  const { run } = runner
  const { engine, sequencer } = engineWithEvents({ location, connections, listening, start, runner, onError })
  const outbox = outboxTable(engine, { quick: connections.quick, watch: sequencer.watch })
  const collections = collectionsOf(builder)
  const context = { engine, tableOf, version: () => version(), isCluster: () => isCluster }

  return {
    kind: 'postgres',
    isShared: true,
    description: 'PostgreSQL, shared by any number of processes',
    ...readOperations({ connections, reads, pipelining, tableOf, runner, isCluster: () => isCluster }),
    ...writeOperations({
      connections,
      shared,
      runner,
      engine,
      context,
      schema: location.schema,
      onCaptured: sequencer.wake,
    }),
    ...bookkeepingOperations(engine, { collections, outbox }),
    transfer: createTransfer({
      engine,
      collections,
      outbox,
      from: collectionExport(connections, (work) => run('move', work)),
      openSnapshot: openSnapshotOn(builder),
      openImport: () => collectionImport(builder, (work) => run('move', work)),
      claim: () => claimImport(builder),
    }),
    async ping() {
      await ping(engine)
      await run('ping', () => requireRights(connections.quick, location.schema))
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

interface EngineParts {
  readonly location: Location
  readonly connections: Connections
  readonly listening: Listening
  readonly start: () => Promise<void>
  readonly runner: Runner
  readonly onError: (error: unknown) => void
}

/** The engine, and the sequencer that numbers events once somebody reads them. */
function engineWithEvents({ location, connections, listening, start, runner, onError }: EngineParts) {
  const eventListeners: (() => void)[] = []
  const onPublished = (): void => eventListeners.forEach((listener) => listener())
  const sequencer = createSequencer({ location, ready: start, onPublished, onError })
  const engine = createPostgresEngine({
    connections,
    schema: location.schema,
    run: (operation, work) => {
      // Events of processes that died get their numbers as soon as somebody reads.
      if (operation === 'events' || operation === 'trim') sequencer.watch()
      return runner.run(operation, work)
    },
    listen(topic, listener) {
      listening.add(CHANNELS[topic], listener)
      if (topic !== 'events') return
      eventListeners.push(listener)
      sequencer.watch()
    },
  })
  return { engine, sequencer }
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

function ignore(): void {}
