/** Queries across entities without a service: resolved by `src/lang` and asked of documents held in memory. */
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { createJoins, isJoined } from '../../src/lang/resolve/joins.ts'
import { compileQuery } from '../../src/lang/evaluate/match.ts'
import { parseQuery } from '../../src/lang/parse/parse-query.ts'
import type { Query } from '../../src/lang/query.ts'
import { resolveQuery } from '../../src/lang/resolve/resolve.ts'
import { type FieldRef, type Scope, rootScope } from '../../src/lang/resolve/scope.ts'
import type { Schema } from '../../src/schema/schema.ts'

export interface Evaluator {
  readonly scopeOf: (entity: string) => Scope
  readonly resolve: (entity: string, query: Json) => Query<FieldRef>
  /** The documents of the entity for which the query holds, in the order in which they are held. */
  readonly matching: (entity: string, query: Json) => readonly JsonObject[]
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
  }
}
