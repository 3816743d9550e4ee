/** The fields of a schema document: parsed to a typed form, printed in a canonical form. */
import { unreachable } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import type { FieldOperation, RoleList } from '../../schema/field.ts'
import type { TypeName } from '../../schema/types.ts'
import type { ConstraintsDocument } from './constraints.ts'
import { type GeneratorDocument, printGenerator } from './generators.ts'

export type FieldDocument = SimpleDocument | ObjectDocument | ArrayDocument | ReferenceDocument
/** In document order. */
export type FieldDocuments = ReadonlyMap<string, FieldDocument>
export type FieldAccess = Readonly<Record<FieldOperation, RoleList>>

interface Described {
  readonly name: string
  readonly description: string | null
  readonly access: FieldAccess
  readonly constraints: ConstraintsDocument
  /** Members without a meaning here, and plain flags, stored unchanged. */
  readonly properties: JsonObject
}

export interface SimpleDocument extends Described {
  readonly kind: 'simple'
  readonly type: TypeName
  /** The type as the document spells it: `resultMetadata` may be declared as an object. */
  readonly writtenType: string
  readonly generator: GeneratorDocument | undefined
  /** As it is written; checked against the compiled field. */
  readonly default: Json | undefined
  readonly virtual: 'documentVersion' | 'resultMetadata' | undefined
}

export interface ObjectDocument extends Described {
  readonly kind: 'object'
  readonly fields: FieldDocuments
}

export interface ArrayDocument extends Described {
  readonly kind: 'array'
  readonly items: ItemsDocument
  readonly default: Json | undefined
}

export interface ItemsDocument {
  readonly type: TypeName | 'object'
  readonly constraints: ConstraintsDocument
  /** Only for objects. */
  readonly fields: FieldDocuments
  readonly properties: JsonObject
}

export interface ReferenceDocument extends Described {
  readonly kind: 'reference'
  readonly entity: string
  readonly versionValue: string | undefined
  readonly query: Json | undefined
  readonly projection: Json | undefined
  readonly sort: Json | undefined
}

interface PlacedField {
  /** With `*` for the elements of arrays. */
  readonly path: string
  readonly field: FieldDocument
}

/** All fields at every depth, in document order. */
export function* everyField(fields: FieldDocuments, above = ''): Generator<PlacedField> {
  for (const field of fields.values()) {
    const path = above + field.name
    yield { path, field }
    if (field.kind === 'object') yield* everyField(field.fields, `${path}.`)
    if (field.kind === 'array') yield* everyField(field.items.fields, `${path}.*.`)
  }
}

export function printFields(fields: FieldDocuments): JsonObject {
  return Object.fromEntries([...fields].map(([name, field]) => [name, printField(field)]))
}

function printField(field: FieldDocument): JsonObject {
  const { description, access, constraints } = field
  const lists = FIELD_OPERATIONS.filter((operation) => access[operation].length > 0)
  return {
    type: field.kind === 'simple' ? field.writtenType : field.kind,
    description,
    ...(lists.length === 0 ? {} : { access: Object.fromEntries(lists.map((each) => [each, access[each]])) }),
    ...printConstraints(constraints),
    ...printOwn(field),
    ...field.properties,
  }
}

function printOwn(field: FieldDocument): JsonObject {
  switch (field.kind) {
    case 'simple':
      return {
        ...(field.generator ? { valueGenerator: printGenerator(field.generator) } : {}),
        ...printDefault(field),
      }
    case 'object':
      return { fields: printFields(field.fields) }
    case 'array':
      return { items: printItems(field.items), ...printDefault(field) }
    case 'reference':
      return printReference(field)
    default:
      return unreachable(field)
  }
}

function printDefault({ default: value }: SimpleDocument | ArrayDocument): JsonObject {
  return value === undefined ? {} : { default: value }
}

function printItems({ type, constraints, fields, properties }: ItemsDocument): JsonObject {
  return {
    type,
    ...printConstraints(constraints),
    ...(type === 'object' ? { fields: printFields(fields) } : {}),
    ...properties,
  }
}

function printReference({ entity, versionValue, query, projection, sort }: ReferenceDocument): JsonObject {
  return {
    entity,
    ...(versionValue === undefined ? {} : { versionValue }),
    ...(query === undefined ? {} : { query }),
    ...(projection === undefined ? {} : { projection }),
    ...(sort === undefined ? {} : { sort }),
  }
}

function printConstraints({ written }: ConstraintsDocument): JsonObject {
  return Object.keys(written).length === 0 ? {} : { constraints: written }
}

const FIELD_OPERATIONS = ['find', 'update', 'insert'] as const
