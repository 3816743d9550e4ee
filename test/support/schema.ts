/** Schemas without a service: documents compiled as the registry would. */
import type { Json } from '../../src/base/json/json.ts'
import { compileSchema } from '../../src/metadata/compile.ts'
import { parseEntityInfo } from '../../src/metadata/documents/entity-info.ts'
import { parseSchemaDocument } from '../../src/metadata/documents/schema-document.ts'
import type { Schema } from '../../src/schema/schema.ts'
import { type Definition, metadataDocument } from './service.ts'
import { storeKind } from './store-kind.ts'

export function compiledSchema(entity: string, fields: Json, more: Definition = {}): Schema {
  const { entityInfo, schema } = metadataDocument(entity, fields, more) as { entityInfo: Json; schema: Json }
  const configured = { backends: [storeKind()], datasources: ['default'], backendOf: storeKind }
  return compileSchema(parseEntityInfo(entityInfo, '', configured), parseSchemaDocument(schema, ''), [])
}
