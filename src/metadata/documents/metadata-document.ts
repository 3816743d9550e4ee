/** The metadata document: entity info and the schema of one version, as requests and responses contain it. */
import { type Json, type JsonObject, member } from '../../base/json/json.ts'
import type { Datasources } from './datastore.ts'
import { fault, neededMember, objectAt } from './decode.ts'
import { type EntityInfo, parseEntityInfo, printEntityInfo } from './entity-info.ts'
import { type SchemaDocument, parseSchemaDocument, printSchemaDocument } from './schema-document.ts'

interface MetadataDocument {
  readonly info: EntityInfo
  readonly schema: SchemaDocument
}

export function parseMetadataDocument(value: Json, configured: Datasources): MetadataDocument {
  const document = objectAt(value, '')
  for (const key of Object.keys(document)) {
    // responses contain warnings, and a response can be sent back as a request
    if (key === 'entityInfo' || key === 'schema' || key === 'warnings') continue
    throw fault('metadata:IllFormedMetadata', `a metadata document has no "${key}"`, '')
  }
  const info = neededMember(document, 'entityInfo', '')
  const schema = neededMember(document, 'schema', '')
  return {
    info: parseEntityInfo(info, '/entityInfo', configured),
    schema: parseSchemaDocument(schema, '/schema'),
  }
}

/** A schema alone, or the schema of a whole metadata document, whose entity info must be valid as well. */
export function parseSchemaOrMetadata(value: Json, configured: Datasources): SchemaDocument {
  const isWhole = member(value, 'schema') !== undefined
  return isWhole ? parseMetadataDocument(value, configured).schema : parseSchemaDocument(value, '')
}

export function printMetadataDocument(info: EntityInfo, schema: SchemaDocument | undefined): JsonObject {
  const entityInfo = printEntityInfo(info)
  return schema ? { entityInfo, schema: printSchemaDocument(schema) } : { entityInfo }
}
