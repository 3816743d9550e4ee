/** Finds saved searches whose query no index serves: each run reads all documents. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject } from '../../base/json/json.ts'
import { DEFAULT_LIMITS } from '../../base/limits.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { resolveField, rootScope } from '../../lang/resolve/scope.ts'
import type { Finding } from '../../metadata/finding.ts'
import { servedPaths } from '../../metadata/lint/leading-keys.ts'
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
    const isServed = servedPaths(registry.infoOf(entity), searched)
    return (byEntity.get(entity) ?? []).flatMap((saved) => findingOf(saved, isServed) ?? [])
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

function findingOf({ name, query }: JsonObject, isServed: IsServed): Finding | undefined {
  const paths = new Set<string>()
  const part = readable(query ?? null)
  if (part === undefined || isServedQuery(part, { isServed, paths, within: '' }) || paths.size === 0)
    return undefined
  return {
    severity: 'hint',
    code: 'search-without-index',
    at: '',
    msg:
      `no index serves the saved search ${JSON.stringify(name ?? null)}, which compares ${quoted([...paths])}, so each run looks at ` +
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

type IsServed = (path: string) => boolean

interface Inside {
  readonly isServed: IsServed
  /** The fields that are compared. */
  readonly paths: Set<string>
  /** The path of the elements, inside an elemMatch. */
  readonly within: string
}

/**
 * Whether an index finds the documents. Placeholders may stand for any part, so the JSON is inspected as it is; a field
 * that only the caller names counts as served.
 */
function isServedQuery(query: Json, inside: Inside): boolean {
  if (!isObject(query)) return true
  const all = query['$and'] ?? query['$all']
  if (isArray(all)) return all.map((term) => isServedQuery(term, inside)).some(Boolean)
  const any = query['$or'] ?? query['$any']
  if (isArray(any)) return any.map((term) => isServedQuery(term, inside)).every(Boolean)
  const { $not, field, array, elemMatch } = query
  if (isObject($not)) {
    isServedQuery($not, inside)
    return false
  }
  if (typeof array === 'string') {
    const within = `${pathIn(array, inside)}.*`
    if (elemMatch !== undefined) return isServedQuery(elemMatch, { ...inside, within: `${within}.` })
    return isServedPath(within, inside) && query['contains'] !== '$none'
  }
  if (typeof field !== 'string' || field.includes('${')) return true
  return isServedPath(pathIn(field, inside), inside) && isFinding(query)
}

function pathIn(path: string, { within }: Inside): string {
  return path === '$this' ? within.slice(0, -1) : `${within}${path}`
}

function isServedPath(path: string, { isServed, paths }: Inside): boolean {
  paths.add(path)
  return isServed(path)
}

/** Whether an index on the field leads to the matches of the condition. */
function isFinding({ op, regex, rfield }: JsonObject): boolean {
  if (rfield !== undefined) return false
  if (typeof regex === 'string') return regex.startsWith('^')
  return typeof op !== 'string' || !NEGATIVE.has(op)
}

const NEGATIVE: ReadonlySet<string> = new Set(['!=', '$neq', '$ne', '$nin', '$not_in'])
