/** Exports everything as it is at one moment, in one transaction, while others write. */
import { ServiceError } from '../../../base/errors.ts'
import type { Action, ExportedEvent } from '../../events.ts'
import type { OpenSnapshot } from '../../tables/export.ts'
import type { SqlSession } from '../connection/connection.ts'
import type { Connections, Row } from '../connection/connections.ts'
import { isCollision } from '../connection/failures.ts'
import { inTransaction } from '../connection/transaction.ts'
import { sessionOf } from '../engine.ts'
import { readEventState } from '../events/event-numbers.ts'
import type { Builder } from '../schema/builder.ts'
import { readCollections, tableName } from '../schema/catalogue.ts'
import { FIRST_TABLE } from '../schema/cluster.ts'
import { lockMetadata } from '../schema/metadata-lock.ts'
import { collectionExport } from './export.ts'

export function openSnapshotOn(builder: Builder): OpenSnapshot {
  return (work) =>
    inTransaction(
      builder.connections,
      async (transaction) => {
        if (builder.isCluster()) await openOnEveryNode(transaction, builder)
        return await work({
          session: sessionOf(transaction),
          from: collectionExport(transaction, (part) => part()),
          unnumbered: () => unnumberedEvents(transaction),
        })
      },
      { isSnapshot: true, mayRepeat: false },
    )
}

/**
 * On a cluster each connection to a node has a snapshot of its own, as of its first statement. So there is one connection to
 * each node, and the first statement goes to all of them while nobody writes.
 */
async function openOnEveryNode(session: SqlSession, builder: Builder): Promise<void> {
  await session.query({ text: 'set local citus.max_adaptive_executor_pool_size = 1', values: [] })
  await withoutWrites(builder, async () => {
    await session.query({ text: `select 1 from ${FIRST_TABLE} limit 1`, values: [] })
  })
}

/**
 * A write holds a lock on the table of its documents until every node has committed it. Claims and history are written in the
 * same transaction and need no lock of their own; the outbox is also written when events are numbered.
 */
async function withoutWrites({ connections, schema }: Builder, work: () => Promise<void>): Promise<void> {
  // Not from the main pool, of which the caller has a connection, perhaps the only one.
  using lease = await connections.lease()
  const onLease: Pick<Connections, 'with'> = { with: (transact) => transact(lease.connection) }
  await inTransaction(
    onLease,
    async (transaction) => {
      for (const text of IMPATIENTLY) await transaction.query({ text, values: [] })
      await lockMetadata(transaction, schema)
      const tables = [...(await readCollections(transaction)).map(tableName), FIRST_TABLE]
      await transaction.query({ text: `lock table ${tables.join(', ')} in share mode`, values: [] })
      await work()
    },
    { waitMs: LONGEST_WRITE_MS },
  ).catch((error: unknown) => {
    throw isCollision(error) ? new ServiceError('crud:Unavailable', BUSY) : error
  })
}

const BUSY =
  'the backup could not begin, because a write or a change of metadata took longer than a minute; try again'

/**
 * While the lock waits for a write, later writes wait behind it. So it gives up soon, as a collision, and is tried again. All
 * writes pass the coordinator: it alone has to be locked.
 */
const IMPATIENTLY = [`set local lock_timeout = '200ms'`, 'set local citus.enable_ddl_propagation = off']

/** Longer than a request may take by default. */
const LONGEST_WRITE_MS = 60_000

/**
 * Events get their numbers after the commit, so some of the moment have none yet. Here they get the next ones, in the
 * order of their changes: the versions of documents rise with time.
 */
async function unnumberedEvents(session: SqlSession) {
  const { reserved } = await readEventState(session)
  const rows = await session.query({
    text: `select id, entity, hook, operation, document, at, details, before, after, holder
      from smalt_outbox where seq is null order by coalesce(version, seen + 1), document, id`,
    values: [],
  })
  const numbers = new Map(rows.map(([id], i) => [id!, reserved + 1 + i]))
  const events: ExportedEvent[] = []
  for (const row of rows) events.push(await numbered(row, numbers, session))
  return { events, last: reserved + rows.length }
}

async function numbered(
  row: Row,
  numbers: ReadonlyMap<string, number>,
  session: SqlSession,
): Promise<ExportedEvent> {
  const [id, entity, hook, operation, document, at, details, before, after, holder] = row
  const event = {
    seq: numbers.get(id!)!,
    id: id!,
    entity: entity!,
    hook: hook!,
    operation: operation as Action,
    document: document!,
    at: Number(at),
    details: details!,
    before: before ?? null,
    after: after ?? null,
  }
  if (holder === null || holder === undefined) return event
  return { ...event, holder: { seq: numbers.get(holder) ?? (await numberOf(holder, session)), id: holder } }
}

async function numberOf(id: string, session: SqlSession): Promise<number> {
  const [row] = await session.query({ text: 'select seq from smalt_outbox where id = $1', values: [id] })
  return Number(row![0])
}
