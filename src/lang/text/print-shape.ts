/**
 * Prints the shape of a query: the filter without its literals, such as `city = ? and born > ?`. It names fields and operators
 * only, because literals are data.
 */
import { unreachable } from '../../base/errors.ts'
import { type Query, isValueClause, mapQuery } from '../query.ts'
import { printFilter } from './print-filter.ts'

export function printShape<F extends { readonly path: string }>(query: Query<F>): string {
  return withoutPositions(printFilter(mapQuery(query, withoutLiterals)).replaceAll(PRINTED, PLACEHOLDER))
}

/** A position in an array is a number that the caller chose, like a literal. No name of a field is a number. */
export function withoutPositions(printed: string): string {
  return printed.replaceAll(POSITION, '.*')
}

const POSITION = /\.(?:-?\d+|`-?\d+`)(?=[.\s),]|$)/g

const PLACEHOLDER = '?'
const PRINTED = JSON.stringify(PLACEHOLDER)

/** The number of values in a list is no part of the shape either. */
function withoutLiterals<F>(node: Query<F>): Query<F> {
  if (node.kind === 'text') return { ...node, text: PLACEHOLDER }
  if (!isValueClause(node)) return node
  switch (node.kind) {
    case 'compare':
      return { ...node, value: PLACEHOLDER }
    case 'in':
    case 'contains':
      return { ...node, values: [PLACEHOLDER] }
    case 'regex':
      return { ...node, pattern: PLACEHOLDER }
    default:
      return unreachable(node)
  }
}
