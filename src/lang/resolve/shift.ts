/** A query about a document, as it is asked from inside of others that were opened around it. */
import { unreachable } from '../../base/errors.ts'
import type { Query } from '../query.ts'
import type { FieldRef } from './scope.ts'

/** Only for queries that look at one document and follow no reference. */
export function shifted(query: Query<FieldRef>, by: number): Query<FieldRef> {
  const out = (ref: FieldRef): FieldRef => ({ ...ref, up: ref.up + by })
  switch (query.kind) {
    case 'compare':
    case 'in':
    case 'regex':
      return { ...query, field: out(query.field) }
    case 'compareFields':
    case 'inField':
      return { ...query, field: out(query.field), rfield: out(query.rfield) }
    case 'contains':
    case 'elemMatch':
      // What is inside an elemMatch climbs from the array, wherever that is seen from.
      return { ...query, array: out(query.array) }
    case 'and':
    case 'or':
      return { ...query, terms: query.terms.map((term) => shifted(term, by)) }
    case 'not':
      return { ...query, term: shifted(query.term, by) }
    case 'related':
      throw new Error('a query that follows references cannot be asked from elsewhere')
    default:
      return unreachable(query)
  }
}
