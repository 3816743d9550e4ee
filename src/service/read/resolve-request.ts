/** Resolves requests against a schema, with the references that they follow into other entities. */
import { type Code, ServiceError } from '../../base/errors.ts'
import { memoized } from '../../base/memo.ts'
import { composed, followProjected } from '../../lang/resolve/compose.ts'
import { followedFor } from '../../lang/resolve/follow.ts'
import type { Aggregation } from '../../lang/aggregate.ts'
import { type Joins, createJoins } from '../../lang/resolve/joins.ts'
import type { Projection } from '../../lang/projection.ts'
import type { Named, Query } from '../../lang/query.ts'
import { resolveAggregation } from '../../lang/resolve/resolve-aggregate.ts'
import { resolveProjection, resolveQuery, resolveSort } from '../../lang/resolve/resolve.ts'
import { type FieldRef, rootScope } from '../../lang/resolve/scope.ts'
import type { SortKey } from '../../lang/sort.ts'
import { problemWith } from '../../metadata/validate/check-references.ts'
import type { ReferenceField } from '../../schema/field.ts'
import { type Schema, allFields } from '../../schema/schema.ts'
import type { Deps } from '../deps.ts'

type ResolveDeps = Pick<Deps, 'schemaOf' | 'limits'>

/** The query that selects documents for a write. It may lead through references, but no joined document is returned. */
export function resolveSelection(query: Query<Named>, schema: Schema, deps: ResolveDeps): Query<FieldRef> {
  return resolveQuery(query, rootScope(schema, joinsOf(schema, deps)))
}

interface Aggregating {
  readonly query?: Query<Named>
  readonly aggregation: Aggregation<Named>
}

/** Rows of an aggregation may be documents of references, as long as one store has all of them. */
export function resolveAggregating({ query, aggregation }: Aggregating, schema: Schema, deps: ResolveDeps) {
  const joins = joinsOf(schema, deps)
  const scope = { ...rootScope(schema, joins), here: schema.root }
  const resolved = resolveAggregation(aggregation, scope)
  for (const link of resolved.chain) {
    if (link.kind !== 'documents') continue
    const { path, field } = link.reference
    if (field.join.schema.collection.datasource === schema.collection.datasource) continue
    const message = `"${path}" leads to documents in another datasource; an aggregate stays in one`
    throw new ServiceError('query-api:InvalidAggregation', message, { context: path })
  }
  return { ...(query && { query: resolveQuery(query, scope) }), aggregation: resolved }
}

export interface Reading {
  readonly query?: Query<Named>
  readonly projection: Projection<Named>
  readonly sort: readonly SortKey<Named>[]
}

/** A reference that the query leads through is embedded too, if the projection covers it; one of the sort is not. */
export function resolveReading({ sort, ...reading }: Reading, schema: Schema, deps: ResolveDeps) {
  const joins = joinsOf(schema, deps)
  const shown = resolveShown(reading, schema, joins)
  return { ...shown, sort: resolveSort(sort, rootScope(schema, joins), shown) }
}

function resolveShown(
  { query, projection }: Omit<Reading, 'sort'>,
  schema: Schema,
  joins: Joins | undefined,
) {
  const resolved = query && { query: resolveQuery(query, rootScope(schema, joins)) }
  if (joins) followProjected(projection, schema.root.fields, { joins, inside: undefined })
  const root = joins ? composed(schema.root, joins) : schema.root
  const shown = resolveProjection(projection, rootScope({ root }))
  if (!joins || root === schema.root) return { ...resolved, projection: shown }
  const references = { root, followed: followedFor(shown, joins, schema.root) }
  return { ...resolved, projection: shown, references }
}

/** Undefined if the schema has no references. */
function joinsOf(schema: Schema, { schemaOf, limits }: ResolveDeps): Joins | undefined {
  if (!hasReferences(schema)) return undefined
  const definedSchema = (entity: string, version: string | undefined): Schema | undefined =>
    unlessUndefined(() => schemaOf(entity, version))
  const maxDepth = limits.referenceDepth
  return createJoins(schema, { schemaOf: definedSchema, fits, maxDepth })
}

function unlessUndefined<T>(find: () => T): T | undefined {
  try {
    return find()
  } catch (error) {
    if (error instanceof ServiceError && UNDEFINED.has(error.code)) return undefined
    throw error
  }
}

const UNDEFINED: ReadonlySet<Code> = new Set([
  'crud:UnknownEntity',
  'crud:NoDefaultVersion',
  'crud:DisabledMetadataVersion',
])

/** A target may be defined after the reference, and then need not fit it. */
function fits(holder: Schema, reference: ReferenceField, target: Schema): boolean {
  const known = fitting(reference)
  const isFitting = known.get(target) ?? problemWith(holder, reference, target) === undefined
  known.set(target, isFitting)
  return isFitting
}

/** By reference, which belongs to one compiled schema, and by target. */
const fitting = memoized((_reference: ReferenceField) => new WeakMap<Schema, boolean>())

export const hasReferences = memoized((schema: Schema) =>
  allFields(schema.root.fields).some(({ kind }) => kind === 'reference'),
)
