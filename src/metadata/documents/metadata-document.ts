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

/** `at` is the place of the document in the request. */
export function parseMetadataDocument(value: Json, configured: Datasources, at = ''): MetadataDocument {
  const document = objectAt(value, at)
  for (const key of Object.keys(document)) {
    // responses contain warnings, and a response can be sent back as a request
    if (key === 'entityInfo' || key === 'schema' || key === 'warnings') continue
    throw fault(
      'metadata:IllFormedMetadata',
      `a metadata document has no "${key}"; it has entityInfo and schema`,
      at,
    )
  }
  const info = neededMember(document, 'entityInfo', at)
  const schema = neededMember(document, 'schema', at)
  return {
    info: parseEntityInfo(info, `${at}/entityInfo`, configured),
    schema: parseSchemaDocument(schema, `${at}/schema`),
  }
}

/** A schema alone, or the schema of a whole metadata document, whose entity info must be valid as well. */
export function parseSchemaOrMetadata(value: Json, configured: Datasources): SchemaDocument {
  if (isSchemaAlone(value)) return parseSchemaDocument(value, '')
  return parseMetadataDocument(value, configured).schema
}

export function isSchemaAlone(value: Json): boolean {
  return member(value, 'schema') === undefined
}

export function printMetadataDocument(info: EntityInfo, schema: SchemaDocument | undefined): JsonObject {
  const entityInfo = printEntityInfo(info)
  return schema ? { entityInfo, schema: printSchemaDocument(schema) } : { entityInfo }
}
