/** Aggregates of documents in memory: the interpreter that the stores are compared with. */
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { type Groups, shownResult } from '../../src/lang/aggregate.ts'
import { compileAggregation } from '../../src/lang/evaluate/aggregate.ts'
import { compileQuery } from '../../src/lang/evaluate/match.ts'
import { parseAggregation } from '../../src/lang/parse/parse-aggregate.ts'
import { parseQuery } from '../../src/lang/parse/parse-query.ts'
import { createJoins } from '../../src/lang/resolve/joins.ts'
import { type ResolvedAggregation, resolveAggregation } from '../../src/lang/resolve/resolve-aggregate.ts'
import { resolveQuery } from '../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../src/lang/resolve/scope.ts'
import type { Schema } from '../../src/schema/schema.ts'

/** The lines of `processed`, and `matchCount`. */
export interface Aggregated {
  readonly processed: readonly string[]
  readonly matchCount: number
}

/** Documents that references join. */
export interface JoinedDocuments {
  readonly schema: Schema
  readonly documents: readonly Json[]
}

export function aggregateInMemory(
  schema: Schema,
  request: JsonObject,
  documents: readonly Json[],
  joined?: JoinedDocuments,
): Aggregated {
  const joins =
    joined && createJoins(schema, { schemaOf: () => joined.schema, maxDepth: DEFAULT_LIMITS.referenceDepth })
  const scope = { ...rootScope(schema, joins), here: schema.root }
  const { query, range } = request
  const aggregation = resolveAggregation(parseAggregation(request, DEFAULT_LIMITS), scope)
  const matches = query
    ? compileQuery(resolveQuery(parseQuery(query, '/query', DEFAULT_LIMITS), scope))
    : () => true
  const aggregator = compileAggregation(aggregation, {
    documentsOf: () => joined?.documents ?? [],
    hold: () => undefined,
    shouldYield: () => false,
  })
  for (const document of documents) {
    if (matches({ value: document })) for (const _ of aggregator.add(document)) assertNever()
  }
  const [from, to] = (range as readonly [number, number] | undefined) ?? [0]
  return printed(aggregator.page({ from, ...(to !== undefined && { to }) }), aggregation.results)
}

function printed({ groups, matchCount }: Groups, results: ResolvedAggregation['results']): Aggregated {
  const print = (group: readonly Json[]): string =>
    `{${results.map(({ path, kind }, i) => `${JSON.stringify(path)}:${JSON.stringify(shownResult(group[i]!, kind))}`).join(',')}}`
  return { processed: groups.map(print), matchCount }
}

function assertNever(): never {
  throw new Error('nothing asked for a pause')
}
