/** The embedded store: one SQLite file, nothing to set up. */
import { ServiceError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import type { InsertPlan, ReadPlan } from '../../plan/plan.ts'
import type { Sequence } from '../../schema/field.ts'
import type { Collection } from '../../schema/schema.ts'
import type { SqlValue } from '../sql/fragment.ts'
import { bind } from '../sql/sqlite-dialect.ts'
import type { Found, InsertOutcome, Store, StoredDocument } from '../store.ts'
import { type Catalogue, type Table, openCatalogue } from './catalogue.ts'
import { openConnection } from './connection.ts'
import { explainRead } from './explain.ts'
import { isConstraintError } from './failures.ts'
import { createLookups } from './lookups.ts'
import { metadataOf } from './metadata.ts'
import { type Statements, createStatements, readStatements, soughtId } from './reads.ts'
import { createWriter } from './writer.ts'

export interface SqliteOptions {
  readonly directory: string
  /** Microseconds since 1970; document versions are made of it. */
  readonly now?: () => number
  readonly onTiming?: (operation: string, seconds: number) => void
}

export function openSqliteStore({ directory, now = microseconds, onTiming }: SqliteOptions): Store {
  const connection = openConnection(directory)
  const { database } = connection
  const catalogue = openCatalogue(database)
  const statements = createStatements(database)
  const writer = createWriter(database)
  const lookups = createLookups(statements)
  const versions = risingFrom(now)

  async function timed<T>(operation: string, work: () => Promise<T> | T): Promise<T> {
    const start = performance.now()
    try {
      return await work()
    } finally {
      onTiming?.(operation, (performance.now() - start) / 1000)
    }
  }

  return {
    kind: 'sqlite',
    description: 'SQLite, every write on disk before it is answered (WAL, synchronous=FULL)',
    find: (plan, take) => timed('find', () => find(plan, take, { catalogue, statements, lookups })),
    explain: (plan) =>
      timed('explain', () => explainRead(plan, catalogue.tableOf(plan.collection), statements)),
    insert: (plan) =>
      timed('insert', () =>
        writer.run(() =>
          (plan.atomic ? insertAll : insert)(plan, requireTable(catalogue, plan.collection), {
            statements,
            version: versions(),
          }),
        ),
      ),
    nextValues: (sequence, count) =>
      timed('sequence', () => writer.run(() => nextValues(sequence, count, statements))),
    ...metadataOf(database, catalogue, writer),
    async ping() {
      database.prepare('select 1').get()
    },
    async [Symbol.asyncDispose]() {
      await writer.drain()
      connection[Symbol.dispose]()
    },
  }
}

interface Reading {
  readonly catalogue: Catalogue
  readonly statements: Statements
  readonly lookups: ReturnType<typeof createLookups>
}

type Row = readonly [id: string, version: number, doc: string]

function find(
  plan: ReadPlan,
  take: (document: StoredDocument) => void,
  { catalogue, statements, lookups }: Reading,
): Promise<Found> | Found {
  const table = catalogue.tableOf(plan.collection)
  if (!table) return { matchCount: 0 }
  const id = soughtId(plan)
  if (id !== undefined) return findOne(lookups.find(table, id), plan, take)
  const { page, count } = readStatements(plan, table)
  let taken = 0
  for (const row of rowsOf(statements.prepare(page.text), page.values, plan)) {
    taken++
    take(toDocument(row))
  }
  if (!plan.counted) return { matchCount: 0 }
  if (endsHere(plan, taken)) return { matchCount: plan.from + taken }
  const [matchCount] = statements.prepare(count.text).get(...count.values) as unknown as [number]
  return { matchCount }
}

/** Whether the page reached the last match, so that counting again would tell nothing new. */
function endsHere({ from, to }: ReadPlan, taken: number): boolean {
  const hasRoom = to === undefined || taken < to - from + 1
  return hasRoom && (taken > 0 || from === 0)
}

async function findOne(
  lookup: Promise<StoredDocument | undefined>,
  plan: ReadPlan,
  take: (document: StoredDocument) => void,
): Promise<Found> {
  const document = await lookup
  if (!document) return { matchCount: 0 }
  if (plan.from === 0 && (plan.to ?? 0) >= 0) take(document)
  return { matchCount: 1 }
}

/** Pages are fetched whole, which is faster; what may be large is fetched row by row, so that it is never all here. */
function rowsOf(
  statement: ReturnType<Statements['prepare']>,
  values: readonly SqlValue[],
  { from, to }: ReadPlan,
): Iterable<Row> {
  const isPage = to !== undefined && to - from < 1000
  return (isPage ? statement.all(...values) : statement.iterate(...values)) as unknown as Iterable<Row>
}

function toDocument([id, version, text]: Row): StoredDocument {
  return { id, version, text }
}

interface Writing {
  readonly statements: Statements
  readonly version: number
}

function insert(plan: InsertPlan, table: Table, { statements, version }: Writing): readonly InsertOutcome[] {
  const statement = statements.prepare(`insert into ${table.name}(id, version, doc) values (?, ?, ?)`)
  const outcomes = plan.documents.map((document): InsertOutcome => {
    const text = JSON.stringify(document)
    try {
      statement.run(bind(document['_id']!, plan.idType), version, text)
      return { kind: 'stored', document: { id: idText(document), version, text } }
    } catch (error) {
      if (isConstraintError(error)) return { kind: 'duplicate' }
      throw error
    }
  })
  return outcomes
}

/** All documents, or none of them. */
function insertAll(plan: InsertPlan, table: Table, writing: Writing): readonly InsertOutcome[] {
  const { statements } = writing
  statements.prepare('savepoint documents').run()
  const outcomes = insert(plan, table, writing)
  const isComplete = outcomes.every(({ kind }) => kind === 'stored')
  if (!isComplete) statements.prepare('rollback to documents').run()
  statements.prepare('release documents').run()
  return isComplete
    ? outcomes
    : outcomes.map((outcome) => (outcome.kind === 'stored' ? { kind: 'rolledBack' } : outcome))
}

function idText(document: JsonObject): string {
  const id = document['_id']!
  return typeof id === 'string' ? id : JSON.stringify(id)
}

function nextValues(sequence: Sequence, count: number, statements: Statements): readonly bigint[] {
  const { name, initialValue, increment } = sequence
  statements
    .prepare('insert into smalt_sequence(name, next, increment) values (?, ?, ?) on conflict do nothing')
    .run(name, initialValue, increment)
  const read = statements.prepare('select next, increment from smalt_sequence where name = ?')
  read.setReadBigInts(true)
  const [next, step] = read.get(name) as unknown as [bigint, bigint]
  const after = next + step * BigInt(count)
  if (BigInt.asIntN(64, after) !== after) {
    throw new ServiceError('crud:LimitExceeded', `the sequence ${name} has no more values`)
  }
  statements.prepare('update smalt_sequence set next = ? where name = ?').run(after, name)
  return Array.from({ length: count }, (_, i) => next + step * BigInt(i))
}

/** Metadata creates a collection's table before any document of it can be written. */
function requireTable(catalogue: Catalogue, collection: Collection): Table {
  const table = catalogue.tableOf(collection)
  if (!table) throw new Error(`the collection ${collection.name} of ${collection.entity} has no table`)
  return table
}

/** Never the same twice, and never less than before, also when the clock stands still or is set back. */
function risingFrom(now: () => number): () => number {
  let last = 0
  return () => (last = Math.max(last + 1, now()))
}

function microseconds(): number {
  return Math.floor((performance.timeOrigin + performance.now()) * 1000)
}
