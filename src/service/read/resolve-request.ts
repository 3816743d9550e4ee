/** Resolves requests against a schema, with the references that they follow into other entities. */
import { memoized } from '../../base/memo.ts'
import { composed, followProjected } from '../../lang/resolve/compose.ts'
import { followedFor } from '../../lang/resolve/follow.ts'
import { type Joins, createJoins } from '../../lang/resolve/joins.ts'
import type { Projection } from '../../lang/projection.ts'
import type { Named, Query } from '../../lang/query.ts'
import { resolveProjection, resolveQuery } from '../../lang/resolve/resolve.ts'
import { type FieldRef, rootScope } from '../../lang/resolve/scope.ts'
import { type Schema, allFields } from '../../schema/schema.ts'
import type { Deps } from '../deps.ts'

type Following = Pick<Deps, 'schemaOf' | 'limits'>

/** The query that selects documents for a write. It may lead through references, but no joined document is returned. */
export function resolveSelection(query: Query<Named>, schema: Schema, deps: Following): Query<FieldRef> {
  return resolveQuery(query, rootScope(schema, joinsOf(schema, deps)))
}

interface Reading {
  readonly query?: Query<Named>
  readonly projection: Projection<Named>
}

/** A reference that the query leads through is embedded too, if the projection covers it. */
export function resolveReading({ query, projection }: Reading, schema: Schema, deps: Following) {
  const joins = joinsOf(schema, deps)
  const resolved = query && { query: resolveQuery(query, rootScope(schema, joins)) }
  if (joins) followProjected(projection, schema.root.fields, { joins, inside: undefined })
  const root = joins ? composed(schema.root, joins) : schema.root
  const shown = resolveProjection(projection, rootScope({ root }))
  if (!joins || root === schema.root) return { ...resolved, projection: shown }
  const references = { root, followed: followedFor(shown, joins, schema.root) }
  return { ...resolved, projection: shown, references }
}

/** Undefined if the schema has no references. */
function joinsOf(schema: Schema, { schemaOf, limits }: Following): Joins | undefined {
  return hasReferences(schema)
    ? createJoins(schema, { schemaOf, maxDepth: limits.referenceDepth })
    : undefined
}

const hasReferences = memoized((schema: Schema) =>
  allFields(schema.root.fields).some(({ kind }) => kind === 'reference'),
)
