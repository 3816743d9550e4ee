/** Exports everything in a store, for a move to another one; `import.ts` is the opposite direction. */
import type { Engine, EngineSession, Row, Rows } from '../engine.ts'
import { type Fragment, param, raw, sql } from '../sql/fragment.ts'
import type { ExportedEvent } from '../events.ts'
import type { ExportedAnswer, ExportedHistory, StoreExport, Transfer } from '../transfer.ts'
import { type ExportedSinks, SINK_KEYS, SINK_TABLES, type SinkTable } from '../transfer-sinks.ts'
import { engineIn } from './engine-in.ts'
import { ANSWER_COLUMNS, type ImportParts, beginImport } from './import.ts'
import { historyFrom, readRecords } from './metadata.ts'
import { obstacleIn } from './obstacle.ts'
import { boundsOf } from './outbox-heads.ts'
import { exportEvents } from './outbox.ts'

/** The part of an export that each engine implements itself. */
export type CollectionExport = Pick<StoreExport, 'collections' | 'documents' | 'past'>

interface TransferParts extends ImportParts {
  readonly from: CollectionExport
  /** Absent where one process owns the store, and exports a copy of it. */
  readonly openSnapshot?: OpenSnapshot
}

/** Runs work in a transaction that sees one moment. */
export type OpenSnapshot = <T>(work: (parts: SnapshotParts) => Promise<T>) => Promise<T>

export interface SnapshotParts {
  readonly session: EngineSession
  readonly from: CollectionExport
  /** Events that have no numbers yet, with the numbers that they get, and the last number. */
  readonly unnumbered: () => Promise<{ readonly events: readonly ExportedEvent[]; readonly last: number }>
}

export function createTransfer(parts: TransferParts): Transfer {
  const { engine, openSnapshot } = parts
  const run = <T>(work: () => Promise<T>): Promise<T> => engine.run('move', work)
  const live = exportFrom(parts, run)
  return {
    ...live,
    snapshot: (work) =>
      openSnapshot ? run(() => openSnapshot((opened) => work(exportAt(parts, opened)))) : work(live),
    obstacle: () => run(() => obstacleIn(engine, engine)),
    beginImport: (options) => run(() => beginImport(parts, options)),
  }
}

type Run = <T>(work: () => Promise<T>) => Promise<T>

function exportAt(parts: TransferParts, { session, from, unnumbered }: SnapshotParts): StoreExport {
  const outbox = { ...parts.outbox, untilNumbered: async () => undefined }
  const engine = engineIn(parts.engine, session)
  const numbered = exportFrom({ engine, outbox, from }, (work) => work())
  return {
    ...numbered,
    async *events() {
      yield* numbered.events()
      const { events } = await unnumbered()
      if (events.length > 0) yield events
    },
    lastEvent: async () => (await unnumbered()).last,
  }
}

function exportFrom(
  { engine, outbox, from }: Pick<TransferParts, 'engine' | 'outbox' | 'from'>,
  run: Run,
): StoreExport {
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
        const read = (session: EngineSession) => readRecords(engine, session)
        const { collections: _, ...records } = await engine.transaction(read, { isReadOnly: true })
        return records
      }),
    async *answers() {
      for (let last: readonly [string, string] = ['', '']; ;) {
        const [caller, key] = last
        const select = (columns: Fragment, limit: number): Promise<readonly Row[]> =>
          run(() =>
            engine.query(
              sql`select ${columns} from smalt_answer
                where caller > ${param(caller)} or (caller = ${param(caller)} and key > ${param(key)})
                order by caller, key limit ${param(limit)}`,
            ),
          )
        const sizes = await select(raw('size'), ANSWERS_PAGE)
        if (sizes.length === 0) return
        const rows = await select(ANSWER_COLUMNS, countWithin(sizes.map(([size]) => Number(size))))
        const page = rows.map(answerFrom)
        last = [page.at(-1)![0], page.at(-1)![1]]
        yield page
      }
    },
  }
}

const ANSWERS_PAGE = 20
const ANSWERS_BYTES = 8 * 1024 * 1024

/** How many of them have no more bytes than a page may have; at least one, because each may be as large as a document. */
function countWithin(sizes: readonly number[]): number {
  let bytes = 0
  const end = sizes.findIndex((size) => (bytes += size) > ANSWERS_BYTES)
  return end < 0 ? sizes.length : Math.max(1, end)
}

function answerFrom([caller, key, fingerprint, status, answer, size, expires, leased]: Row): ExportedAnswer {
  return [
    String(caller),
    String(key),
    String(fingerprint),
    Number(status),
    String(answer),
    Number(size),
    Number(expires),
    Number(leased),
  ]
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
