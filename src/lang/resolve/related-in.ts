/** The parts of a query that lead to other documents, those inside of others among them. */
import { unreachable } from '../../base/errors.ts'
import type { Query, Related } from '../query.ts'
import type { FieldRef } from './scope.ts'

export function* relatedIn(query: Query<FieldRef>): Generator<Related<FieldRef>> {
  switch (query.kind) {
    case 'related':
      yield query
      yield* relatedIn(query.join)
      yield* relatedIn(query.query)
      break
    case 'and':
    case 'or':
      for (const term of query.terms) yield* relatedIn(term)
      break
    case 'not':
      yield* relatedIn(query.term)
      break
    case 'elemMatch':
      yield* relatedIn(query.query)
      break
    case 'compare':
    case 'in':
    case 'regex':
    case 'contains':
    case 'compareFields':
    case 'inField':
      break
    default:
      unreachable(query)
  }
}
