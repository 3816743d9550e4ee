/**
 * The request of each data operation, for the OpenAPI document: the keys that have a meaning in it, and which of them
 * it needs. The service also tolerates keys of other operations (`envelope.ts`); a client has no reason to send them.
 */
import { type Shape, Type } from '../../base/json/shape.ts'
import { DataRequestShape, ExecutionShape, PageShape } from './data-shapes.ts'
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
  page: component('Page'),
  execution: component('Execution'),
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

/**
 * For a key that a form has no use for: null means the same as no key. Any other value has to be ruled out here, because
 * compilers accept a member of one form of a union in every other one. The list, which nothing can be an item of, only makes
 * the generated type more than null: openapi-fetch takes members that can only be null for members of answers, and does
 * not let them be sent.
 */
const ABSENT: Shape = Type.Union(
  [Type.Null(), { type: 'array', prefixItems: [false], items: false, minItems: 1 }],
  { description: 'Absent or null, because of another member that is present.' },
)
const absent = Type.Optional(component('Absent'))

const ONE_FORM: readonly Form[] = [{ needs: [], refuses: [] }]

const OPERATIONS: Readonly<
  Record<string, { readonly needs: readonly Key[]; readonly takes: readonly Key[] }>
> = {
  FindRequest: { needs: ['projection'], takes: ['query', 'filter', 'sort', 'page', ...PAGE, 'asOf'] },
  AggregateRequest: { needs: [], takes: ['query', 'filter', 'groupBy', 'values', 'having', 'sort', ...PAGE] },
  InsertRequest: { needs: ['data'], takes: ['projection', ...PAGE] },
  SaveRequest: { needs: ['data'], takes: ['projection', 'upsert', ...PAGE, ...CONDITION] },
  UpdateRequest: { needs: ['query', 'update'], takes: ['filter', 'projection', ...PAGE, ...CONDITION] },
  DeleteRequest: { needs: ['query'], takes: ['filter', ...PAGE, ...CONDITION] },
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
  Absent: ABSENT,
  Page: PageShape,
  Execution: ExecutionShape,
  BulkEntry: Type.Union(
    Object.entries(BULK).map(([operation, request]) => bulkEntry(operation, request)),
    { description: 'One request of a bulk.' },
  ),
}

/** The shape of a request by its name in the components. */
export function operationShape(name: string): Shape {
  return OPERATION_SHAPES[name]!
}

/** One shape for each way to write what has several spellings: a condition, which part of the result is returned, and what is computed. */
function requestShape(needs: readonly Key[], takes: readonly Key[]): Shape {
  const keys = [...needs, ...takes]
  const conditions: readonly Form[] = keys.includes('query')
    ? [
        { needs: needs.filter((key) => key === 'query'), refuses: ['filter'] },
        { needs: ['filter'], refuses: ['query'] },
      ]
    : ONE_FORM
  const parts: readonly Form[] = keys.includes('page')
    ? [
        { needs: [], refuses: ['page'] },
        { needs: ['page'], refuses: PAGE },
      ]
    : ONE_FORM
  // an aggregate has at least one of them
  const results: readonly Form[] = keys.includes('groupBy')
    ? ['groupBy', 'values'].map((key) => ({ needs: [key], refuses: [] }))
    : ONE_FORM
  const forms = conditions.flatMap((condition) =>
    parts.flatMap((part) =>
      results.map((result) =>
        oneShape(keys, {
          needs: [
            ...needs.filter((key) => key !== 'query'),
            ...condition.needs,
            ...part.needs,
            ...result.needs,
          ],
          refuses: [...condition.refuses, ...part.refuses],
        }),
      ),
    ),
  )
  return forms.length === 1 ? forms[0]! : Type.Union(forms)
}

interface Form {
  readonly needs: readonly Key[]
  /** What the keys that it needs take the place of. */
  readonly refuses: readonly Key[]
}

function oneShape(keys: readonly Key[], { needs, refuses }: Form): Shape {
  const members = [...new Set([...needs, ...keys, ...COMMON])].map((key): [Key, Shape] => {
    if (needs.includes(key)) return [key, DETAILED[key]!]
    if (refuses.includes(key)) return [key, absent]
    return [key, DETAILED[key] ? optional(DETAILED[key]) : known[key]!]
  })
  return Type.Object(Object.fromEntries(members), { additionalProperties: false })
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
