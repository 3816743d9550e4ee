/** Finds the references that a projection names, and composes the fields of a document with these embedded. */
import { type Path, parsePath } from '../../base/path.ts'
import {
  type Element,
  type Field,
  type Fields,
  type ObjectField,
  type SimpleField,
  isVirtual,
} from '../../schema/field.ts'
import { type JoinedField, type Joins, type ShownField, countOf } from './joins.ts'
import type { ArrayItem, Projection } from '../projection.ts'
import { type Named, type Query, childrenOf, opensScope, ownFieldsOf } from '../query.ts'

/** The start of a projection: `inside` is the reference in whose documents its fields are. */
interface Start {
  readonly joins: Joins
  readonly inside: JoinedField | undefined
}

/** Follows every reference that a pattern names or passes. A `*` matches other fields, but follows no reference. */
export function followProjected(projection: Projection<Named>, fields: Fields, start: Start): void {
  for (const item of projection) {
    if (!item.include && item.kind === 'field') continue
    const named = { path: item.pattern.join('.'), at: item.kind === 'field' ? '/projection' : item.array.at }
    for (const end of followPattern(item.pattern, fields, { ...start, named })) {
      if (item.kind !== 'field') followInElements(item, end, start)
    }
  }
}

/** References that `match` and `sort` of an array item use are needed, even if they are not in the response. */
function followInElements(item: ArrayItem<Named>, { fields, inside }: End, { joins }: Start): void {
  followProjected(item.projection, fields, { joins, inside })
  const names = [...('query' in item ? namesIn(item.query as Query<Named>) : []), ...sortedBy(item)]
  for (const named of names) {
    const steps = parsePath(named.path, named.at)
    // The generator is drained for its effect on `joins`; its ends are not used.
    Array.from(followPattern(steps, fields, { joins, inside, named, isNeeded: true }))
  }
}

function sortedBy({ sort }: ArrayItem<Named>): readonly Named[] {
  return sort.map(({ field }) => field)
}

/** The names in a query; names inside an elemMatch are prefixed by the path of its elements. */
function* namesIn(query: Query<Named>): Generator<Named> {
  const own = ownFieldsOf(query)
  yield* own
  const [array] = opensScope(query) ? own : []
  const prefix = array ? `${array.path}.*.` : ''
  for (const child of childrenOf(query)) {
    for (const { path, at } of namesIn(child)) yield { path: `${prefix}${path}`, at }
  }
}

interface FollowContext extends Start {
  readonly named: Named
  /** Whether the documents are needed even if they are not in the response. */
  readonly isNeeded?: boolean
}

interface End {
  readonly fields: Fields
  readonly inside: JoinedField | undefined
}

/** Yields the element fields of every array at which the pattern ends. */
function* followPattern([step, ...rest]: Path, fields: Fields, from: FollowContext): Generator<End> {
  if (step === undefined) return
  for (const field of step === '*' ? fields.values() : [fields.get(String(step))]) {
    if (field) yield* followField(field, rest, { ...from, isNamed: step !== '*' })
  }
  if (typeof step === 'string' && step.endsWith('#')) followCount(fields.get(step.slice(0, -1)), from)
}

/** The number of documents has no name of its own in a schema, so `*` does not match it. */
function followCount(field: Field | undefined, from: FollowContext): void {
  if (field?.kind !== 'reference') return
  const counted = { ...from, isCounted: true }
  if (from.isNeeded) from.joins.join(field, counted)
  else from.joins.joinIfDefined(field, counted)
}

function* followField(
  field: Field,
  rest: Path,
  from: FollowContext & { readonly isNamed: boolean },
): Generator<End> {
  if (field.kind === 'object') yield* followPattern(rest, field.fields, from)
  if (field.kind === 'array' && field.element.kind === 'object') {
    yield* followElement(rest, field.element.fields, from)
  }
  if (field.kind !== 'reference' || !from.isNamed) return
  // What selects or orders elements must be there; what is only shown may be left out.
  const joined = from.isNeeded ? from.joins.join(field, from) : from.joins.joinIfDefined(field, from)
  if (!joined) return
  yield* followElement(rest, joined.element.fields, { ...from, inside: joined })
}

function* followElement([element, ...rest]: Path, fields: Fields, from: FollowContext): Generator<End> {
  if (element === undefined) yield { fields, inside: from.inside }
  else yield* followPattern(rest, fields, from)
}

/**
 * The fields with each followed reference replaced by an array of its documents, without those that a projection leaves
 * out.
 */
export function composed(root: ObjectField, joins: Joins, inside?: JoinedField): ObjectField {
  const followed = joins.followedIn(inside)
  const leftOut = joins.leftOutOf(inside)
  if (followed.size === 0 && leftOut.size === 0) return root
  const compose = (field: Field): Field => {
    if (field.kind === 'object') return composedObject(field, { compose, leftOut, followed, joins })
    if (field.kind === 'array') return { ...field, element: compose(field.element) as Element }
    const joined = field.kind === 'reference' ? followed.get(field) : undefined
    return joined && joins.isEntered(joined) ? shown(joined, joins) : field
  }
  return composedObject(root, { compose, leftOut, followed, joins })
}

interface Composing {
  readonly compose: (field: Field) => Field
  readonly leftOut: ReadonlySet<Field>
  readonly followed: ReturnType<Joins['followedIn']>
  readonly joins: Joins
}

function composedObject(object: ObjectField, { compose, leftOut, followed, joins }: Composing): ObjectField {
  const kept = [...object.fields].filter(([, field]) => !leftOut.has(field))
  const fields = kept.flatMap(([name, field]): [string, Field][] => {
    const joined = field.kind === 'reference' ? followed.get(field) : undefined
    const own: [string, Field] = [name, compose(field)]
    return joined && joins.isCounted(joined) ? [own, [`${name}#`, numberIn(joined)]] : [own]
  })
  return { ...object, fields: new Map(fields) }
}

/** Embedded numbers are ordinary members. */
function numberIn(joined: JoinedField): SimpleField {
  const { counts: _, ...field } = countOf(joined)
  return field
}

function shown(joined: JoinedField, joins: Joins): ShownField {
  const { name, path, roles, constraints, join } = joined
  const { fields, ...root } = composed(joined.element, joins, joined)
  // Virtual fields are filled when a document is read, so in an embedded document they are ordinary members.
  const filled = [...fields].map(([each, field]): [string, Field] => [
    each,
    isVirtual(field) ? written(field) : field,
  ])
  const element = { ...root, fields: new Map(filled) }
  return { kind: 'array', name, path, roles, constraints, element, shows: join.schema }
}

function written(field: Field): Field {
  const { virtual: _, ...rest } = field as SimpleField
  return rest
}
