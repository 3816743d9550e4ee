/** Metadata as rows of text, changed in one transaction with the tables and indexes that it requires. */
import { ServiceError } from '../../base/errors.ts'
import type { Collection } from '../../schema/schema.ts'
import type { Engine, Row, EngineSession } from '../engine.ts'
import type {
  CollectionDefinition,
  EntityChange,
  HistoryRecord,
  MetadataChange,
  MetadataRecords,
} from '../metadata-records.ts'
import { type Fragment, param, sql } from '../sql/fragment.ts'
import { answersIn, underWay } from './answers.ts'
import { refuseIncompleteImport } from './import-marker.ts'

export interface MetadataStore {
  readonly readMetadata: () => Promise<MetadataRecords>
  /** Increases with every change of any metadata; cheap enough to be polled. */
  readonly readEpoch: () => Promise<number>
  /** Applies the whole change with its indexes, or nothing. */
  readonly changeMetadata: (change: MetadataChange) => Promise<void>
  /** Creates or changes a collection whose metadata is in another store. */
  readonly prepareCollection: (definition: CollectionDefinition) => Promise<void>
  /** Whether the collection has a document. */
  readonly hasDocuments: (collection: Collection) => Promise<boolean>
  /** Removes a collection whose metadata is in another store, with its documents and their history. */
  readonly dropCollection: (collection: Collection) => Promise<void>
  /**
   * Registers a callback for changes by any process. Notifications can be lost, so listeners must also poll.
   */
  readonly onMetadataChange: (listener: () => void) => void
  readonly readMetadataHistory: (entity: string) => Promise<readonly HistoryRecord[]>
}

/** The tables of collections, which each engine builds itself. */
export interface Collections {
  /**
   * Changes metadata, and the tables and indexes of collections, in one transaction. Concurrent changes of
   * several processes are serialized.
   */
  readonly change: (
    definitions: readonly CollectionDefinition[],
    work: (session: EngineSession) => Promise<void>,
  ) => Promise<void>
  readonly hasDocuments: (session: EngineSession, collection: Collection) => Promise<boolean>
  /** Drops the tables of a collection with its records, in the open transaction. */
  readonly drop: (session: EngineSession, collection: Collection) => Promise<void>
  /** Reads the catalogue again, because another thread or process may have changed it. */
  readonly reload: () => Promise<void>
}

export function createMetadata(engine: Engine, collections: Collections): MetadataStore {
  const { run } = engine
  return {
    readMetadata: () =>
      run('metadata', async () => {
        const read = async (session: EngineSession): Promise<MetadataRecords> => {
          await refuseIncompleteImport(engine, session)
          return await readRecords(engine, session)
        }
        const records = await engine.transaction(read, { isReadOnly: true })
        // After the records, so that no metadata names a collection whose table is unknown.
        await collections.reload()
        return records
      }),
    readEpoch: () => run('epoch', () => epochIn({ query: (each) => engine.query(each, { isUrgent: true }) })),
    changeMetadata: (change) =>
      run('metadata', () =>
        collections.change(
          change.entities.flatMap(({ prepare }) => prepare ?? []),
          (session) => apply({ engine, collections, session }, change),
        ),
      ),
    hasDocuments: (collection) => run('metadata', () => collections.hasDocuments(engine, collection)),
    dropCollection: (collection) =>
      run('metadata', () => collections.change([], (session) => collections.drop(session, collection))),
    prepareCollection: (definition) =>
      run('metadata', () => collections.change([definition], async () => undefined)),
    onMetadataChange: (listener) => engine.listen('metadata', listener),
    readMetadataHistory: (entity) =>
      run('metadata', async () => {
        const rows = await engine.query(
          sql`select at, principal, action, version, before, after from smalt_history
            where entity = ${param(entity)} order by no`,
        )
        return rows.map(historyFrom)
      }),
  }
}

export async function readRecords(engine: Engine, session: EngineSession): Promise<MetadataRecords> {
  const { query } = session
  const epoch = await epochIn(session)
  const [secret] = await query(sql`select secret from ${engine.secretTable}`)
  const entities = await query(sql`select entity, info from smalt_entity order by entity`)
  const schemas = await query(sql`select entity, version, schema from smalt_schema order by no`)
  const collections = await query(sql`select name, entity, paths from smalt_collection order by no`)
  return {
    epoch,
    secret: String(secret![0]),
    entities: entities.map(([entity, info]) => ({ entity: String(entity), info: String(info) })),
    schemas: schemas.map(([entity, version, schema]) => ({
      entity: String(entity),
      version: String(version),
      schema: String(schema),
    })),
    collections: collections.map(([name, entity, paths]) => ({
      collection: { datasource: '', name: String(name), entity: String(entity) },
      paths: JSON.parse(String(paths)) as readonly string[],
    })),
  }
}

async function epochIn({ query }: EngineSession): Promise<number> {
  const [row] = await query(sql`select epoch from smalt_epoch`)
  return Number(row![0])
}

export function historyFrom([at, principal, action, version, before, after]: Row): HistoryRecord {
  return {
    at: String(at),
    principal: String(principal),
    action: String(action),
    ...(version === null || version === undefined ? {} : { version: String(version) }),
    before: textOrNull(before),
    after: textOrNull(after),
  }
}

function textOrNull(text: Row[number] | undefined): string | null {
  return typeof text === 'string' ? text : null
}

interface Applying {
  readonly engine: Engine
  readonly collections: Collections
  readonly session: EngineSession
}

export function stillFilled(entity: string): ServiceError {
  const message = `${entity} has documents; say documents=delete to delete them with it, or documents=keep to leave them in the store, where a new entity of this name finds them again`
  return new ServiceError('metadata:CannotDeleteEntity', message)
}

/** Concurrent changes are serialized, so the later one sees a different epoch and fails. */
async function apply({ engine, collections, session }: Applying, change: MetadataChange): Promise<void> {
  if ((await epochIn(session)) !== change.expectedEpoch) {
    const message = 'metadata was changed meanwhile; read it again'
    throw new ServiceError('metadata:UpdateInvalidatesMetadata', message)
  }
  const statements = [
    sql`update smalt_epoch set epoch = epoch + 1`,
    ...change.entities.flatMap(entityStatements),
  ]
  for (const statement of statements) await session.query(statement)
  for (const { entity, removed } of change.entities) {
    if (!removed) continue
    if (removed.isDropped) await collections.drop(session, removed.collection)
    else if (await collections.hasDocuments(session, removed.collection)) throw stillFilled(entity)
  }
  if (change.keyedAnswer) {
    const { keyed, answer } = change.keyedAnswer
    const answers = answersIn(engine, session)
    if (await answers.find(keyed)) throw underWay()
    await answers.keep(keyed, answer)
  }
  await engine.notify(session, 'metadata')
}

function entityStatements({ entity, info, schemas, history }: EntityChange): readonly Fragment[] {
  return [
    ...(info === null ? deleteEntity(entity) : [putEntity(entity, info)]),
    ...schemas.map(({ version, schema }) => putSchema({ entity, version, schema })),
    insertHistory({ entity, ...history }),
  ]
}

function deleteEntity(entity: string): readonly Fragment[] {
  return [
    sql`delete from smalt_entity where entity = ${param(entity)}`,
    sql`delete from smalt_schema where entity = ${param(entity)}`,
  ]
}

export function putEntity(entity: string, info: string): Fragment {
  return sql`insert into smalt_entity(entity, info) values (${param(entity)}, ${param(info)})
    on conflict (entity) do update set info = excluded.info`
}

/** The statement computes `no` from the maximum, which is safe because metadata changes are serialized. */
export function putSchema({ entity, version, schema }: MetadataRecords['schemas'][number]): Fragment {
  return sql`insert into smalt_schema(entity, version, schema, no)
    values (${param(entity)}, ${param(version)}, ${param(schema)},
      (select coalesce(max(no), 0) + 1 from smalt_schema))
    on conflict (entity, version) do update set schema = excluded.schema`
}

export function insertHistory(record: HistoryRecord & { readonly entity: string }): Fragment {
  const { entity, at, principal, action, version = null, before, after } = record
  return sql`insert into smalt_history(entity, at, principal, action, version, before, after, no)
    values (${param(entity)}, ${param(at)}, ${param(principal)}, ${param(action)}, ${param(version)},
      ${param(before)}, ${param(after)}, (select coalesce(max(no), 0) + 1 from smalt_history))`
}
