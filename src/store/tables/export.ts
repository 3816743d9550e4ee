/** Exports everything in a store, for a move to another one; `import.ts` is the opposite direction. */
import type { EngineSession, Row, Rows } from '../engine.ts'
import { type Fragment, param, raw, sql } from '../sql/fragment.ts'
import type { ExportedEvent } from '../events.ts'
import type { ExportedAnswer, ExportedHistory, StoreExport, Transfer } from '../transfer.ts'
import { type ExportedSinkRow, SINK_TABLES } from '../transfer-sinks.ts'
import { engineIn } from './engine-in.ts'
import { ANSWER_COLUMNS, type ImportParts, beginImport } from './import.ts'
import { historyFrom, readRecords } from './metadata.ts'
import { obstacleIn } from './obstacle.ts'
import { boundsOf } from './outbox-heads.ts'
import { exportEvents } from './outbox.ts'
import { sizedPages } from './sized-pages.ts'

/** The part of an export that each engine implements itself. */
export type CollectionExport = Pick<StoreExport, 'collections' | 'documents' | 'past'>

interface TransferParts extends ImportParts {
  readonly from: CollectionExport
  /** Absent where one process owns the store, and exports a copy of it. */
  readonly openSnapshot?: OpenSnapshot
}

/** Runs work in a transaction that sees one moment. */
export type OpenSnapshot = <T>(work: (parts: SnapshotParts) => Promise<T>) => Promise<T>

interface SnapshotParts {
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
  const query = (statement: Fragment): Promise<Rows> => run(() => engine.query(statement))
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
    sinks: () =>
      run(async () => {
        const columns = raw(SINK_TABLES.smalt_sink.join(', '))
        return (await engine.query(sql`select ${columns} from smalt_sink order by sink`)).map(sinkRowFrom)
      }),
    async *sinkItems() {
      for await (const page of sizedPages(query, SINK_ITEMS)) yield page.map(sinkRowFrom)
    },
    records: () =>
      run(async () => {
        const read = (session: EngineSession) => readRecords(engine, session)
        const { collections: _, ...records } = await engine.transaction(read, { isReadOnly: true })
        return records
      }),
    async *answers() {
      for await (const page of sizedPages(query, ANSWERS)) yield page.map(answerFrom)
    },
  }
}

const ANSWERS = {
  name: 'smalt_answer',
  columns: ANSWER_COLUMNS,
  start: ['', ''],
  bytes: 'size',
  maxRows: 20,
} as const

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

const SINK_ITEMS = {
  name: 'smalt_sink_item',
  columns: SINK_TABLES.smalt_sink_item,
  start: ['', 0],
  bytes: 'octet_length(doc) + octet_length(error) + octet_length(event)',
  maxRows: 500,
} as const

function sinkRowFrom(row: Row): ExportedSinkRow {
  return row.map(String)
}
