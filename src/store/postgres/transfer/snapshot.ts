/** Exports everything as it is at one moment, in one transaction, while others write. */
import type { Action, ExportedEvent } from '../../events.ts'
import type { OpenSnapshot } from '../../tables/export.ts'
import type { SqlSession } from '../connection/connection.ts'
import type { Connections, Row } from '../connection/connections.ts'
import { inTransaction } from '../connection/transaction.ts'
import { sessionOf } from '../engine.ts'
import { readEventState } from '../events/event-numbers.ts'
import { collectionExport } from './export.ts'

export function openSnapshotOn(connections: Connections): OpenSnapshot {
  return (work) =>
    inTransaction(
      connections,
      (transaction) =>
        work({
          session: sessionOf(transaction),
          from: collectionExport(transaction, (part) => part()),
          unnumbered: () => unnumberedEvents(transaction),
        }),
      { isSnapshot: true, mayRepeat: false },
    )
}

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
