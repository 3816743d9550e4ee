/** A page at the pace of its reader, on a connection of its own. */
import type { ReadPlan, StoredDocument } from '../../plan/plan.ts'
import type { Bounds } from '../store.ts'
import type { Table } from './catalogue.ts'
import type { Statement } from '../sql/fragment.ts'
import type { Connections, Row, Session } from './connections.ts'
import { pieces } from './cursor.ts'
import { streamPage } from './find.ts'

interface Streaming {
  readonly plan: ReadPlan
  /** Absent: nothing was ever stored there. */
  readonly table: Table | undefined
  readonly bounds: Bounds
}

export async function* streamOn(
  connections: Connections,
  { plan, table, bounds }: Streaming,
): AsyncGenerator<StoredDocument> {
  if (table) yield* inOneMoment(connections, bounds, (session) => streamPage(session, plan, table))
}

/** The rows of a statement, in the same way. */
export function piecesOn(
  connections: Connections,
  statement: Statement,
  bounds: Bounds,
): AsyncGenerator<readonly Row[]> {
  return inOneMoment(connections, bounds, (session) => pieces(session, statement))
}

async function* inOneMoment<T>(
  connections: Connections,
  bounds: Bounds,
  read: (session: Session) => AsyncIterable<T>,
): AsyncGenerator<T> {
  using lease = await connections.lease()
  const { connection } = lease
  // The reader may be slow; it is each step of the database that is held to the time limit.
  const session: Session = {
    ask: (statement) => connection.within(bounds, () => connection.ask(statement)),
  }
  connection.send('begin isolation level repeatable read read only')
  try {
    yield* read(session)
  } finally {
    await connection.ask({ text: 'rollback', values: [] }).catch(() => undefined)
  }
}
