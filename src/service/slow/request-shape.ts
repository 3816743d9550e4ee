/** What a slow request looked like: its fields and operators, without a literal, and an index that fits it. */
import { ServiceError, unreachable } from '../../base/errors.ts'
import { type Json, isArray, isObject } from '../../base/json/json.ts'
import type { Limits } from '../../base/limits.ts'
import { startBudget } from '../../lang/budget.ts'
import { parseQuery } from '../../lang/parse/parse-query.ts'
import { type Named, type Query, conjunctsOf } from '../../lang/query.ts'
import { parseSort } from '../../lang/sort.ts'
import { printShape, withoutPositions } from '../../lang/text/print-shape.ts'
import { printPath } from '../../lang/text/words.ts'
import type { Index } from '../../metadata/documents/indexes.ts'
import { isAggregate, withQuery } from '../request/request.ts'
import type { SlowRequest } from './slow-request.ts'

interface Shaping {
  readonly operation: string
  readonly limits: Limits
  readonly indexes: () => readonly Index[]
}

type RequestShape = Pick<SlowRequest, 'query' | 'sort' | 'index'>

/** Expects a body that the service has understood, so that its names are names of fields. */
export function shapeOfRequest(body: Json, { operation, limits, indexes }: Shaping): RequestShape {
  if (isObject(body) && typeof body['filter'] === 'string' && body['filter'].length > MAX_FILTER) return {}
  try {
    const asQuery = withQuery(body, limits)
    const { query, sort } = isObject(asQuery) ? asQuery : {}
    const parsed = isObject(query)
      ? parseQuery(
          query,
          '',
          startBudget(limits, () => ''),
        )
      : undefined
    // Writes ignore a sort, so nobody has checked its names; an aggregate sorts by names that its caller makes up.
    const isSorted = SORTED.has(operation) && (isObject(sort) || isArray(sort)) && !isAggregate(body)
    const keys = isSorted ? parseSort(sort, '') : []
    const index = parsed && indexFor(parsed, indexes())
    return {
      ...(parsed && { query: bounded(printShape(parsed)) }),
      ...(keys.length > 0 && { sort: bounded(keys.map(printKey).join(', ')) }),
      ...(index !== undefined && { index }),
    }
  } catch (error) {
    // bodies of operations that have another form than a find
    if (error instanceof ServiceError) return {}
    throw error
  }
}

const SORTED: ReadonlySet<string> = new Set(['find', 'explain', 'listDocuments'])

/** To parse a longer text again would take longer than the request may. */
const MAX_FILTER = 10_000

function printKey({ field, descending }: { readonly field: Named; readonly descending: boolean }): string {
  return `${withoutPositions(printPath(field.path))}${descending ? ' desc' : ''}`
}

/** The ring holds a fixed number of requests, each of which may have a thousand conditions. */
const MAX_CHARACTERS = 1_000

function bounded(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)}…`
}

/**
 * The index whose first field a condition restricts, as far as declarations tell. The store decides by itself what it
 * uses; explain shows that.
 */
function indexFor(query: Query<Named>, indexes: readonly Index[]): string | undefined {
  const restricted = new Set(conjunctsOf(query).flatMap((term) => restrictedBy(term, indexes)))
  const index = indexes.find(({ fields: [first] }) => restricted.has(withoutElements(first!.field)))
  return index?.fields.map(({ field }) => field).join(', ')
}

function restrictedBy(term: Query<Named>, indexes: readonly Index[]): readonly string[] {
  switch (term.kind) {
    case 'compare':
      return term.op === '$neq' ? [] : [withoutElements(term.field.path)]
    case 'in':
      return term.negated ? [] : [withoutElements(term.field.path)]
    case 'contains':
      return term.op === '$none' ? [] : [withoutElements(term.array.path)]
    case 'elemMatch':
      return conjunctsOf(term.query).flatMap((each) =>
        restrictedBy(each, indexes).map((path) => `${withoutElements(term.array.path)}.${path}`),
      )
    case 'text':
      return indexes
        .filter(({ kind, name }) => kind === 'text' && (term.index ?? name) === name)
        .map(({ fields: [first] }) => withoutElements(first!.field))
    case 'regex':
    case 'compareFields':
    case 'inField':
    case 'related':
    case 'and':
    case 'or':
    case 'not':
      return []
    default:
      return unreachable(term)
  }
}

/** `a.*.b`, `a.3.b` and an element of `a` lead to the same index. */
function withoutElements(path: string): string {
  return path
    .split('.')
    .filter((step) => !/^(?:\*|\$this|[+-]?\d+)$/.test(step))
    .join('.')
}
