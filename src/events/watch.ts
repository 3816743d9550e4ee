/** What a hook watches of a document, and which members are there only to tell the elements of arrays apart. */
import { type JsonObject, member, sameJson } from '../base/json/json.ts'
import { type Path, parsePath } from '../base/path.ts'
import { compileProjection } from '../lang/evaluate/project.ts'
import type { Projection, ProjectionItem } from '../lang/projection.ts'
import { includes } from '../lang/resolve/projected-fields.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import { compileStrip } from '../lang/evaluate/strip.ts'
import { type Field, type Fields, isComputed } from '../schema/field.ts'
import { definedPart } from '../schema/known.ts'
import { identityOf } from '../schema/pair-elements.ts'
import { type Schema, allFields } from '../schema/schema.ts'

export interface Watch {
  readonly watchedOf: (document: JsonObject) => JsonObject
  /** Identities of elements that nobody asked to watch: they say which element is which, and are no content. */
  readonly marks: ReadonlySet<Field>
  /** False where a look at the outermost members tells that nothing watched can differ. */
  readonly mayDiffer: (before: JsonObject, after: JsonObject) => boolean
}

/** Without a projection everything is watched. Sizes of arrays and virtual fields never are. */
export function compileWatch({ root }: Schema, projection: Projection<FieldRef> | undefined): Watch {
  if (!projection) {
    const watchedOf = (document: JsonObject): JsonObject => definedPart(document, root) as JsonObject
    return { watchedOf, marks: NOTHING, mayDiffer: () => true }
  }
  const whole = watchingContent(projection, root, 0)
  const marks = marksFor(whole, root.fields)
  const project = compileProjection(withMarks(whole, [...marks], 0), root)
  const strip = compileStrip(root.fields, (field) => isComputed(field) && includes(whole, field))
  const watchedOf = (document: JsonObject): JsonObject => {
    const watched = project(document, '')
    return strip ? strip(watched) : watched
  }
  return { watchedOf, marks, mayDiffer: watchedMembers(whole) }
}

/** What a projection lets out of a document; the version of the document is not known here, so it is left out. */
export function compileInclusion(
  { root }: Schema,
  projection: Projection<FieldRef>,
): (document: JsonObject) => JsonObject {
  const project = compileProjection(projection, root)
  const strip = compileStrip(root.fields, (field) => field.kind === 'simple' && field.virtual !== undefined)
  return (document) => (strip ? strip(project(document, '')) : project(document, ''))
}

const NOTHING: ReadonlySet<Field> = new Set()

/** Most writes change none of the few members that a hook names. What chooses elements may look at any member. */
function watchedMembers(projection: Projection<FieldRef>): Watch['mayDiffer'] {
  const names = new Set(projection.filter(({ include }) => include).map(({ pattern }) => String(pattern[0])))
  if (names.has('*') || projection.some(({ kind }) => kind !== 'field')) return () => true
  return (before, after) => [...names].some((name) => !sameJson(member(before, name), member(after, name)))
}

/**
 * To watch a field is to watch what it holds, also where a projection would show only its outside. `*` among the
 * members of an object stands for its simple members and its arrays, as it does in a find.
 */
function watchingContent(projection: Projection<FieldRef>, root: Field, depth: number): Projection<FieldRef> {
  return projection.flatMap((item): Projection<FieldRef> => {
    if (item.kind !== 'field') {
      const inside = elementOf(item.array.field)
      if (!inside) return [item]
      return [{ ...item, projection: watchingContent(item.projection, inside, stepsTo(inside).length) }]
    }
    if (!item.include || item.recursive) return [item]
    if (item.pattern.at(-1) !== '*') return [{ ...item, recursive: true }]
    const arrays = fieldsAt(root, item.pattern.slice(0, -1)).flatMap(arraysIn)
    return [item, ...arrays.map((field) => inclusionOf(field, depth))]
  })
}

/** The arrays that `*` stands for inside of this; the elements, where it stands for those. */
function arraysIn(holder: Field): readonly Field[] {
  if (holder.kind === 'array') return [holder.element]
  return holder.kind === 'object' ? [...holder.fields.values()].filter(({ kind }) => kind === 'array') : []
}

function fieldsAt(root: Field, pattern: Path): readonly Field[] {
  return pattern.reduce<readonly Field[]>(
    (fields, step) => fields.flatMap((field) => stepInto(field, step)),
    [root],
  )
}

function stepInto(field: Field, step: Path[number]): readonly Field[] {
  if (field.kind === 'array') return step === '*' || typeof step === 'number' ? [field.element] : []
  if (field.kind !== 'object') return []
  if (step === '*') return [...field.fields.values()]
  const member = field.fields.get(String(step))
  return member ? [member] : []
}

/** Identities of the elements of watched arrays, where they are not watched themselves. */
function marksFor(projection: Projection<FieldRef>, fields: Fields): ReadonlySet<Field> {
  const marks = new Set<Field>()
  for (const array of allFields(fields)) {
    if (array.kind !== 'array' || array.element.kind !== 'object') continue
    const { fields: members } = array.element
    const isWatched = [...allFields(members)].some((each) => !isComputed(each) && includes(projection, each))
    if (!isWatched) continue
    for (const name of identityOf(array.element)) {
      const identity = members.get(name)!
      if (!includes(projection, identity)) marks.add(identity)
    }
  }
  return marks
}

/** At the front of each list, where everything else that the list says goes before it. */
function withMarks(
  projection: Projection<FieldRef>,
  marks: readonly Field[],
  depth: number,
): Projection<FieldRef> {
  if (marks.length === 0) return projection
  const items = projection.map((item): ProjectionItem<FieldRef> => {
    const inside = item.kind === 'field' ? undefined : elementOf(item.array.field)
    if (item.kind === 'field' || !inside) return item
    const below = marks.filter(({ path }) => path.startsWith(`${inside.path}.`))
    return { ...item, projection: withMarks(item.projection, below, stepsTo(inside).length) }
  })
  return [...marks.map((field) => inclusionOf(field, depth)), ...items]
}

function inclusionOf(field: Field, depth: number): ProjectionItem<never> {
  return { kind: 'field', pattern: stepsTo(field).slice(depth), include: true, recursive: true }
}

function elementOf(field: Field): Field | undefined {
  return field.kind === 'array' ? field.element : undefined
}

function stepsTo({ path }: Field): Path {
  return parsePath(path, '')
}
