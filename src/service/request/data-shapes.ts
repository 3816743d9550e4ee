/**
 * The shapes of data requests and responses, as JSON Schema. The service refuses unknown keys by them, and
 * the OpenAPI document shows them. They define the form of a request; the parsers of `lang` define its
 * meaning.
 */
import { Type } from '../../base/json/shape.ts'
import { SAFE, claim, count, document, listed, optional, text } from './shape-parts.ts'

export const ExecutionShape = Type.Object(
  {
    atomic: optional(claim('Any failure fails the whole request.')),
    maxTimeMs: optional(count('Ends the request after so many milliseconds.')),
    count: optional(Type.Enum(['exact', 'none'], { description: 'Whether matches are counted.' })),
  },
  { additionalProperties: false },
)

/** All keys of all data operations: a key of another operation is tolerated, any other key is refused. */
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
