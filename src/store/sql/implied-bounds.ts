/**
 * Bounds that an `or` implies: if each alternative bounds a field on the same side, as in `a < 5 or (a = 5 and b > 7)`, the
 * loosest of these bounds holds for all matches. With it an index finds the beginning of a page that a client describes
 * by the values of the last document; engines find it by no `or`.
 */
import { memoized } from '../../base/memo.ts'
import { spend } from '../../base/work/work.ts'
import type { Operand } from '../../lang/operand.ts'
import type { CompareOp } from '../../lang/operators.ts'
import type { Query } from '../../lang/query.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'

/** `max` is an upper bound, `min` a lower one. */
type Side = 'max' | 'min'

export interface ImpliedBound {
  readonly field: FieldRef
  readonly side: Side
  /** The bound is the loosest of these, and includes it. None is null. */
  readonly values: readonly Operand[]
}

interface Bound extends ImpliedBound {
  /** Whether all of its values are those of equalities, which engines look up one by one. */
  readonly isEquality: boolean
}

/** By side and path. */
type Bounds = ReadonlyMap<string, Bound>

const NONE: Bounds = new Map()

/** Functions of SQLite have a limited number of arguments, and few alternatives have a bound in common. */
const MAX_VALUES = 8

/**
 * Finds the bounds of an `or`. The same function is for all parts of a query: it remembers what it found for those inside.
 * `ordered` are the paths whose values an index has in their order; `_id` always is one.
 */
export function impliedBoundsBy(
  ordered: ReadonlySet<string>,
): (query: Query<FieldRef>) => readonly ImpliedBound[] {
  const boundsIn = memoized((query: Query<FieldRef>): Bounds => {
    if (query.kind === 'compare') {
      const { path } = query.field.field
      return ordered.has(path) || path === '_id' ? comparisonBounds(query) : NONE
    }
    if (query.kind === 'and') return allOf(query.terms.map(boundsIn))
    if (query.kind !== 'or' || query.terms.length > MAX_VALUES) return NONE
    return commonOf(query.terms.map(boundsIn))
  })
  return (query) => {
    if (query.kind !== 'or' || query.terms.length < 2) return []
    const bounds = [...boundsIn(query).values()].filter(({ isEquality }) => !isEquality)
    const others = bounds.filter(({ field }) => field.field.path !== '_id')
    // Every table has an index on `_id`, which hardly ever narrows as much as one that was declared.
    return others.length > 0 ? others : bounds
  }
}

function comparisonBounds({ field, op, value }: Query<FieldRef> & { readonly kind: 'compare' }): Bounds {
  const isPlain = field.up === 0 && !field.steps.some((step) => typeof step === 'number' || step === '*')
  if (!isPlain || value === null) return NONE
  const isEquality = op === '$eq'
  return new Map(
    SIDES[op].map((side) => [`${side} ${field.field.path}`, { field, side, values: [value], isEquality }]),
  )
}

const SIDES: Readonly<Record<CompareOp, readonly Side[]>> = {
  $eq: ['max', 'min'],
  $neq: [],
  $lt: ['max'],
  $lte: ['max'],
  $gt: ['min'],
  $gte: ['min'],
}

/** Of several bounds on the same side any one holds. */
function allOf(terms: readonly Bounds[]): Bounds {
  const found = terms.filter(({ size }) => size > 0)
  if (found.length < 2) return found[0] ?? NONE
  spend(found.reduce((sum, { size }) => sum + size, 0))
  return new Map(found.toReversed().flatMap((bounds) => [...bounds]))
}

/** What all alternatives bound on the same side. */
function commonOf([first = NONE, ...others]: readonly Bounds[]): Bounds {
  if (others.some(({ size }) => size === 0)) return NONE
  spend(first.size * (others.length + 1))
  const common = new Map<string, Bound>()
  for (const [key, bound] of first) {
    const alternatives = [bound, ...others.flatMap((each) => each.get(key) ?? [])]
    const values = alternatives.flatMap((each) => each.values)
    if (alternatives.length <= others.length || values.length > MAX_VALUES) continue
    common.set(key, { ...bound, values, isEquality: alternatives.every(({ isEquality }) => isEquality) })
  }
  return common
}
