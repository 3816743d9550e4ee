/** Metadata in the database: kept as text, changed together with the tables and indexes it calls for. */
import type { DatabaseSync } from 'node:sqlite'
import type { MetadataRecords } from '../metadata-records.ts'
import type { Catalogue } from './catalogue.ts'

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
