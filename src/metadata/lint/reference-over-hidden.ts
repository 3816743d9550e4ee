/** Who may not read what a reference compares or sorts by must not learn of it, so for them nothing is joined. */
import { pointer } from '../../base/json.ts'
import { namedRoles } from '../../schema/named-roles.ts'
import type { Schema } from '../../schema/schema.ts'
import { type PlacedReference, type Side, placedReferences, sidedFields } from './placed-references.ts'
import { type Finding, type Subject, listed, reachTo } from './subject.ts'

export function* referenceOverHidden(subject: Subject): Generator<Finding> {
  for (const schema of subject.schemas) {
    for (const placed of placedReferences(subject, schema)) {
      const { query, sort, at } = placed
      const bySort = sort.map(({ field }) => ({ side: 'target' as const, field: field.field }))
      yield* judged(subject, placed, { schema, asked: [...sidedFields(query)], at: pointer(at, 'query') })
      yield* judged(subject, placed, { schema, asked: bySort, at: pointer(at, 'sort') })
    }
  }
}

interface Asked {
  readonly schema: Schema
  readonly asked: readonly { readonly side: Side; readonly field: { readonly path: string } }[]
  readonly at: string
}

function* judged(
  subject: Subject,
  { reference, target }: PlacedReference,
  { schema, asked, at }: Asked,
): Generator<Finding> {
  if (asked.length === 0) return
  const owners = { holder: schema, target: target.schema }
  const isHidden = (role: string, { side, field }: Asked['asked'][number]): boolean =>
    field.path !== '' && reachTo(subject, owners[side], [role, 'find', field.path]) === 'no'
  // Whoever is kept from the whole of the other entity is so on purpose.
  const readers = namedRoles([...subject.schemas, target.schema]).filter(
    (role) =>
      reachTo(subject, schema, [role, 'find', reference.path]) !== 'no' &&
      reachTo(subject, target.schema, [role, 'find']) !== 'no',
  )
  const hidden = asked.filter((each) => readers.some((role) => isHidden(role, each)))
  if (hidden.length === 0) return
  const blind = readers.filter((role) => hidden.some((each) => isHidden(role, each)))
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
