/** The bodies and replies of the routes of `/metadata`: shapes, with their names and examples in the OpenAPI document. */
import type { Json } from '../../../base/json/json.ts'
import { Type } from '../../../base/json/shape.ts'
import {
  AccessExplanationShape,
  AccessQuestionShape,
  AccessTableShape,
  DependenciesShape,
  EntityInfoShape,
  FindingsShape,
  MetadataListShape,
  MetadataShape,
  NamesShape,
  RolesShape,
  SchemaShape,
  VersionsShape,
} from '../../../service/metadata/metadata-shapes.ts'
import {
  ChangedEntityShape,
  ChangedListShape,
  ChangedMetadataShape,
  ClearedDefaultShape,
} from '../../../service/metadata/impact-shapes.ts'
import type { Content } from '../route.ts'

export const NAMES: Content = { shape: NamesShape, name: 'Names', example: { entities: ['country'] } }
export const VERSIONS: Content = { shape: VersionsShape, name: 'Versions' }
export const INFO: Content = { shape: EntityInfoShape, name: 'EntityInfo', example: infoExample() }
export const SCHEMA: Content = { shape: SchemaShape, name: 'Schema', example: schemaExample() }
export const METADATA: Content = {
  shape: MetadataShape,
  name: 'Metadata',
  example: { entityInfo: infoExample(), schema: schemaExample() },
}
export const CHANGED: Content = {
  shape: ChangedMetadataShape,
  name: 'ChangedMetadata',
  example: { entityInfo: infoExample(), schema: schemaExample() },
}
export const CHANGED_INFO: Content = { shape: ChangedEntityShape, name: 'ChangedInfo' }
export const CLEARED: Content = {
  shape: ClearedDefaultShape,
  name: 'ClearedDefault',
  example: { name: 'country' },
}
export const METADATA_LIST: Content = {
  shape: MetadataListShape,
  name: 'MetadataList',
  example: [{ entityInfo: infoExample(), schema: schemaExample() }],
}
export const CHANGED_LIST: Content = {
  shape: ChangedListShape,
  name: 'ChangedList',
  example: [{ entityInfo: infoExample(), schema: schemaExample() }],
}
export const ROLES: Content = {
  shape: RolesShape,
  name: 'Roles',
  example: [{ role: 'anyone', find: ['country'] }],
}
export const DEPENDENCIES: Content = {
  shape: DependenciesShape,
  name: 'Dependencies',
  example: [{ name: 'country' }],
}
export const QUESTION: Content = {
  shape: AccessQuestionShape,
  name: 'AccessQuestion',
  example: { roles: ['editor'], entity: 'country', field: 'name', op: 'update' },
}
export const EXPLANATION: Content = {
  shape: AccessExplanationShape,
  name: 'AccessExplanation',
  example: explanationExample(),
}
export const TABLE: Content = { shape: AccessTableShape, name: 'AccessTable' }
export const FINDINGS: Content = {
  shape: FindingsShape,
  name: 'Findings',
  example: { entity: 'country', findings: [] },
}
export const ANYTHING: Content = { shape: Type.Unknown() }

function explanationExample(): Json {
  return {
    entity: 'country',
    version: '1.0.0',
    field: 'name',
    op: 'update',
    decision: 'allow',
    reason:
      'the list "update" of the entity admits "editor"; the field has no list of its own that says more',
    rule: {
      at: '/access/update',
      operation: 'update',
      list: ['editor'],
      entries: ['editor'],
      because: 'role',
      inherited: true,
    },
  }
}

function infoExample(): Json {
  return {
    name: 'country',
    defaultVersion: '1.0.0',
    indexes: [{ name: 'iso2', unique: true, fields: [{ field: 'iso2Code', dir: '$asc' }] }],
  }
}

function schemaExample(): Json {
  return {
    name: 'country',
    version: { value: '1.0.0', changelog: 'First version' },
    status: { value: 'active' },
    access: { insert: ['editor'], update: ['editor'], find: ['anyone'], delete: ['admin'] },
    fields: {
      iso2Code: { type: 'string', constraints: { identity: true, maxLength: 2 } },
      name: { type: 'string' },
      continent: { type: 'string' },
      currency: { type: 'string' },
      population: { type: 'integer' },
    },
  }
}
