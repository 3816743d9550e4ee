/** Resolves `$score`, the relevance of a document, in a sort: it follows from the text searches of the query. */
import { ServiceError } from '../../base/errors.ts'
import type { SimpleField } from '../../schema/field.ts'
import { TYPES } from '../../schema/types.ts'
import { type Named, type Query, type TextSearch } from '../query.ts'
import type { FieldRef } from './scope.ts'

export const SCORE = '$score'

export function resolveScore({ at }: Named, query: Query<FieldRef> | undefined): FieldRef {
  const score = query ? [...searchesIn(query)] : []
  if (score.length > 0) return { path: SCORE, up: 0, steps: [SCORE], field: SCORE_FIELD, score }
  const message = `a sort by ${SCORE} needs a text search in the query, such as {"text":"blue"}`
  throw new ServiceError('query-api:InvalidSort', message, { at })
}

/** Searches of the document itself that may hold; what a negation denies is not relevant. */
function* searchesIn(query: Query<FieldRef>): Generator<TextSearch<FieldRef>> {
  if (query.kind === 'text') yield query
  else if (query.kind === 'and' || query.kind === 'or') {
    for (const term of query.terms) yield* searchesIn(term)
  }
}

/** Any caller may sort by it: the fields of the index must be readable already. */
const SCORE_FIELD: SimpleField = {
  kind: 'simple',
  name: SCORE,
  path: SCORE,
  type: TYPES.integer,
  roles: { find: [], insert: [], update: [] },
  constraints: {},
}
