/** The shapes of metadata and of metadata responses. */
import { Type } from '../../base/json/shape.ts'
import { LANGUAGES } from '../../base/stemmers.ts'
import { TYPES } from '../../schema/types.ts'
import { claim, component, document, optional, text } from '../request/shape-parts.ts'

const Strings = Type.Array(Type.String())

export const EntityInfoShape = Type.Object(
  {
    name: text('Name of the entity.'),
    defaultVersion: Type.Optional(text('The version used when a request names none.')),
    datastore: Type.Optional(
      Type.Object({
        backend: Type.Optional(Type.String()),
        datasource: Type.Optional(Type.String()),
        collection: Type.Optional(Type.String()),
      }),
    ),
    indexes: Type.Optional(
      Type.Array(
        Type.Object({
          name: optional(Type.String()),
          kind: Type.Optional(Type.Enum(['text'], { description: 'An index for text search.' })),
          language: Type.Optional(
            Type.Enum(LANGUAGES, {
              description: 'In an index for text search: searches find words by their stems.',
            }),
          ),
          unique: Type.Optional(Type.Boolean()),
          fields: Type.Array(
            Type.Object({
              field: Type.String(),
              dir: Type.Optional(Type.String()),
              caseInsensitive: Type.Optional(Type.Boolean()),
              weight: Type.Optional(
                Type.Integer({ description: 'In an index for text search: from 1 to 1000.' }),
              ),
            }),
          ),
        }),
      ),
    ),
    enums: Type.Optional(Type.Array(Type.Object({ name: Type.String(), values: Type.Optional(Strings) }))),
    hooks: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String(),
          actions: Type.Optional(Strings),
          configuration: Type.Optional(document('Which changes the hook tells of.')),
        }),
      ),
    ),
    history: Type.Optional(claim('Past versions of documents are kept.')),
  },
  { description: 'What holds for all versions of an entity. Further keys are kept as they are.' },
)

const AccessList = Type.Array(
  Type.Union([
    text('A role, `anyone` or `noone`.'),
    Type.Object({
      role: Type.String(),
      where: document('A query: to which documents the role is admitted.'),
    }),
  ]),
)

const FieldsShape = Type.Object(
  {},
  { additionalProperties: component('Field'), description: 'Name of the field to its definition.' },
)

/** Further keys are kept, so the shape is open. */
const FieldShape = Type.Object(
  {
    type: Type.Optional(
      Type.Enum([...Object.keys(TYPES), 'object', 'array', 'reference'], {
        description: 'Not needed beside `$ref`.',
      }),
    ),
    description: Type.Optional(Type.Unknown()),
    access: Type.Optional(
      Type.Object({
        find: Type.Optional(AccessList),
        insert: Type.Optional(AccessList),
        update: Type.Optional(AccessList),
      }),
    ),
    constraints: Type.Optional(
      Type.Union([document('Constraint to value.'), Type.Array(document('One constraint.'))]),
    ),
    valueGenerator: Type.Optional(document('`type`, `configuration` and `overwrite`.')),
    fields: Type.Optional(FieldsShape),
    items: Type.Optional(component('Field')),
    entity: Type.Optional(text('Of a reference: the entity whose documents it joins.')),
    versionValue: Type.Optional(text('Of a reference: the version of that entity.')),
    query: Type.Optional(component('Query')),
  },
  { additionalProperties: true, description: 'A field of a schema, or the elements of an array.' },
)

export const SchemaShape = Type.Object(
  {
    name: text('Name of the entity.'),
    version: Type.Object({
      value: text('`major.minor.patch`, optionally with a `-suffix`.'),
      changelog: Type.String(),
      extendVersions: Type.Optional(Strings),
    }),
    status: Type.Object({
      value: Type.Enum(['active', 'deprecated', 'disabled']),
      log: Type.Optional(Type.Array(document('An earlier status and when it ended.'))),
    }),
    access: Type.Optional(
      Type.Object({
        insert: Type.Optional(AccessList),
        update: Type.Optional(AccessList),
        find: Type.Optional(AccessList),
        delete: Type.Optional(AccessList),
      }),
    ),
    fields: FieldsShape,
  },
  { description: 'One version of an entity: its fields, their types, constraints and access.' },
)

const FindingShape = Type.Object({
  severity: Type.Enum(['warning', 'hint']),
  code: text('What kind of doubt, such as `version-downgrade`.'),
  at: text('JSON pointer into the metadata document.'),
  version: Type.Optional(text('Of the metadata document.')),
  msg: text('What is the matter, and what to do about it.'),
})

export const FindingsShape = Type.Object({ entity: Type.String(), findings: Type.Array(FindingShape) })

export const MetadataShape = Type.Object({
  entityInfo: EntityInfoShape,
  schema: SchemaShape,
  warnings: Type.Optional(
    Type.Array(FindingShape, {
      description:
        'In answers to changes: what is doubtful about the request or about its result. Ignored when written.',
    }),
  ),
})

/** Without a default version, there is no schema to show. */
export const ChangedInfoShape = Type.Object({
  ...MetadataShape.properties,
  schema: Type.Optional(SchemaShape),
  warnings: Type.Optional(MetadataShape.properties['warnings']!),
})

export const MetadataListShape = Type.Array(MetadataShape, {
  description: 'Metadata documents of any entities; several versions of an entity may be among them.',
})

const OPERATIONS = ['find', 'insert', 'update', 'delete']

export const AccessQuestionShape = Type.Object(
  {
    roles: Type.Array(Type.String(), { description: 'Roles of the caller that is asked about.' }),
    principal: Type.Optional(text('Name of the caller; none when absent.')),
    claims: Type.Optional(document('What else is known of the caller.')),
    entity: Type.String(),
    version: Type.Optional(text('The default version when absent.')),
    field: Type.Optional(text('Dotted path of a field; absent: documents as a whole.')),
    op: Type.Enum(OPERATIONS),
  },
  { additionalProperties: false },
)

export const AccessExplanationShape = Type.Object({
  entity: Type.String(),
  version: Type.String(),
  field: Type.Optional(Type.String()),
  op: Type.Enum(OPERATIONS),
  decision: Type.Enum(['allow', 'deny', 'conditional']),
  rule: Type.Object(
    {
      at: text('JSON pointer into the schema.'),
      field: Type.Optional(text('Of the field that declares the list; absent: the entity does.')),
      operation: Type.Optional(Type.Enum(OPERATIONS)),
      list: Type.Optional(Type.Array(Type.Unknown(), { description: 'As the metadata writes it.' })),
      entries: Type.Optional(Type.Array(Type.Unknown(), { description: 'What the caller is admitted by.' })),
      because: Type.Enum(['role', 'anyone', 'noone', 'empty', 'unlisted', 'unanswered', 'disabled']),
      inherited: Type.Optional(claim('Whether it stands above the field that was asked about.')),
    },
    { description: 'The list that made the decision.' },
  ),
  where: Type.Optional(
    Type.Array(document('A query.'), { description: 'All of these must hold of a document.' }),
  ),
  reason: text('The same in a sentence.'),
})

const reaches = Type.Object(
  {},
  { additionalProperties: Type.Enum(['yes', 'no', 'where']), description: 'Role to how far it reaches.' },
)

export const AccessTableShape = Type.Object({
  entity: Type.String(),
  version: Type.String(),
  status: Type.String(),
  roles: Type.Array(Type.String(), { description: 'All that the version names, and `anyone else`.' }),
  access: Type.Object({ find: reaches, insert: reaches, update: reaches, delete: reaches }),
  fields: Type.Array(Type.Object({ path: Type.String(), find: reaches, insert: reaches, update: reaches })),
})

export const NamesShape = Type.Object({ entities: Strings })

export const VersionsShape = Type.Array(
  Type.Object({
    version: Type.String(),
    changelog: Type.String(),
    extendsVersions: Strings,
    status: Type.String(),
    defaultVersion: Type.Boolean(),
  }),
)

const RoleShape = Type.Object({
  role: Type.String(),
  insert: Type.Optional(Strings),
  find: Type.Optional(Strings),
  update: Type.Optional(Strings),
  delete: Type.Optional(Strings),
})

export const RolesShape = Type.Array(Type.Union([RoleShape, component('Error')]), {
  description:
    'Records by role; paths begin with the entity. Entities without default version end the array as errors.',
})

const DependencyShape = Type.Object({
  name: Type.String(),
  undefined: Type.Optional(claim('The entity, or the version that is referred to, does not exist (yet).')),
  dependencies: Type.Optional(
    Type.Array(component('Dependency'), { description: 'What it refers to; absent on leaves.' }),
  ),
})

export const DependenciesShape = Type.Array(component('Dependency'))

/** Shapes that refer to themselves, by their names in the OpenAPI document. */
export const RECURSIVE_METADATA_SHAPES = { Field: FieldShape, Dependency: DependencyShape }
