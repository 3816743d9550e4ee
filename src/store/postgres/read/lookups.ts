/** Batches point lookups: those that wait at the same time become one statement, and few statements run at once. */
import type { StoredDocument } from '../../../plan/plan.ts'
import { arrayText } from '../../sql/postgres-dialect.ts'
import type { Table } from '../schema/catalogue.ts'
import type { Row, SqlSession } from '../connection/connections.ts'
import { storedFrom } from './reads.ts'

export interface Lookups {
  find(table: Table, id: string): Promise<StoredDocument | undefined>
}

interface Waiting {
  readonly id: string
  readonly resolve: (document: StoredDocument | undefined) => void
  readonly reject: (reason: unknown) => void
}

export function createLookups(session: SqlSession): Lookups {
  const waiting = new Map<Table, Waiting[]>()
  let isScheduled = false
  let underWay = 0

  function answerNext(): void {
    isScheduled = false
    while (underWay < MAX_UNDER_WAY) {
      const [next] = waiting
      if (!next) return
      waiting.delete(next[0])
      underWay++
      void answer(session, next[0], next[1]).finally(() => {
        underWay--
        schedule()
      })
    }
  }

  /** At the end of the turn of the event loop, so that lookups that arrive in it join the batch. */
  function schedule(): void {
    if (isScheduled || waiting.size === 0 || underWay >= MAX_UNDER_WAY) return
    isScheduled = true
    setImmediate(answerNext)
  }

  return {
    find(table, id) {
      const { promise, resolve, reject } = Promise.withResolvers<StoredDocument | undefined>()
      const batch = waiting.get(table)
      if (batch) batch.push({ id, resolve, reject })
      else waiting.set(table, [{ id, resolve, reject }])
      schedule()
      return promise
    },
  }
}

/**
 * Lookups that arrive while this many statements run wait for the next one, so batches grow with the load.
 * With two, the database executes one while the results of the other are transferred.
 */
const MAX_UNDER_WAY = 2

async function answer(session: SqlSession, table: Table, batch: readonly Waiting[]): Promise<void> {
  try {
    const found = new Map((await read(session, table, batch)).map((row) => [row[0], storedFrom(row)]))
    for (const { id, resolve } of batch) resolve(found.get(id))
  } catch (error) {
    for (const { reject } of batch) reject(error)
  }
}

function read(session: SqlSession, { name }: Table, batch: readonly Waiting[]): Promise<readonly Row[]> {
  const columns = `select id, version, doc, paths from ${name}`
  if (batch.length === 1) return session.query({ text: `${columns} where id = $1`, values: [batch[0]!.id] })
  const ids = arrayText([...new Set(batch.map(({ id }) => id))])
  return session.query({ text: `${columns} where id = any($1)`, values: [ids] })
}
