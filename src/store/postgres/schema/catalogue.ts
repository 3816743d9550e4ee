/**
 * The catalogue: which table stores which collection, and which index implements which definition. Names
 * given by users are only values in its rows. Tables and indexes are numbered, so that no such name ever
 * becomes an SQL identifier.
 *
 * The name of a table also contains a generation. When the unique indexes, the history setting or the columns
 * of a collection change, the table is renamed. A process whose cache is outdated then cannot write by the old
 * rules: its statement fails, it reads the catalogue again, and repeats the statement. Tables with columns have
 * another form of name, which processes of earlier releases do not find.
 */
import { isIntoArray } from '../../../base/path.ts'
import type { Collection, IndexDefinition } from '../../../schema/schema.ts'
import type { UniqueIndexes } from '../../layout/unique-claims.ts'
import type { SqlSession } from '../connection/connection.ts'
import { type TextIndex, isText, textIndexOf } from './indexes.ts'
import { EARLIER, type Layout, parseLayout } from './columns.ts'

export interface Table {
  readonly no: number
  readonly name: string
  readonly entity: string
  /** Whether its rows are distributed over the nodes of a cluster. */
  readonly isDistributed: boolean
  readonly layout: Layout
  /** Absent: history was never enabled. */
  readonly past?: HistoryTable
  /** The name of the table of claims. */
  readonly claims: string
  readonly indexes: ReadonlyMap<number, IndexDefinition>
  /** Indexes for text search. */
  readonly wordIndexes: ReadonlyMap<number, IndexDefinition>
  readonly unique: UniqueIndexes
  /** Path → its text index. */
  readonly texts: ReadonlyMap<string, TextIndex>
  /** Path → its index of case-folded text. */
  readonly folded: ReadonlyMap<string, TextIndex>
  /** Paths into arrays whose elements are indexed. */
  readonly elements: ReadonlySet<string>
  /** Paths that are the first field of an index. Paths into arrays and case-folded fields are left out. */
  readonly firsts: ReadonlySet<string>
  /** The same for all fields of indexes: those after the first serve beside a condition on the ones before. */
  readonly ordered: ReadonlySet<string>
  /** The table of another collection, from the same read of the catalogue. */
  readonly beside: (collection: Collection) => Table | undefined
}

interface HistoryTable {
  readonly name: string
  /** The timestamp from which history is complete; absent while history is disabled. */
  readonly since?: number
}

export type Tables = ReadonlyMap<string, Table>

export interface IndexRecord {
  readonly no: number
  readonly collection: number
  readonly definition: IndexDefinition
  readonly isReady: boolean
}

export interface CollectionRecord {
  readonly no: number
  readonly name: string
  readonly entity: string
  readonly generation: number
  readonly paths: readonly string[]
  readonly layout: Layout
  readonly hasHistory: boolean
  /** Absent while history is disabled. */
  readonly historySince?: number
}

export function keyOf({ name, entity }: Pick<Collection, 'name' | 'entity'>): string {
  return `${name}/${entity}`
}

export async function readTables(session: SqlSession, isDistributed = false): Promise<Tables> {
  const collections = await readCollections(session)
  const indexes = Map.groupBy(await readIndexes(session), ({ collection }) => collection)
  const tables: Tables = new Map(
    collections.map((collection) => {
      const described = describeTable(collection, indexes.get(collection.no) ?? [])
      const beside: Table['beside'] = (other) => tables.get(keyOf(other))
      return [keyOf(collection), { ...described, isDistributed, beside }]
    }),
  )
  return tables
}

export async function readCollections(session: SqlSession): Promise<readonly CollectionRecord[]> {
  const text = `select no, name, entity, generation, paths, has_past, past_since, layout from smalt_collection
    order by no`
  const rows = await session.query({ text, values: [] })
  return rows.map(([no, name, entity, generation, paths, hasHistory, since, layout]) => ({
    no: Number(no),
    name: name!,
    entity: entity!,
    generation: Number(generation),
    paths: JSON.parse(paths!) as readonly string[],
    layout: parseLayout(layout ?? null),
    hasHistory: hasHistory === 't',
    ...(typeof since === 'string' && { historySince: Number(since) }),
  }))
}

export async function readIndexes(session: SqlSession): Promise<readonly IndexRecord[]> {
  const text = 'select no, collection, definition, state from smalt_index order by no'
  const rows = await session.query({ text, values: [] })
  return rows.map(([no, collection, definition, state]) => ({
    no: Number(no),
    collection: Number(collection),
    definition: JSON.parse(definition!) as IndexDefinition,
    isReady: state === 'ready',
  }))
}

export function tableName({
  no,
  generation,
  layout,
}: Pick<CollectionRecord, 'no' | 'generation' | 'layout'>): string {
  return layout === EARLIER ? `doc_${no}_${generation}` : `doc_${no}_${generation}_c`
}

export function claimsName({ no }: Pick<CollectionRecord, 'no'>): string {
  return `claim_${no}`
}

export function historyTableName({ no }: Pick<CollectionRecord, 'no'>): string {
  return `past_${no}`
}

function historyOf(record: CollectionRecord): Pick<Table, 'past'> {
  const { hasHistory, historySince } = record
  if (!hasHistory) return {}
  const name = historyTableName(record)
  return { past: historySince === undefined ? { name } : { name, since: historySince } }
}

/** Writers already maintain an index that is being built, but no query uses it yet. */
function describeTable(
  collection: CollectionRecord,
  records: readonly IndexRecord[],
): Omit<Table, 'beside' | 'isDistributed'> {
  const { layout } = collection
  const ready = records.filter(({ isReady }) => isReady)
  const plain = ready.filter(({ definition }) => definition.kind === undefined)
  const fields = plain.flatMap(({ definition }) => definition.fields.map((field) => ({ field, definition })))
  const texts = fields.filter(({ field }) => isText(field.type) && !isIntoArray(field.path))
  const ordered = fields.filter(({ field }) => !isIntoArray(field.path) && !field.caseInsensitive)
  const textIndexes = (isFolded: boolean): ReadonlyMap<string, TextIndex> =>
    new Map(
      texts
        .filter(({ field }) => field.caseInsensitive === isFolded)
        // Of several indexes on a path, one that begins with it serves best; later entries win.
        .toSorted((a, b) => Number(isFirst(a)) - Number(isFirst(b)))
        .map(({ field, definition }) => [field.path, textIndexOf(field, definition, layout)]),
    )
  return {
    no: collection.no,
    name: tableName(collection),
    entity: collection.entity,
    layout,
    ...historyOf(collection),
    claims: claimsName(collection),
    indexes: new Map(plain.map(({ no, definition }) => [no, definition])),
    wordIndexes: new Map(
      ready.filter((each) => !plain.includes(each)).map(({ no, definition }) => [no, definition]),
    ),
    unique: new Map(
      records.filter(({ definition }) => definition.unique).map(({ no, definition }) => [no, definition]),
    ),
    texts: textIndexes(false),
    folded: textIndexes(true),
    elements: new Set(
      fields
        .filter(({ field }) => isIntoArray(field.path) && !field.caseInsensitive)
        .map(({ field }) => field.path),
    ),
    firsts: new Set(ordered.filter(isFirst).map(({ field }) => field.path)),
    ordered: new Set(ordered.map(({ field }) => field.path)),
  }
}

function isFirst({ field, definition }: { readonly field: unknown; readonly definition: IndexDefinition }) {
  return definition.fields[0] === field
}
