/** Exports everything in a store, for a move to another one; `import.ts` is the opposite direction. */
import type { Engine, Rows, Session } from '../engine.ts'
import { type Fragment, param, raw, sql } from '../sql/fragment.ts'
import type { Transfer, ExportedHistory } from '../transfer.ts'
import { type ExportedSinks, SINK_KEYS, SINK_TABLES, type SinkTable } from '../transfer-sinks.ts'
import { type ImportParts, beginImport } from './import.ts'
import { historyFrom, readRecords } from './metadata.ts'
import { obstacleIn } from './obstacle.ts'
import { boundsOf } from './outbox-heads.ts'
import { exportEvents } from './outbox.ts'

/** The part of an export that each engine implements itself. */
export type CollectionExport = Pick<Transfer, 'collections' | 'documents' | 'past'>

export function createTransfer(parts: ImportParts & { readonly from: CollectionExport }): Transfer {
  const { engine, outbox, from } = parts
  const run = <T>(work: () => Promise<T>): Promise<T> => engine.run('move', work)
  return {
    ...from,
    sequences: () =>
      run(async () => {
        const columns = raw(`name, next || '', increment || ''`)
        const rows = await engine.query(sql`select ${columns} from smalt_sequence order by name`)
        return rows.map(([name, next, increment]) => ({
          name: String(name),
          next: BigInt(next!),
          increment: BigInt(increment!),
        }))
      }),
    async *history() {
      for (let last = 0; ;) {
        const rows = await run(() => engine.query(historyAfter(last)))
        if (rows.length === 0) return
        last = Number(rows.at(-1)![0])
        yield rows.map(([, entity, ...record]): ExportedHistory => {
          return { entity: String(entity), ...historyFrom(record) }
        })
      }
    },
    async *events() {
      await run(outbox.untilNumbered)
      for (let since = 0; ;) {
        const after = since
        const reading = { engine, table: outbox, bounds: BOUNDS }
        const events = await run(() => exportEvents(reading, after, EVENTS_PAGE))
        if (events.length === 0) return
        since = events.at(-1)!.seq
        yield events
      }
    },
    lastEvent: () =>
      run(() => outbox.untilNumbered().then(async () => (await boundsOf(engine, outbox)).last)),
    sinks: () => run(() => exportSinks(engine)),
    records: () =>
      run(async () => {
        const read = (session: Session) => readRecords(engine, session)
        const { collections: _, ...records } = await engine.transaction(read, { isReadOnly: true })
        return records
      }),
    obstacle: () => run(() => obstacleIn(engine, engine)),
    beginImport: (options) => run(() => beginImport(parts, options)),
  }
}

const BOUNDS = { timeLimitMs: 60_000 }
const EVENTS_PAGE = 200
const HISTORY_PAGE = 200

function historyAfter(last: number): Fragment {
  return sql`select no, entity, at, principal, action, version, before, after from smalt_history
    where no > ${param(last)} order by no limit ${raw(String(HISTORY_PAGE))}`
}

async function exportSinks({ query }: Engine): Promise<ExportedSinks> {
  const rowsOf = async (table: SinkTable): Promise<readonly (readonly string[])[]> => {
    const columns = raw(SINK_TABLES[table].join(', '))
    const rows: Rows = await query(
      sql`select ${columns} from ${raw(table)} order by ${raw(SINK_KEYS[table])}`,
    )
    return rows.map((row) => row.map(String))
  }
  return { smalt_sink: await rowsOf('smalt_sink'), smalt_sink_item: await rowsOf('smalt_sink_item') }
}
