/** The comparisons with a value that a query makes, wherever they stand. */
import { unreachable } from '../../base/errors.ts'
import type { Query } from '../query.ts'

export type Comparison<F> = Query<F> & { readonly kind: 'compare' }

/** The query with other comparisons in their places; what holds none that changes stays the very same. */
export function mapCompared<F>(
  query: Query<F>,
  change: (comparison: Comparison<F>) => Comparison<F>,
): Query<F> {
  switch (query.kind) {
    case 'compare':
      return change(query)
    case 'elemMatch': {
      const inner = mapCompared(query.query, change)
      return inner === query.query ? query : { ...query, query: inner }
    }
    case 'related': {
      const [joined, inner] = [mapCompared(query.join, change), mapCompared(query.query, change)]
      const isSame = joined === query.join && inner === query.query
      return isSame ? query : { ...query, join: joined, query: inner }
    }
    case 'and':
    case 'or': {
      const terms = query.terms.map((term) => mapCompared(term, change))
      return terms.every((term, i) => term === query.terms[i]) ? query : { ...query, terms }
    }
    case 'not': {
      const term = mapCompared(query.term, change)
      return term === query.term ? query : { ...query, term }
    }
    case 'in':
    case 'regex':
    case 'contains':
    case 'compareFields':
    case 'inField':
      return query
    default:
      return unreachable(query)
  }
}
