/**
 * Resolves aggregations: paths become fields of the rows that the arrays and references on their way make, and names of
 * the result become fields of a row of the result.
 */
import { ServiceError } from '../../base/errors.ts'
import type { Step } from '../../base/path.ts'
import { type ObjectField, type SimpleField, isVirtual } from '../../schema/field.ts'
import { TYPES, type ValueType } from '../../schema/types.ts'
import type { Aggregation, GroupKey, GroupValue, ResultKind } from '../aggregate.ts'
import { invalid } from '../parse/parse-aggregate.ts'
import type { Named, Query } from '../query.ts'
import type { SortKey } from '../sort.ts'
import { isCount, isJoined } from './joins.ts'
import { documentsLink } from './resolve-joined.ts'
import { resolveQuery, resolveSort } from './resolve.ts'
import { type DocumentsLink, type FieldRef, type Scope, type Waypoint, trailOf } from './scope.ts'

/**
 * A resolved aggregation. Each link of the chain opens a scope: the elements of an array, or the documents of a
 * reference. The innermost elements are the rows, and `up` of the fields counts from them. No path contains `*`.
 */
export interface ResolvedAggregation {
  readonly keys: readonly GroupKey<RowField>[]
  readonly values: readonly GroupValue<RowField>[]
  readonly having?: Query<FieldRef>
  readonly sort: readonly SortKey<FieldRef>[]
  readonly chain: readonly Link[]
  /** The fields of a result, keys first, which `having` and `sort` speak of. */
  readonly results: readonly ResultField[]
}

export type Link =
  | {
      readonly kind: 'elements'
      /** From the scope outside to the array. */
      readonly steps: readonly Step[]
      readonly isMixed: boolean
    }
  | DocumentsLink

export interface ResultField extends FieldRef {
  readonly kind: ResultKind
}

/** A value of each row. */
export interface RowField extends FieldRef {
  readonly field: SimpleField
}

/** `scope` is the root of the documents. */
export function resolveAggregation(
  { keys, values, having, sort }: Aggregation<Named>,
  scope: Scope & { readonly here: ObjectField },
): ResolvedAggregation {
  const named = [...keys, ...values].flatMap((each) => ('field' in each ? [each.field] : []))
  const paths = new Map(named.map((each) => [each, pathOf(each, scope)]))
  const chain = longestOf([...paths.values()])
  const rowField = (each: Named): RowField => {
    const { links, steps, field } = paths.get(each)!
    return { path: each.path, up: chain.length - links.length, steps, field: comparable(field, each) }
  }
  const own = {
    keys: keys.map((key) => resolveKey(key, rowField(key.field))),
    values: values.map((value) => ('field' in value ? resolveValue(value, rowField(value.field)) : value)),
  }
  const results = [...own.keys.map(resultOfKey), ...own.values.map(resultOfValue)]
  const inResult = resultScope(results, scope.here)
  return {
    ...own,
    chain: chain.map(({ link }) => link),
    results,
    ...(having && { having: resolveQuery(having, inResult) }),
    sort: resolveSort(sort, inResult),
  }
}

interface RowPath {
  /** The arrays and references on the way, outermost first. */
  readonly links: readonly KeyedLink[]
  /** The rest of the path, inside of the innermost. */
  readonly steps: readonly Step[]
  readonly field: Waypoint['field']
}

/** `key` is equal for the same array or reference in two paths. */
interface KeyedLink {
  readonly key: string
  readonly link: Link
  readonly named: Named
}

function pathOf(named: Named, scope: Scope & { readonly here: ObjectField }): RowPath {
  const trail = trailOf(named, scope)
  const links: KeyedLink[] = []
  let inside: Waypoint[] = []
  /** Where the path enters the document that it is in. */
  let entry = 0
  for (const [i, waypoint] of trail.entries()) {
    const array = trail[i - 1]?.field
    if (array && isJoined(array) && waypoint.step !== '*') {
      throw invalid(`"${named.path}" needs "*" after the reference "${array.name}"`, named.at)
    }
    if (waypoint.step !== '*') {
      inside.push(waypoint)
      continue
    }
    const key = JSON.stringify(trail.slice(0, i).map(({ step }) => step))
    const way = { inside, inDocument: trail.slice(entry, i) }
    const link = linkTo(way, named, scope.here)
    links.push({ key, link, named })
    inside = []
    if (link.kind === 'documents') entry = i + 1
  }
  const field = trail.at(-1)?.field ?? scope.here
  return { links, steps: inside.map(({ step }) => step), field }
}

interface Way {
  /** From the scope outside. */
  readonly inside: readonly Waypoint[]
  /** From the root of the document. */
  readonly inDocument: readonly Waypoint[]
}

/** The link through the array or reference at the end of the way. */
function linkTo({ inside, inDocument }: Way, { path }: Named, root: ObjectField): Link {
  const steps = inside.map(({ step }) => step)
  const { field } = inside.at(-1)!
  if (!isJoined(field)) return { kind: 'elements', steps, isMixed: field.isMixed === true }
  const pathInDocument = inDocument.map(({ step }) => step).join('.')
  return documentsLink({ path, up: 0, steps, field }, { root, path: pathInDocument }, resolveQuery)
}

/** The chain on which all paths lie. */
function longestOf(paths: readonly RowPath[]): readonly KeyedLink[] {
  const longest = paths.reduce<readonly KeyedLink[]>(
    (chain, { links }) => (links.length > chain.length ? links : chain),
    [],
  )
  for (const { links } of paths) {
    const stray = links.find(({ key }, i) => key !== longest[i]!.key)
    if (!stray) continue
    const message = `"${stray.named.path}" and "${longest[0]!.named.path}" lead into different arrays; the paths with "*" of one request must lie on one chain of arrays`
    throw invalid(message, stray.named.at)
  }
  if (longest.length > MAX_LINKS) {
    throw new ServiceError('crud:LimitExceeded', `paths may lead through at most ${MAX_LINKS} arrays`, {
      at: longest[0]!.named.at,
    })
  }
  return longest
}

const MAX_LINKS = 10

function comparable(field: Waypoint['field'], { path, at }: Named): SimpleField {
  if (isCount(field)) {
    throw invalid(
      `"${path}" counts documents of a reference; group by the reference ("*") and use "$count"`,
      at,
    )
  }
  if (isVirtual(field))
    throw invalid(`"${path}" is filled when a document is read, so it cannot be aggregated`, at)
  if (field.kind === 'simple' && field.type.family !== undefined) return field
  if (field.kind === 'array')
    throw invalid(`"${path}" is an array; aggregate its elements, such as "${path}.*"`, at)
  const what = field.kind === 'simple' ? `of type ${field.type.name}` : `an ${field.kind}`
  throw invalid(
    `"${path}" is ${what}, whose values cannot be compared; name a field with a comparable type`,
    at,
  )
}

function resolveKey(
  { name, field: { path, at }, truncate }: GroupKey<Named>,
  field: RowField,
): GroupKey<RowField> {
  if (!truncate) return { name, field }
  if (field.field.type.name === 'date') return { name, field, truncate }
  throw invalid(`"${path}" is of type ${field.field.type.name}; only a date has periods to truncate to`, at)
}

function resolveValue(
  { name, op, field: { path, at } }: Extract<GroupValue<Named>, { readonly field: Named }>,
  field: RowField,
): GroupValue<RowField> {
  const isNumeric = op === '$sum' || op === '$avg'
  if (!isNumeric || field.field.type.family === 'number') return { name, op, field }
  throw invalid(`"${path}" is of type ${field.field.type.name}; "${op}" needs a number`, at)
}

function resultOfKey({ name, field }: GroupKey<RowField>): ResultField {
  return resultField(name, resultKindOf(field.field), field.field.type)
}

function resultOfValue(value: GroupValue<RowField>): ResultField {
  if (value.op === '$count' || value.op === '$distinct')
    return resultField(value.name, 'count', TYPES.integer)
  const { field } = value.field
  return resultField(value.name, resultKindOf(field), field.type)
}

function resultKindOf({ type }: SimpleField): ResultKind {
  if (type.family === 'number') return type.name === 'double' ? 'double' : 'exact'
  return type.family === 'boolean' ? 'boolean' : 'text'
}

/** All exact numbers are compared as decimals: a sum of integers may be larger than any of them. */
function resultField(name: string, kind: ResultKind, type: ValueType): ResultField {
  const field: SimpleField = {
    kind: 'simple',
    name,
    path: name,
    roles: { find: [], insert: [], update: [] },
    constraints: {},
    type: kind === 'exact' ? TYPES.bigdecimal : type,
  }
  return { path: name, up: 0, steps: [name], field, kind }
}

function resultScope(results: readonly ResultField[], here: ObjectField): Scope {
  const byName = new Map(results.map((each) => [each.path, each]))
  const known = results.map(({ path }) => `"${path}"`).join(', ')
  return {
    here,
    result: ({ path, at }) => {
      const found = byName.get(path)
      if (found) return found
      throw invalid(`the result has no member "${path}"; it has ${known}`, at)
    },
  }
}
