/** Metadata in the database: kept as text, changed together with the tables and indexes it calls for. */
import type { DatabaseSync } from 'node:sqlite'
import { ServiceError } from '../../base/errors.ts'
import type { HistoryRecord, MetadataChange, MetadataRecords } from '../metadata-records.ts'
import type { Store } from '../store.ts'
import type { Catalogue } from './catalogue.ts'
import { refuseUnfinished } from './transfer/import-marker.ts'
import type { Writer } from './write/writer.ts'

type MetadataPart = Pick<
  Store,
  | 'readMetadata'
  | 'readEpoch'
  | 'changeMetadata'
  | 'prepareCollection'
  | 'onMetadataChange'
  | 'readMetadataHistory'
>

export function metadataOf(database: DatabaseSync, catalogue: Catalogue, writer: Writer): MetadataPart {
  /** Jobs that shared the transaction would still write by the tables and indexes of before. */
  async function alone(work: () => void): Promise<void> {
    try {
      await writer.transact(async () => work())
    } finally {
      catalogue.reload()
    }
  }

  return {
    async readMetadata() {
      refuseUnfinished(database)
      // another thread may have changed the tables
      catalogue.reload()
      return readMetadata(database, catalogue)
    },
    readEpoch: async () => epochOf(database),
    changeMetadata: (change) => alone(() => apply(database, catalogue, change)),
    prepareCollection: (definition) => alone(() => catalogue.prepare(definition)),
    // One process at a time has the file, so nobody else can change anything.
    onMetadataChange: () => undefined,
    async readMetadataHistory(entity) {
      return readMetadataHistory(database, entity)
    },
  }
}

export function readMetadata(database: DatabaseSync, catalogue: Catalogue): MetadataRecords {
  const all = <T>(text: string): T[] => database.prepare(text).all() as T[]
  return {
    epoch: epochOf(database),
    secret: String(database.prepare('select secret from smalt_secret').get()!['secret']),
    entities: all('select entity, info from smalt_entity order by entity'),
    schemas: all('select entity, version, schema from smalt_schema order by no'),
    collections: catalogue
      .paths()
      .map(({ name, entity, paths }) => ({ collection: { datasource: '', name, entity }, paths })),
  }
}

function epochOf(database: DatabaseSync): number {
  return Number(database.prepare('select epoch from smalt_epoch').get()!['epoch'])
}

function apply(database: DatabaseSync, catalogue: Catalogue, change: MetadataChange): void {
  if (epochOf(database) !== change.expectedEpoch) {
    throw new ServiceError(
      'metadata:UpdateInvalidatesMetadata',
      'metadata was changed meanwhile; read it again',
    )
  }
  database.exec('update smalt_epoch set epoch = epoch + 1')
  putEntity(database, change)
  putSchemas(database, change)
  if (change.prepare) catalogue.prepare(change.prepare)
  const { at, principal, action, version, before, after } = change.history
  database
    .prepare(
      `insert into smalt_history(entity, at, principal, action, version, before, after) values (?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(change.entity, at, principal, action, version ?? null, before, after)
}

function putEntity(database: DatabaseSync, { entity, info }: MetadataChange): void {
  if (info === null) {
    database.prepare('delete from smalt_entity where entity = ?').run(entity)
    database.prepare('delete from smalt_schema where entity = ?').run(entity)
    return
  }
  database
    .prepare(
      'insert into smalt_entity(entity, info) values (?, ?) on conflict (entity) do update set info = excluded.info',
    )
    .run(entity, info)
}

function putSchemas(database: DatabaseSync, { entity, schemas }: MetadataChange): void {
  const put = database.prepare(
    `insert into smalt_schema(entity, version, schema) values (?, ?, ?)
     on conflict (entity, version) do update set schema = excluded.schema`,
  )
  for (const { version, schema } of schemas) put.run(entity, version, schema)
}

function readMetadataHistory(database: DatabaseSync, entity: string): readonly HistoryRecord[] {
  const rows = database
    .prepare(
      'select at, principal, action, version, before, after from smalt_history where entity = ? order by no',
    )
    .all(entity) as unknown as (Omit<HistoryRecord, 'version'> & { version: string | null })[]
  return rows.map(({ version, ...record }) => (version === null ? { ...record } : { ...record, version }))
}
