/**
 * The shapes of what goes in and out, as JSON Schema: the service refuses unknown keys by them, and the OpenAPI
 * document shows them. They say what a request looks like; what it means is decided by the parsers of `lang`.
 */
import { type Shape, Type } from '../base/shape.ts'

/** An explicit null is the same as an absent key. */
const optional = (shape: Shape) => Type.Optional(Type.Union([shape, Type.Null()]))
const text = (description: string) => Type.String({ description })
/** Beyond these a number is no longer the one that was written. */
const SAFE = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
const count = (description: string) => Type.Integer({ description, ...SAFE })
const claim = (description: string) => Type.Boolean({ description })
const listed = (shape: Shape) => Type.Union([shape, Type.Array(shape)])
const document = (description: string) => Type.Object({}, { description })

export const ExecutionShape = Type.Object(
  {
    atomic: optional(claim('Any failure fails the whole request.')),
    maxTimeMs: optional(count('Ends the request after so many milliseconds.')),
    count: optional(Type.Enum(['exact', 'none'], { description: 'Whether matches are counted.' })),
  },
  { additionalProperties: false },
)

/** Every key some data operation knows; a key of another operation is tolerated, any other one refused. */
export const DataRequestShape = Type.Object(
  {
    objectType: optional(text('Name of the entity; must agree with the path.')),
    version: optional(text('Version of the entity; must agree with the path.')),
    entity: optional(text('The same as `objectType`.')),
    entityVersion: optional(text('The same as `version`.')),
    query: optional(document('Which documents; absent means all.')),
    projection: optional(listed(document('Which fields to return.'))),
    sort: optional(listed(document('In which order.'))),
    data: optional(listed(document('A document to write.'))),
    range: optional(
      Type.Array(Type.Union([Type.Integer(SAFE), Type.Null()]), {
        minItems: 2,
        maxItems: 2,
        description: '`[from, to]`, zero-based, both included; null leaves that end open.',
      }),
    ),
    from: optional(count('Index of the first document to return, zero-based.')),
    to: optional(count('Index of the last document to return, included.')),
    maxResults: optional(count('Number of documents to return; `to` wins.')),
    asOf: optional(text('Answers from the documents as they were then: a date, or a `documentVersion`.')),
    update: optional(listed(document('What to change.'))),
    upsert: optional(claim('Insert documents that do not exist yet.')),
    onlyIfCurrent: optional(claim('Change only documents whose version is in `documentVersions`.')),
    documentVersions: optional(
      Type.Array(Type.String(), { description: 'Versions as `resultMetadata` gave them.' }),
    ),
    execution: optional(ExecutionShape),
    client: Type.Optional(Type.Unknown({ description: 'Tolerated and not read.' })),
    clientId: Type.Optional(Type.Unknown({ description: 'Tolerated and not read.' })),
  },
  { additionalProperties: false },
)

const BulkEntryShape = Type.Object(
  {
    seq: Type.Integer({ description: 'Unique in the bulk; the response carries it back.' }),
    op: Type.String({
      description: '`find`, `explain`, `insert`, `save`, `update`, `delete` or `generate`, in any case.',
    }),
    request: document('The request, naming its entity by `entity` and `entityVersion`.'),
  },
  { additionalProperties: false },
)

export const BulkRequestShape = Type.Object(
  {
    requests: Type.Array(BulkEntryShape),
    ordered: optional(claim('Writes run one after the other; true when absent.')),
    atomic: optional(claim('One transaction: the first failure rolls all back.')),
    execution: optional(ExecutionShape),
    client: Type.Optional(Type.Unknown()),
    clientId: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
)

export const ErrorShape = Type.Object({
  objectType: Type.Literal('error'),
  context: text('The path of work, such as `insert(country:1.0.0)/iso2Code`.'),
  errorCode: text('A stable code, such as `crud:NoAccess`.'),
  msg: text('A sentence a person can act on.'),
})

const ResultMetadataShape = Type.Object({
  documentVersion: text('Names this state of the document; opaque.'),
})

const DataErrorShape = Type.Object({
  data: document('The document, as its sender knows it.'),
  errors: Type.Array(ErrorShape),
})

export const DataResponseShape = Type.Object({
  entity: Type.Optional(Type.String()),
  entityVersion: Type.Optional(text('The version that was used.')),
  status: Type.Enum(['COMPLETE', 'PARTIAL', 'ERROR']),
  modifiedCount: count('Documents inserted, deleted or really changed.'),
  matchCount: count('All documents that match, whatever the range.'),
  processed: Type.Optional(
    Type.Array(Type.Unknown(), { description: 'Documents, values, or explanations.' }),
  ),
  resultMetadata: Type.Optional(
    Type.Array(ResultMetadataShape, { description: 'Runs parallel to `processed`.' }),
  ),
  dataErrors: Type.Optional(Type.Array(DataErrorShape)),
  errors: Type.Optional(Type.Array(ErrorShape)),
})

const VersionShape = Type.Object({
  documentVersion: text('Names this version; may be sent as `asOf`.'),
  date: text('When it was written, to the microsecond.'),
  operation: Type.Optional(
    Type.Enum(['insert', 'update', 'delete'], {
      description: 'How it came to be; absent where that was before history was kept.',
    }),
  ),
  principal: Type.Optional(text('Who wrote it.')),
  document: Type.Optional(document('As it was then; absent once it was deleted.')),
})

export const HistoryResponseShape = Type.Object({
  ...DataResponseShape.properties,
  processed: Type.Optional(Type.Array(VersionShape, { description: 'Versions, oldest first.' })),
})

export const BulkResponseShape = Type.Object({
  responses: Type.Array(Type.Object({ seq: Type.Integer(), response: DataResponseShape })),
})

export const LockRequestShape = Type.Object(
  {
    operation: Type.Enum(['acquire', 'release', 'count', 'ping']),
    domain: text('Locks of different domains have nothing to do with each other.'),
    callerId: text('Who holds the lock; chosen by the client.'),
    resourceId: text('What is locked.'),
    ttl: optional(
      Type.Union([Type.Integer(), Type.String()], {
        description: 'Milliseconds until the lock expires; 3600000 when absent. Read by acquire only.',
      }),
    ),
    client: Type.Optional(Type.Unknown({ description: 'Tolerated and not read.' })),
    clientId: Type.Optional(Type.Unknown({ description: 'Tolerated and not read.' })),
  },
  { additionalProperties: false },
)

export const LockResponseShape = Type.Object({
  result: Type.Union([Type.Boolean(), Type.Integer()], {
    description:
      'acquire: whether the lock is held; release: whether it is free; count: how often it is held; ping: true.',
  }),
})

export const SearchParametersShape = Type.Object(
  {},
  { additionalProperties: true, description: 'Parameter of the saved search to its value.' },
)

export const QueryShape = Type.Object(
  {
    field: Type.Optional(text('A dotted path; `*` stands for every element of an array.')),
    op: Type.Optional(
      text('`=` `!=` `<` `>` `<=` `>=`, `$eq` `$neq` `$lt` `$gt` `$lte` `$gte`, `$in` `$nin`.'),
    ),
    rvalue: Type.Optional(Type.Unknown({ description: 'The value to compare with.' })),
    rfield: Type.Optional(text('The other field of a comparison of two fields.')),
    values: Type.Optional(Type.Array(Type.Unknown())),
    regex: Type.Optional(text('A pattern in RE2 syntax that occurs anywhere in the text.')),
    array: Type.Optional(text('The array of `contains` and `elemMatch`.')),
    contains: Type.Optional(text('`$any`, `$all` or `$none` of `values`.')),
    elemMatch: Type.Optional(document('A query that one and the same element satisfies.')),
    $and: Type.Optional(Type.Array(document('A query.'))),
    $or: Type.Optional(Type.Array(document('A query.'))),
    $not: Type.Optional(document('A query.')),
  },
  { description: 'One comparison, or one of `$and`, `$or`, `$not` over queries.' },
)

export const ProjectionShape = Type.Object(
  {
    field: text('A dotted path; `*` stands for every field here.'),
    include: Type.Optional(claim('False leaves the field out; true when absent.')),
    recursive: Type.Optional(claim('Includes everything below.')),
    range: Type.Optional(Type.Array(Type.Integer(), { description: 'Which elements of an array.' })),
    match: Type.Optional(document('A query that chooses elements of an array.')),
    sort: Type.Optional(listed(document('Orders the elements of an array.'))),
    projection: Type.Optional(listed(document('What to return of each element.'))),
  },
  { description: 'What to return of a field; of several the last opinion about a path wins.' },
)

export const SortShape = Type.Object(
  {},
  {
    additionalProperties: Type.Enum(['$asc', '$desc']),
    description: 'One key, the field, whose value is the direction.',
  },
)

const Strings = Type.Array(Type.String())

export const EntityInfoShape = Type.Object(
  {
    name: text('Name of the entity.'),
    defaultVersion: Type.Optional(text('The version used when a request names none.')),
    datastore: Type.Object({
      backend: Type.String(),
      datasource: Type.Optional(Type.String()),
      collection: Type.Optional(Type.String()),
    }),
    indexes: Type.Optional(
      Type.Array(
        Type.Object({
          name: optional(Type.String()),
          unique: Type.Optional(Type.Boolean()),
          fields: Type.Array(
            Type.Object({
              field: Type.String(),
              dir: Type.Optional(Type.String()),
              caseInsensitive: Type.Optional(Type.Boolean()),
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
    fields: document('Field name to definition.'),
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
      description: 'In answers to changes: doubts that the change has brought. Ignored when written.',
    }),
  ),
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

export const RolesShape = Type.Array(
  Type.Object({
    role: Type.String(),
    insert: Type.Optional(Strings),
    find: Type.Optional(Strings),
    update: Type.Optional(Strings),
    delete: Type.Optional(Strings),
  }),
  {
    description:
      'Records by role; paths begin with the entity. Entities without default version end the array as errors.',
  },
)

export const DependenciesShape = Type.Array(
  Type.Object({
    name: Type.String(),
    dependencies: Type.Optional(Type.Array(document('A node of the same shape; absent on leaves.'))),
  }),
)

const eventMembers = {
  id: text('Stable, to tell whether an event was seen before.'),
  seq: count('Rises from event to event; what to go on from.'),
  hook: text('Name of the hook.'),
  entity: Type.String(),
  entityVersion: text('By which the document was changed.'),
  operation: Type.Enum(['insert', 'update', 'delete']),
  documentId: Type.Optional(Type.Unknown({ description: '`_id` of the document, where it may be read.' })),
  principal: text('Who changed the document.'),
  date: text('When.'),
  changed: Type.Array(Type.String(), { description: 'Paths of what is new or different.' }),
  removed: Type.Array(Type.String(), { description: 'Paths of what is gone.' }),
  before: Type.Optional(document('What is watched, as it was; absent for an insert.')),
  after: Type.Optional(document('What is watched, as it is; absent for a delete.')),
  include: Type.Optional(document('What the hook includes.')),
  changes: Type.Optional(
    Type.Array(document('`path`, and `from`, `to` or `movedFrom`.'), {
      description: 'Of a hook of kind audit, in place of `before`, `after` and `include`.',
    }),
  ),
}

export const EventShape = Type.Object(eventMembers)

export const EventPageShape = Type.Object({
  events: Type.Array(EventShape, { description: 'Oldest first.' }),
  next: count('To be passed as `since`.'),
})
