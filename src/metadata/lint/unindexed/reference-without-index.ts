/**
 * A reference is resolved by the fields it compares, from either side. Without an index every document is
 * read.
 */
import { type FieldPair, type Query, isFieldPair } from '../../../lang/query.ts'
import { scopesInside } from '../../../lang/resolve/query-walk.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import type { Schema } from '../../../schema/schema.ts'
import type { EntityInfo } from '../../documents/entity-info.ts'
import { servedPaths } from './leading-keys.ts'
import {
  OUTSIDE,
  type PlacedReference,
  type Side,
  type Sides,
  placedReferences,
  sideOf,
} from '../placed-references.ts'
import type { Finding } from '../../finding.ts'
import { type Subject, quoted } from '../subject.ts'

export function* referenceWithoutIndex(subject: Subject): Generator<Finding> {
  for (const schema of subject.schemas) {
    for (const placed of placedReferences(subject, schema)) yield* judged(subject, schema, placed)
  }
}

function* judged(
  { info }: Subject,
  schema: Schema,
  { reference, target, query, at }: PlacedReference,
): Generator<Finding> {
  const found = { severity: 'hint', code: 'reference-without-index', version: schema.version } as const
  const ways = waysIn(query, OUTSIDE)
  const there = unserved(ways, 'target', target)
  if (there.length > 0) {
    const msg =
      `no index of "${reference.entity}" begins with ${quoted(there)}, so to follow "${reference.path}" is to look ` +
      `at all documents of "${reference.entity}"; add one to "indexes" of its entity info`
    yield { ...found, at: `${at}/query`, msg }
  }
  const here = unserved(ways, 'holder', { info, schema })
  if (here.length === 0) return
  const msg =
    `no index of "${info.name}" begins with ${quoted(here)}, so to find documents by what "${reference.path}" leads ` +
    'to is to look at all of them; add one to "indexes" of entity info'
  yield { ...found, at: `${at}/query`, msg }
}

/** The paths of two fields that must be equal for a document to be joined. */
type Pair = Readonly<Record<Side, string>>

/** The first alternative without an index: its fields, one of which should lead an index. */
function unserved(
  ways: readonly (readonly Pair[])[],
  side: Side,
  { info, schema }: { readonly info: EntityInfo; readonly schema: Schema },
): readonly string[] {
  const isServed = servedPaths(info, schema, ({ caseInsensitive }) => !caseInsensitive)
  const way = ways.find((pairs) => pairs.length > 0 && !pairs.some((pair) => isServed(pair[side]))) ?? []
  return [...new Set(way.map((pair) => pair[side]))]
}

/**
 * The alternatives of a query, each with its pairs: an index on any one pair finds the documents of the
 * alternative. Other queries have no pairs.
 */
function waysIn(query: Query<FieldRef>, sides: Sides): readonly (readonly Pair[])[] {
  if (query.kind === 'and') return waysTogether(query.terms.map((term) => waysIn(term, sides)))
  if (query.kind === 'or') return query.terms.flatMap((term) => waysIn(term, sides))
  if (query.kind === 'elemMatch') return waysIn(query.query, scopesInside(query, sides, 'target'))
  return [isFieldPair(query) && isEquality(query) ? pairOf(query, sides) : []]
}

/**
 * A single pair of a conjunction suffices to find its documents; without one, all alternatives of one of its
 * terms do.
 */
function waysTogether(ways: readonly (readonly (readonly Pair[])[])[]): readonly (readonly Pair[])[] {
  const pairs = ways.flatMap((each) => (each.length === 1 ? each[0]! : []))
  return pairs.length > 0 ? [pairs] : (ways.find((each) => each.length > 1) ?? [[]])
}

function isEquality(query: FieldPair<FieldRef>): boolean {
  if (query.kind === 'inField') return !query.negated
  const isOfValues = query.field.field.kind === 'simple' && query.rfield.field.kind === 'simple'
  return query.kind === 'compareFields' && query.op === '$eq' && isOfValues
}

/** Empty when both fields are on one side. */
function pairOf(
  { field, rfield }: { readonly field: FieldRef; readonly rfield: FieldRef },
  sides: Sides,
): readonly Pair[] {
  const [left, right] = [sideOf(field, sides), sideOf(rfield, sides)]
  if (left === right) return []
  const [target, holder] = left === 'target' ? [field, rfield] : [rfield, field]
  return [{ target: target.field.path, holder: holder.field.path }]
}
