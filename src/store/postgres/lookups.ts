/** Point lookups that wait at the same time become one statement. */
import type { StoredDocument } from '../../plan/plan.ts'
import { arrayText } from '../sql/postgres-dialect.ts'
import type { Table } from './catalogue.ts'
import type { Row, Session } from './connections.ts'
import { storedFrom } from './reads.ts'

export interface Lookups {
  find(table: Table, id: string): Promise<StoredDocument | undefined>
}

interface Waiting {
  readonly id: string
  readonly resolve: (document: StoredDocument | undefined) => void
  readonly reject: (reason: unknown) => void
}

export function createLookups(session: Session): Lookups {
  const waiting = new Map<Table, Waiting[]>()

  function answerAll(): void {
    const batches = [...waiting]
    waiting.clear()
    for (const [table, batch] of batches) void answer(session, table, batch)
  }

  return {
    find(table, id) {
      const { promise, resolve, reject } = Promise.withResolvers<StoredDocument | undefined>()
      if (waiting.size === 0) setImmediate(answerAll)
      const batch = waiting.get(table)
      if (batch) batch.push({ id, resolve, reject })
      else waiting.set(table, [{ id, resolve, reject }])
      return promise
    },
  }
}

async function answer(session: Session, table: Table, batch: readonly Waiting[]): Promise<void> {
  try {
    const found = new Map((await read(session, table, batch)).map((row) => [row[0], storedFrom(row)]))
    for (const { id, resolve } of batch) resolve(found.get(id))
  } catch (error) {
    for (const { reject } of batch) reject(error)
  }
}

function read(session: Session, { name }: Table, batch: readonly Waiting[]): Promise<readonly Row[]> {
  const columns = `select id, version, doc, paths from ${name}`
  if (batch.length === 1) return session.ask({ text: `${columns} where id = $1`, values: [batch[0]!.id] })
  const ids = arrayText([...new Set(batch.map(({ id }) => id))])
  return session.ask({ text: `${columns} where id = any($1)`, values: [ids] })
}
