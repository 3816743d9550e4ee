/** Queries across entities without a service: resolved by `src/lang` and asked of documents held in memory. */
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { createJoins, isJoined } from '../../src/lang/resolve/joins.ts'
import { compileQuery } from '../../src/lang/evaluate/match.ts'
import { parseQuery } from '../../src/lang/parse/parse-query.ts'
import { compileJoinedKey } from '../../src/lang/evaluate/joined-sort.ts'
import { compareSortValues, sortValues } from '../../src/lang/evaluate/order.ts'
import type { Yielding } from '../../src/lang/evaluate/time-slice.ts'
import type { Named, Query } from '../../src/lang/query.ts'
import { resolveQuery, resolveSort } from '../../src/lang/resolve/resolve.ts'
import type { SortKey } from '../../src/lang/sort.ts'
import { compareValues } from '../../src/schema/types.ts'
import { type FieldRef, type Scope, rootScope } from '../../src/lang/resolve/scope.ts'
import type { Schema } from '../../src/schema/schema.ts'

export interface Evaluator {
  readonly scopeOf: (entity: string) => Scope
  readonly resolve: (entity: string, query: Json) => Query<FieldRef>
  /** The documents of the entity for which the query holds, in the order in which they are held. */
  readonly matching: (entity: string, query: Json) => readonly JsonObject[]
  /** The documents in the order of the sort, and by `_id` where that is all the same. */
  readonly inOrder: (
    entity: string,
    documents: readonly JsonObject[],
    sort: readonly SortKey<Named>[],
  ) => readonly JsonObject[]
}

interface Held {
  readonly schemaOf: (entity: string, version?: string) => Schema
  readonly documentsOf: (entity: string) => readonly JsonObject[]
  readonly maxDepth?: number
}

export function createEvaluator({ schemaOf, documentsOf, maxDepth = 5 }: Held): Evaluator {
  const scopeOf = (entity: string): Scope => {
    const schema = schemaOf(entity)
    return rootScope(schema, createJoins(schema, { schemaOf, maxDepth }))
  }
  const resolve = (entity: string, query: Json): Query<FieldRef> =>
    resolveQuery(parseQuery(query, '/query', DEFAULT_LIMITS), scopeOf(entity))
  return {
    scopeOf,
    resolve,
    matching(entity, query) {
      const holds = compileQuery(resolve(entity, query), ({ reference: { field } }) =>
        isJoined(field) ? documentsOf(field.join.schema.entity) : [],
      )
      return documentsOf(entity).filter((value) => holds({ value }))
    },
    inOrder(entity, documents, sort) {
      const keys = resolveSort(sort, scopeOf(entity))
      const sourcesOf = keys
        .filter(({ field }) => field.joined)
        .map((key) =>
          compileJoinedKey(key, {
            documentsOf: ({ reference }) => documentsOf(reference.field.join.schema.entity),
            shouldYield: () => false,
          }),
        )
      const sorted = documents.map((value) => {
        const sources = sourcesOf.map((sourceOf) => finished(sourceOf({ value })))
        return { value, values: sortValues(value, keys, sources) }
      })
      return sorted
        .sort(
          (a, b) =>
            compareSortValues(a.values, b.values, keys) || compareValues(a.value['_id']!, b.value['_id']!),
        )
        .map(({ value }) => value)
    },
  }
}

function finished<T>(work: Yielding<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}
