/** Adapts exported metadata to the target of a move. */
import { type Json, type JsonObject, isArray, isObject, member } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { type TypeName, isTypeName } from '../../schema/types.ts'
import type { ExportedRecords, StoreExport } from '../../store/transfer.ts'
import type { StoreKind } from '../../store/store.ts'
import { MoveError } from './move-error.ts'

/**
 * Entity info names the backend of its documents, so the move replaces that name; everything else is copied
 * unchanged.
 */
export function recordsFor(backend: StoreKind, records: ExportedRecords): ExportedRecords {
  const elsewhere = entitiesElsewhere(records)
  if (elsewhere.length > 0) {
    throw new MoveError(
      'failed',
      `the documents of these entities are in other datasources, which are not moved: ${elsewhere.join(', ')}`,
    )
  }
  return {
    ...records,
    entities: records.entities.map(({ entity, info }) => ({ entity, info: onBackend(info, backend) })),
  }
}

/** The entities whose documents are in other datasources, with the names of these. */
export function entitiesElsewhere({ entities }: ExportedRecords): readonly string[] {
  return entities.flatMap(({ entity, info }) => {
    const datasource = member(member(parseTrusted(info), 'datastore'), 'datasource')
    return datasource === DEFAULT
      ? []
      : [`${entity} (${typeof datasource === 'string' ? datasource : 'unnamed'})`]
  })
}

const DEFAULT = 'default'

function onBackend(text: string, backend: StoreKind): string {
  const info = parseTrusted(text) as JsonObject
  const datastore = info['datastore']
  if (!isObject(datastore) || datastore['backend'] === backend) return text
  return JSON.stringify({ ...info, datastore: { ...datastore, backend } })
}

/** The numeric type of `_id` by entity, including removed entities. If versions disagree, the last one counts. */
export async function numericIdTypes(
  source: Pick<StoreExport, 'history' | 'records'>,
): Promise<(entity: string) => TypeName | undefined> {
  const types = new Map<string, TypeName>()
  const note = (entity: string, schema: Json | undefined): void => {
    const type = member(member(member(schema, 'fields'), '_id'), 'type')
    if (typeof type === 'string' && isTypeName(type) && NUMERIC.includes(type)) types.set(entity, type)
  }
  for await (const page of source.history()) {
    for (const { entity, before } of page) {
      if (before === null) continue
      const whole = parseTrusted(before)
      const schemas = member(whole, 'schemas')
      for (const schema of isArray(schemas) ? schemas : [member(whole, 'schema')]) note(entity, schema)
    }
  }
  for (const { entity, schema } of (await source.records()).schemas) note(entity, parseTrusted(schema))
  return (entity) => types.get(entity)
}

const NUMERIC: readonly TypeName[] = ['integer', 'double', 'biginteger', 'bigdecimal']
