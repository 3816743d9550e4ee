/** Metadata in the database: kept as text, changed together with the tables and indexes it calls for. */
import type { HistoryRecord, MetadataRecords } from '../../metadata-records.ts'
import { readCollections } from './catalogue.ts'
import type { Row, Session } from '../connection/connections.ts'

/** Inside a transaction that reads everything as of one moment. */
export async function readMetadata(session: Session): Promise<MetadataRecords> {
  const { epoch, secret } = await readState(session)
  const entities = await session.query(plain('select entity, info from smalt_entity order by entity'))
  const schemas = await session.query(plain('select entity, version, schema from smalt_schema order by no'))
  const collections = await readCollections(session)
  return {
    epoch,
    secret,
    entities: entities.map(([entity, info]) => ({ entity: entity!, info: info! })),
    schemas: schemas.map(([entity, version, schema]) => ({
      entity: entity!,
      version: version!,
      schema: schema!,
    })),
    collections: collections.map(({ name, entity, paths }) => ({
      collection: { datasource: '', name, entity },
      paths,
    })),
  }
}

async function readState(session: Session): Promise<{ readonly epoch: number; readonly secret: string }> {
  const [row] = await session.query(plain('select epoch, secret from smalt_epoch'))
  return { epoch: Number(row![0]), secret: row![1]! }
}

/** A row of these six columns. */
export function historyFrom([at, principal, action, version, before, after]: Row): HistoryRecord {
  return {
    at: at!,
    principal: principal!,
    action: action!,
    ...(version === null || version === undefined ? {} : { version }),
    before: before ?? null,
    after: after ?? null,
  }
}

function plain(text: string) {
  return { text, values: [] }
}
