/**
 * The request of each data operation, for the OpenAPI document: the keys that have a meaning in it, and which of them
 * it needs. The service also tolerates keys of other operations (`envelope.ts`); a client has no reason to send them.
 */
import { type Shape, Type } from '../../base/json/shape.ts'
import { DataRequestShape } from './data-shapes.ts'
import { component, count, document, listed, optional, text } from './shape-parts.ts'

const known = DataRequestShape.properties
type Key = string

const DETAILED: Readonly<Record<Key, Shape>> = {
  query: component('Query'),
  filter: text('A query as text: `city = "Bern" and salary >= 5000`.'),
  projection: component('Projections'),
  sort: component('Sort'),
  update: component('Updates'),
  data: listed(document('A document to write.')),
  range: component('Range'),
  groupBy: Type.Array(component('GroupKey'), { description: 'What to group by.' }),
  values: Type.Object(
    {},
    { additionalProperties: component('GroupValue'), description: 'Name in the result to its computation.' },
  ),
  having: component('Query'),
}

const TARGET = ['objectType', 'version', 'entity', 'entityVersion']
const COMMON = [...TARGET, 'execution', 'client', 'clientId']
const PAGE = ['range', 'from', 'to', 'maxResults']
const CONDITION = ['onlyIfCurrent', 'documentVersions']

const OPERATIONS: Readonly<
  Record<string, { readonly needs: readonly Key[]; readonly takes: readonly Key[] }>
> = {
  FindRequest: { needs: ['projection'], takes: ['query', 'filter', 'sort', 'page', ...PAGE, 'asOf'] },
  AggregateRequest: { needs: [], takes: ['query', 'filter', 'groupBy', 'values', 'having', 'sort', ...PAGE] },
  InsertRequest: { needs: ['data'], takes: ['projection', ...PAGE] },
  SaveRequest: { needs: ['data'], takes: ['projection', 'upsert', ...PAGE, ...CONDITION] },
  UpdateRequest: { needs: ['query', 'update'], takes: ['projection', ...PAGE, ...CONDITION] },
  DeleteRequest: { needs: ['query'], takes: [...PAGE, ...CONDITION] },
}

const GENERATE: Shape = Type.Object(
  {
    entity: text('Name of the entity.'),
    entityVersion: optional(text('Version of the entity; the default one when absent.')),
    field: text('The field with a generator.'),
    n: optional(count('How many values, 1 to 10000; one when absent.')),
  },
  { additionalProperties: false },
)

/** Operation in a bulk → name of its request. */
const BULK: Readonly<Record<string, string>> = {
  find: 'FindRequest',
  aggregate: 'AggregateRequest',
  explain: 'ExplainRequest',
  insert: 'InsertRequest',
  save: 'SaveRequest',
  update: 'UpdateRequest',
  delete: 'DeleteRequest',
  generate: 'GenerateRequest',
}

export const OPERATION_SHAPES: Readonly<Record<string, Shape>> = {
  ...Object.fromEntries(
    Object.entries(OPERATIONS).map(([name, { needs, takes }]) => [name, requestShape(needs, takes)]),
  ),
  ExplainRequest: Type.Union([component('FindRequest'), component('AggregateRequest')]),
  GenerateRequest: GENERATE,
  BulkEntry: Type.Union(
    Object.entries(BULK).map(([operation, request]) => bulkEntry(operation, request)),
    { description: 'One request of a bulk.' },
  ),
}

/** The shape of a request by its name in the components. */
export function operationShape(name: string): Shape {
  return OPERATION_SHAPES[name]!
}

/** A condition is needed in one of its two spellings. */
function requestShape(needs: readonly Key[], takes: readonly Key[]): Shape {
  if (!needs.includes('query')) return oneShape(needs, takes)
  const others = needs.filter((key) => key !== 'query')
  return Type.Union([oneShape(['query', ...others], takes), oneShape(['filter', ...others], takes)])
}

function oneShape(needs: readonly Key[], takes: readonly Key[]): Shape {
  const required = needs.map((key): [Key, Shape] => [key, DETAILED[key]!])
  const others = [...takes, ...COMMON].map((key): [Key, Shape] => [
    key,
    Type.Optional(DETAILED[key] ? Type.Union([DETAILED[key], Type.Null()]) : known[key]!),
  ])
  return Type.Object(Object.fromEntries([...required, ...others]), { additionalProperties: false })
}

function bulkEntry(operation: string, request: string): Shape {
  const names = { type: 'object', required: ['entity'], properties: { entity: Type.String() } }
  return Type.Object(
    {
      seq: Type.Integer({ description: 'Unique in the bulk; the response carries it back.' }),
      op: Type.Enum([operation, operation.toUpperCase()], { description: 'In any case.' }),
      request: { allOf: [component(request), names] },
    },
    { additionalProperties: false },
  )
}
