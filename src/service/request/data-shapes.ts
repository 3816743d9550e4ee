/**
 * The shapes of data requests and responses, as JSON Schema. The service refuses unknown keys by them, and
 * the OpenAPI document shows them. They define the form of a request; the parsers of `lang` define its
 * meaning.
 */
import { CODES } from '../../base/errors.ts'
import { Type } from '../../base/json/shape.ts'
import { SAFE, component, count, document, flag, listed, optional, text } from './shape-parts.ts'

const BulkExecutionShape = Type.Object(
  {
    atomic: optional(flag('Any failure fails the whole request.')),
    maxTimeMs: optional(count('Ends the request after so many milliseconds.')),
    maxQueryTimeMS: optional(
      Type.Union([Type.Integer(SAFE), Type.String()], { description: 'The same as `maxTimeMs`.' }),
    ),
    dryRun: optional(flag('A write does everything but commit, and the answer says what would happen.')),
    readPreference: Type.Optional(Type.Unknown({ description: 'Accepted, without effect.' })),
    writeConcern: Type.Optional(Type.Unknown({ description: 'Accepted, without effect.' })),
  },
  { additionalProperties: false },
)

/** What concerns single documents is said for each entry of a bulk. */
const OF_DOCUMENTS = {
  count: optional(Type.Enum(['exact', 'none'], { description: 'Whether matches are counted.' })),
  positions: optional(
    flag('Each of `dataErrors` has the `position` of its document in `data`, in place of the document.'),
  ),
}

export const ExecutionShape = Type.Object(
  { ...BulkExecutionShape.properties, ...OF_DOCUMENTS },
  { additionalProperties: false },
)

export const NOT_OF_BULKS: readonly string[] = Object.keys(OF_DOCUMENTS)

/** Larger results are better streamed. */
export const MAX_PAGE_SIZE = 10_000

export const PageShape = Type.Object(
  {
    size: optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_PAGE_SIZE,
        description: 'The most documents to return; 100 when absent.',
      }),
    ),
    after: optional(text('The `next` of the page before; absent: the first page.')),
    count: optional(flag('Whether all matches are counted; false when absent.')),
  },
  { additionalProperties: false },
)

/** All keys of all data operations: any other key is refused. `envelope.ts` refuses some in operations without use for them. */
export const DataRequestShape = Type.Object(
  {
    objectType: optional(text('Name of the entity; must agree with the path.')),
    version: optional(text('Version of the entity; must agree with the path.')),
    entity: optional(text('The same as `objectType`.')),
    entityVersion: optional(text('The same as `version`.')),
    query: optional(document('Which documents; absent means all.')),
    filter: optional(text('The same as `query`, as text: `city = "Bern" and salary >= 5000`.')),
    projection: optional(listed(document('Which fields to return.'))),
    sort: optional(listed(document('In which order.'))),
    groupBy: optional(
      Type.Array(Type.Unknown(), {
        description:
          'What an aggregate groups by: paths, or objects with `field`, `truncate`, `timeZone` and `as`.',
      }),
    ),
    values: optional(
      document(
        'What an aggregate computes for each group: a name to `$count`, `$sum`, `$avg`, `$min`, `$max` or `$distinct`.',
      ),
    ),
    having: optional(document('Which groups: a query on names of the result.')),
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
    page: optional(PageShape),
    asOf: optional(text('Answers from the documents as they were then: a date, or a `documentVersion`.')),
    update: optional(listed(document('What to change.'))),
    upsert: optional(flag('Insert documents that do not exist yet.')),
    onlyIfCurrent: optional(flag('False: `documentVersions` is no condition.')),
    documentVersions: optional(
      Type.Array(Type.String(), {
        description:
          'Versions as `resultMetadata` returned them: only documents that still have one of them are written.',
      }),
    ),
    execution: optional(ExecutionShape),
    client: Type.Optional(Type.Unknown({ description: 'Tolerated and not read.' })),
    clientId: Type.Optional(Type.Unknown({ description: 'Tolerated and not read.' })),
  },
  { additionalProperties: false },
)

export const BulkRequestShape = Type.Object(
  {
    requests: Type.Array(component('BulkEntry')),
    ordered: optional(flag('Writes run one after the other; true when absent.')),
    atomic: optional(flag('One transaction: the first failure rolls all back.')),
    execution: optional(BulkExecutionShape),
    client: Type.Optional(Type.Unknown()),
    clientId: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
)

export const ErrorShape = Type.Object({
  objectType: Type.Literal('error'),
  context: text('The path of work, such as `insert(country:1.0.0)/iso2Code`.'),
  errorCode: Type.Enum(Object.keys(CODES), { description: 'A stable code.' }),
  msg: text('A sentence a person can act on.'),
})

const ResultMetadataShape = Type.Object({
  documentVersion: text('Names this state of the document; opaque.'),
})

const DataErrorShape = Type.Object({
  data: Type.Optional(
    Type.Unknown({
      description:
        'The document, as its sender knows it, or what was sent in place of one; absent if `execution.positions` is true.',
    }),
  ),
  position: Type.Optional(count('Its index in `data`, if `execution.positions` is true.')),
  errors: Type.Array(ErrorShape),
})

export const DataResponseShape = Type.Object({
  entity: Type.Optional(Type.String()),
  entityVersion: Type.Optional(text('The version that was used.')),
  status: Type.Enum(['COMPLETE', 'PARTIAL', 'ERROR']),
  modifiedCount: count('Documents inserted, deleted or really changed.'),
  matchCount: count('All documents that match, whatever the range; 0 where they were not counted.'),
  next: Type.Optional(text('Cursor of the next page, for `page.after`; absent on the last one.')),
  processed: Type.Optional(
    Type.Array(Type.Unknown(), { description: 'Documents, values, or explanations.' }),
  ),
  resultMetadata: Type.Optional(
    Type.Array(ResultMetadataShape, { description: 'Runs parallel to `processed`.' }),
  ),
  dataErrors: Type.Optional(Type.Array(DataErrorShape)),
  errors: Type.Optional(Type.Array(ErrorShape)),
  dryRun: Type.Optional(
    Type.Object(
      {
        events: Type.Object(
          {},
          {
            additionalProperties: Type.Integer(),
            description: 'Number of events by hook, as far as the caller may see them.',
          },
        ),
      },
      { description: 'Present where nothing was written, because `execution.dryRun` says so.' },
    ),
  ),
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
