/** Resolves the references that a request follows: which documents each of them joins, and in which order. */
import { type Path, parsePath } from '../../base/path.ts'
import type { ObjectField } from '../../schema/field.ts'
import type { JoinedField, Joins } from './joins.ts'
import type { Projection } from '../projection.ts'
import type { Query } from '../query.ts'
import { commonDepth } from './projected-fields.ts'
import { resolveProjection, resolveQuery, resolveSort } from './resolve.ts'
import { type FieldRef, joinedScope, rootScope } from './scope.ts'
import type { SortKey } from '../sort.ts'

export interface Followed {
  readonly field: JoinedField
  /** Whether only the number of the documents is embedded. */
  readonly isCount?: true
  /** From the document that contains the reference to the reference; `*` stands for every element of an array. */
  readonly steps: Path
  /** Selects the joined documents. Its outer scopes: one for every `*` of the steps, then the containing document. */
  readonly query: Query<FieldRef>
  readonly sort: readonly SortKey<FieldRef>[]
  /** The projection in the definition of the reference, which limits what is embedded. */
  readonly projection?: Projection<FieldRef>
  /** The references that are followed inside these documents. */
  readonly followed: readonly Followed[]
}

interface Place {
  readonly root: ObjectField
  readonly inside?: JoinedField
  /** The path of these documents in the requested document. */
  readonly path: Path
}

/** The references that a projection includes or needs. */
export function followedFor(projection: Projection<FieldRef>, joins: Joins, root: ObjectField) {
  return followedAt({ root, path: [] }, joins, projection)
}

function followedAt(place: Place, joins: Joins, shown: Projection<FieldRef>): readonly Followed[] {
  return [...joins.followedIn(place.inside).values()].flatMap((field) => {
    const steps = parsePath(field.path, '')
    const path = [...place.path, ...steps, '*']
    const { schema, query, sort, projection } = field.join
    joins.repeat(field)
    const selected = { field, steps, query: resolveQuery(query, joinedScope(field, place.root)) }
    const counted = joins.isCounted(field)
      ? [{ ...selected, isCount: true, sort: [], followed: [] } as const]
      : []
    if (!joins.isEntered(field) || (!mayShow(shown, path) && !joins.isNeeded(field))) return counted
    const own = rootScope(schema)
    const documents = {
      ...selected,
      sort: resolveSort(sort, own),
      ...(projection && { projection: resolveProjection(projection, own) }),
      followed: followedAt({ root: schema.root, inside: field, path }, joins, shown),
    }
    return [documents, ...counted]
  })
}

/** Whether the projection may include a part of the documents at the path. In doubt true: it only costs a read. */
function mayShow(projection: Projection<FieldRef>, path: Path): boolean {
  /** So many steps of the path are included by later items, whatever earlier ones exclude. */
  let included = 0
  for (const item of projection.toReversed()) {
    const { length } = item.pattern
    const depth = commonDepth(item.pattern, path)
    if (depth === Math.min(length, path.length)) {
      if (item.kind !== 'field') return true
      const isWithin = length >= path.length
      if (item.include && (item.recursive || isWithin)) return true
      const excludesAll = !item.include && item.pattern.every((step) => typeof step === 'string')
      if (excludesAll && !isWithin && included < length) return false
    }
    // An item that includes a field includes its ancestors.
    if (item.kind === 'field' && item.include) included = Math.max(included, depth)
  }
  return false
}
