/** Metadata in the database: kept as text, changed together with the tables and indexes it calls for. */
import { ServiceError } from '../../../base/errors.ts'
import type { HistoryRecord, MetadataChange, MetadataRecords } from '../../metadata-records.ts'
import { lockExclusively } from '../connection/advisory-locks.ts'
import { readCollections } from './catalogue.ts'
import type { Row, Session } from '../connection/connections.ts'
import type { Transaction } from '../connection/transaction.ts'

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

export async function readState(
  session: Session,
): Promise<{ readonly epoch: number; readonly secret: string }> {
  const [row] = await session.query(plain('select epoch, secret from smalt_epoch'))
  return { epoch: Number(row![0]), secret: row![1]! }
}

/** Of processes that change metadata at the same time one comes first; the others then find that it changed. */
export async function applyChange(
  transaction: Transaction,
  change: MetadataChange,
  schema: string,
): Promise<void> {
  await lockMetadata(transaction, schema)
  const { epoch } = await readState(transaction)
  if (epoch !== change.expectedEpoch) {
    const message = 'metadata was changed meanwhile; read it again'
    throw new ServiceError('metadata:UpdateInvalidatesMetadata', message)
  }
  await transaction.query(plain('update smalt_epoch set epoch = epoch + 1 where one = 1'))
  await putEntity(transaction, change)
  await putSchemas(transaction, change)
  await putHistory(transaction, change.entity, change.history)
  await transaction.query({ text: 'select pg_notify($1, $2)', values: [CHANNEL, schema] })
}

/** Heard by the other processes when the transaction commits. */
export const CHANNEL = 'smalt_metadata'

export async function lockMetadata(session: Session, schema: string): Promise<void> {
  await lockExclusively(session, `metadata of ${schema}`)
}

export async function readMetadataHistory(
  session: Session,
  entity: string,
): Promise<readonly HistoryRecord[]> {
  const text = `select at, principal, action, version, before, after from smalt_history where entity = $1 order by no`
  const rows = await session.query({ text, values: [entity] })
  return rows.map(historyFrom)
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

async function putEntity(session: Session, { entity, info }: MetadataChange): Promise<void> {
  if (info === null) {
    await session.query({ text: 'delete from smalt_entity where entity = $1', values: [entity] })
    await session.query({ text: 'delete from smalt_schema where entity = $1', values: [entity] })
    return
  }
  const text = `insert into smalt_entity(entity, info) values ($1, $2)
    on conflict (entity) do update set info = excluded.info`
  await session.query({ text, values: [entity, info] })
}

async function putSchemas(session: Session, { entity, schemas }: MetadataChange): Promise<void> {
  const text = `insert into smalt_schema(entity, version, no, schema) values ($1, $2, $3, $4)
    on conflict (entity, version) do update set schema = excluded.schema`
  for (const { version, schema } of schemas) {
    await session.query({ text, values: [entity, version, await nextNo(session, 'smalt_schema'), schema] })
  }
}

async function putHistory(session: Session, entity: string, record: HistoryRecord): Promise<void> {
  const text = `insert into smalt_history(no, entity, at, principal, action, version, before, after)
    values ($1, $2, $3, $4, $5, $6, $7, $8)`
  const { at, principal, action, version, before, after } = record
  const no = await nextNo(session, 'smalt_history')
  await session.query({ text, values: [no, entity, at, principal, action, version ?? null, before, after] })
}

/** Under the lock on metadata nobody else counts at the same time. */
async function nextNo(session: Session, table: string): Promise<number> {
  const [row] = await session.query(plain(`select coalesce(max(no), 0) + 1 from ${table}`))
  return Number(row![0])
}

function plain(text: string) {
  return { text, values: [] }
}
