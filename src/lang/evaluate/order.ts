/** Sorts as comparison functions: null and missing first ascending, arrays by their least or greatest element. */
import type { Json } from '../../base/json/json.ts'
import { compareValues } from '../../schema/types.ts'
import { type Seen, comparables } from './match.ts'
import type { FieldRef } from '../resolve/scope.ts'
import type { SortKey } from '../sort.ts'

export function compileSort(sort: readonly SortKey<FieldRef>[]): (a: Seen, b: Seen) => number {
  return (a, b) => {
    for (const key of sort) {
      const order = compareNullsFirst(sortValue(a, key), sortValue(b, key))
      if (order !== 0) return key.descending ? -order : order
    }
    return 0
  }
}

/** Null is less than every value. */
function compareNullsFirst(a: Json, b: Json): number {
  if (a === null || b === null) return (a === null ? 0 : 1) - (b === null ? 0 : 1)
  return compareValues(a, b)
}

/** The value that stands for all candidates of the key: the least ascending, the greatest descending. */
function sortValue(seen: Seen, { field, descending }: SortKey<FieldRef>): Json {
  const values = comparables(seen, field).map((value) => value ?? null)
  const [first = null, ...others] = values
  return others.reduce((best, each) => {
    const order = compareNullsFirst(each, best)
    return (descending ? order > 0 : order < 0) ? each : best
  }, first)
}
