/** Documents in the order that the evaluator gives them, and by `_id` where that is all the same. */
import type { JsonObject } from '../../src/base/json/json.ts'
import { compileSort } from '../../src/lang/evaluate/order.ts'
import type { FieldRef } from '../../src/lang/resolve/scope.ts'
import type { SortKey } from '../../src/lang/sort.ts'
import { compareValues } from '../../src/schema/types.ts'

export function inOrder(
  documents: readonly JsonObject[],
  sort: readonly SortKey<FieldRef>[],
): readonly JsonObject[] {
  const byId = documents.toSorted((a, b) => compareValues(a['_id']!, b['_id']!))
  return compileSort(sort)(byId.map((value) => ({ value }))).map((position) => byId[position]!)
}
