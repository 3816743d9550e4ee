/** Finds saved searches whose query no index serves: each run reads all documents. */
import { ServiceError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import { DEFAULT_LIMITS } from '../../base/limits.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { resolveField, rootScope } from '../../lang/resolve/scope.ts'
import type { Finding } from '../../metadata/finding.ts'
import { servedPaths } from '../../metadata/lint/unindexed/leading-keys.ts'
import { servedQuery } from '../../metadata/lint/unindexed/served-query.ts'
import { quoted } from '../../metadata/lint/subject.ts'
import type { Registry } from '../../metadata/registry.ts'
import type { ReadPlan } from '../../plan/plan.ts'
import { idTypeOf } from '../../plan/id-type.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Store } from '../../store/store.ts'
import { readPart } from './bind-parameters.ts'
import { SAVED_SEARCH } from './search-entity.ts'

type Linted = Pick<Registry, 'schemaOf' | 'infoOf'>

/**
 * The operator of a store reads its saved searches. There is no caller to judge: whoever can open the store could read its
 * database as well.
 */
export async function searchFindings(
  registry: Linted,
  { store, datasource }: { readonly store: Store; readonly datasource: string },
): Promise<(entity: string) => readonly Finding[]> {
  const schema = definedSchema(registry, SAVED_SEARCH)
  if (!schema) return () => []
  if (schema.collection.datasource !== datasource) return () => [UNREAD]
  const searches: JsonObject[] = []
  const take = ({ text }: { readonly text: string }): void =>
    void searches.push(parseTrusted(text) as JsonObject)
  await store.find(planFor(schema), take, { timeLimitMs: DEFAULT_LIMITS.queryTimeMs })
  const byEntity = Map.groupBy(searches, ({ entity }) => entity)
  return (entity) => {
    const searched = definedSchema(registry, entity)
    if (!searched) return []
    const hasIndex = servedPaths(registry.infoOf(entity), searched)
    return (byEntity.get(entity) ?? []).flatMap((saved) => findingOf(saved, hasIndex) ?? [])
  }
}

const MAX_SEARCHES = 10_000

const UNREAD: Finding = {
  severity: 'hint',
  code: 'search-without-index',
  at: '',
  msg: 'saved searches are in another datasource than the metadata, so they were not checked',
}

function planFor(schema: Schema): ReadPlan {
  const field = resolveField({ path: 'entity', at: '' }, rootScope(schema))
  return {
    collection: schema.collection,
    sort: [{ field, descending: false }],
    from: 0,
    to: MAX_SEARCHES - 1,
    counted: false,
    idType: idTypeOf(schema),
  }
}

/** Undefined if nothing can be searched: the entity does not exist, or has no default version. */
function definedSchema(registry: Linted, entity: string): Schema | undefined {
  try {
    return registry.schemaOf(entity, undefined)
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

function findingOf({ name, query }: JsonObject, hasIndex: (path: string) => boolean): Finding | undefined {
  const part = readable(query ?? null)
  if (part === undefined) return undefined
  const { isServed, paths } = servedQuery(part, hasIndex)
  if (isServed || paths.length === 0) return undefined
  return {
    severity: 'hint',
    code: 'search-without-index',
    at: '',
    msg:
      `no index serves the saved search ${JSON.stringify(name ?? null)}, which compares ${quoted(paths)}, so each run looks at ` +
      'all documents; add one to "indexes" of entity info',
  }
}

/** Undefined for a text that is no JSON: running the search reports that. */
function readable(query: Json): Json | undefined {
  try {
    return readPart(query, 'query', DEFAULT_LIMITS)
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}
