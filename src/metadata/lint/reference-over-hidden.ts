/**
 * A join over a hidden field would reveal it, so a caller who may not read a field of the query or sort gets
 * no joined documents.
 */
import { pointer } from '../../base/json/json.ts'
import { memoized } from '../../base/memo.ts'
import type { Field } from '../../schema/field.ts'
import { NO, type Ranks, type Reaches } from '../../schema/reach.ts'
import type { Schema } from '../../schema/schema.ts'
import { type PlacedReference, type Side, placedReferences, sidedFields } from './placed-references.ts'
import type { Finding } from '../finding.ts'
import { type Subject, listed, rolesOf } from './subject.ts'

export function* referenceOverHidden(subject: Subject): Generator<Finding> {
  const reachesWith = memoized((target: Schema) => subject.access.reachesIn([...subject.schemas, target]))
  for (const schema of subject.schemas) {
    for (const placed of placedReferences(subject, schema)) {
      const { query, sort, at } = placed
      const bySort = sort.map(({ field }) => ({ side: 'target' as const, field: field.field }))
      yield* judged(reachesWith(placed.target.schema), placed, {
        schema,
        fields: [...sidedFields(query)],
        at: pointer(at, 'query'),
      })
      yield* judged(reachesWith(placed.target.schema), placed, {
        schema,
        fields: bySort,
        at: pointer(at, 'sort'),
      })
    }
  }
}

interface JoinPart {
  readonly schema: Schema
  readonly fields: readonly { readonly side: Side; readonly field: Field }[]
  readonly at: string
}

function* judged(
  reaches: Reaches,
  { reference, target }: PlacedReference,
  { schema, fields, at }: JoinPart,
): Generator<Finding> {
  const named = fields.filter(({ field }) => field.path !== '')
  if (named.length === 0) return
  const owners = { holder: schema, target: target.schema }
  // Callers without access to the other entity as a whole are not reported: that is intended.
  const own = reaches.ranks(schema, 'find', reference)
  const documents = reaches.ranks(target.schema, 'find')
  const isHidden = (find: Ranks, index: number): boolean =>
    own[index] !== NO && documents[index] !== NO && find[index] === NO
  const findOf = ({ side, field }: JoinPart['fields'][number]): Ranks =>
    reaches.ranks(owners[side], 'find', field)
  const hidesSome = memoized((find: Ranks) => find.some((_, index) => isHidden(find, index)))
  const hidden = named.filter((each) => hidesSome(findOf(each)))
  if (hidden.length === 0) return
  const finds = [...new Set(hidden.map(findOf))]
  const blind = rolesOf(reaches, (index) => finds.some((find) => isHidden(find, index)))
  const names = new Set(hidden.map(({ side, field }) => `"${field.path}" of "${owners[side].entity}"`))
  yield {
    severity: 'warning',
    code: 'reference-over-hidden',
    at,
    version: schema.version,
    msg:
      `"${reference.path}" asks about ${[...names].join(', ')}, which ${listed(blind)} may not read: for them it is ` +
      'empty; let them read it, ask about another field, or keep the reference from them by its list "find"',
  }
}
