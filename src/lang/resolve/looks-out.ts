/** How far out of its own scope a query looks: what stays inside can be asked of a document alone. */
import { unreachable } from '../../base/errors.ts'
import type { Query } from '../query.ts'
import type { FieldRef } from './scope.ts'

export function looksOut(query: Query<FieldRef>): boolean {
  return outermost(query) > 0
}

/** Whether it asks about nothing in its own scope; of a query that follows references that is not known. */
export function looksOnlyOut(query: Query<FieldRef>): boolean {
  switch (query.kind) {
    case 'compare':
    case 'in':
    case 'regex':
      return query.field.up > 0
    case 'compareFields':
    case 'inField':
      return query.field.up > 0 && query.rfield.up > 0
    case 'contains':
    case 'elemMatch':
      return query.array.up > 0
    case 'and':
    case 'or':
      return query.terms.every(looksOnlyOut)
    case 'not':
      return looksOnlyOut(query.term)
    case 'related':
      return false
    default:
      return unreachable(query)
  }
}

/** The number of the outermost scope that it asks about; 0 is its own, and -1 says that it asks about nothing. */
function outermost(query: Query<FieldRef>): number {
  switch (query.kind) {
    case 'compare':
    case 'in':
    case 'regex':
      return query.field.up
    case 'compareFields':
    case 'inField':
      return Math.max(query.field.up, query.rfield.up)
    case 'contains':
      return query.array.up
    case 'elemMatch': {
      // Inside, names climb from the array.
      const outside = outermost(query.query) - opened(query.array)
      return outside < 0 ? query.array.up : query.array.up + outside
    }
    case 'related': {
      const inside = Math.max(outermost(query.join), outermost(query.query))
      return Math.max(query.reference.up, inside - opened(query.reference))
    }
    case 'and':
    case 'or':
      return Math.max(-1, ...query.terms.map(outermost))
    case 'not':
      return outermost(query.term)
    default:
      return unreachable(query)
  }
}

/** Every `*` on the way opens a scope, and so does what stands at its end. */
function opened({ steps }: FieldRef): number {
  return 1 + steps.filter((step) => step === '*').length
}
