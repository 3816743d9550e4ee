/** The shapes of answers to changes of metadata, which are those of metadata, and the report of a dry run. */
import { Type } from '../../base/json/shape.ts'
import { claim, component, count, text } from '../request/shape-parts.ts'
import { ChangedInfoShape, EntityInfoShape, MetadataShape } from './metadata-shapes.ts'

const Strings = Type.Array(Type.String())

const IndexesShape = Type.Array(
  Type.Object({
    kind: Type.Optional(Type.String()),
    language: Type.Optional(Type.String()),
    unique: Type.Boolean(),
    fields: Strings,
  }),
)

const ProblemShape = Type.Object({
  version: Type.String(),
  errorCode: Type.String(),
  field: Type.String(),
  count: count('How many documents have it.'),
  ids: Type.Array(Type.Unknown(), { description: '`_id`s of up to 10 that the caller may read.' }),
})

const reach = Type.Unknown({ description: '`yes`, `no` or `where`; null: there is no such version.' })

const AccessChangeShape = Type.Object({
  version: Type.String(),
  comparedWith: Type.Union([Type.String(), Type.Null()]),
  field: text('Empty for the entity.'),
  operation: Type.String(),
  role: Type.String(),
  before: reach,
  after: reach,
})

const BrokenSearchShape = Type.Object({
  name: Type.Unknown(),
  version: Type.Union([Type.String(), Type.Null()]),
  msg: Type.String(),
})

export const ImpactShape = Type.Object(
  {
    changes: claim('Whether the request changes anything.'),
    entities: Type.Array(
      Type.Object({
        entity: Type.String(),
        indexes: Type.Object({ build: IndexesShape, drop: IndexesShape }),
        documents: Type.Object({
          checked: count('How many documents were checked.'),
          complete: claim('False: the check ended early.'),
          problems: Type.Array(ProblemShape, { description: 'Documents that would violate the schema.' }),
        }),
        dependents: Strings,
        searches: Type.Object({
          complete: claim('False: there are too many to check.'),
          broken: Type.Array(BrokenSearchShape, { description: 'Saved searches that would fail.' }),
        }),
        access: Type.Array(AccessChangeShape, { description: 'Who gains or loses access to what.' }),
      }),
    ),
  },
  { description: 'Present where nothing was changed, because `dryRun` says so: what would be.' },
)

const dryRun = Type.Optional(component('Impact'))

export const ChangedMetadataShape = Type.Object({ ...MetadataShape.properties, dryRun })
/** Without a default version, there is no schema to show. */
export const ChangedEntityShape = Type.Object({ ...ChangedInfoShape.properties, dryRun })
export const ClearedDefaultShape = Type.Object({ ...EntityInfoShape.properties, dryRun })

/** A list has no room for a report. */
export const ChangedListShape = Type.Union([
  component('MetadataList'),
  Type.Object({ metadata: component('MetadataList'), dryRun: component('Impact') }),
])
