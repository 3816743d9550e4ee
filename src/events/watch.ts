/** Extracts the watched part of a document, with the members that are needed only to identify array elements. */
import { type JsonObject, member, sameJson } from '../base/json/json.ts'
import { type Path, parsePath } from '../base/path.ts'
import { compileProjection } from '../lang/evaluate/project.ts'
import type { Projection, ProjectionItem } from '../lang/projection.ts'
import { compileIncludes } from '../lang/resolve/projected-fields.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import { compileStrip } from '../lang/evaluate/strip.ts'
import { type Field, type Fields, isComputed } from '../schema/field.ts'
import { definedPart } from '../schema/known.ts'
import { identityOf } from '../schema/pair-elements.ts'
import { type Schema, allFields } from '../schema/schema.ts'

export interface Watch {
  readonly projectWatched: (document: JsonObject) => JsonObject
  /** Identities of elements that are not watched themselves: they identify elements, and do not count as content. */
  readonly identifiers: ReadonlySet<Field>
  /** False when a comparison of the outermost members shows that the watched part is the same. */
  readonly mayDiffer: (before: JsonObject, after: JsonObject) => boolean
}

/** Without a projection everything is watched, except array sizes and virtual fields, which never are. */
export function compileWatch({ root }: Schema, projection: Projection<FieldRef> | undefined): Watch {
  if (!projection) {
    const projectWatched = (document: JsonObject): JsonObject => definedPart(document, root) as JsonObject
    return { projectWatched, identifiers: NO_FIELDS, mayDiffer: () => true }
  }
  const expanded = withContent(projection, root, 0)
  const isIncluded = compileIncludes(expanded)
  const identifiers = identifiersFor(isIncluded, root.fields)
  const project = compileProjection(withIdentifiers(expanded, [...identifiers], 0), root)
  const strip = compileStrip(root.fields, (field) => isComputed(field) && isIncluded(field))
  const projectWatched = (document: JsonObject): JsonObject => {
    const watched = project(document, '')
    return strip ? strip(watched) : watched
  }
  return { projectWatched, identifiers, mayDiffer: compileMayDiffer(expanded) }
}

/** Compiles a projection without virtual fields: the version of the document is not available here. */
export function compileInclusion(
  { root }: Schema,
  projection: Projection<FieldRef>,
): (document: JsonObject) => JsonObject {
  const project = compileProjection(projection, root)
  const strip = compileStrip(root.fields, (field) => field.kind === 'simple' && field.virtual !== undefined)
  return (document) => (strip ? strip(project(document, '')) : project(document, ''))
}

const NO_FIELDS: ReadonlySet<Field> = new Set()

/** Fast path: most writes change none of the members that a hook names. Not for selections, which may read any member. */
function compileMayDiffer(projection: Projection<FieldRef>): Watch['mayDiffer'] {
  const names = new Set(projection.filter(({ include }) => include).map(({ pattern }) => String(pattern[0])))
  if (names.has('*') || projection.some(({ kind }) => kind !== 'field')) return () => true
  return (before, after) => [...names].some((name) => !sameJson(member(before, name), member(after, name)))
}

/**
 * Makes inclusions recursive: watching an object or array means watching its content. `*` in an object stands for its
 * simple members and its arrays, as in a find.
 */
function withContent(projection: Projection<FieldRef>, root: Field, depth: number): Projection<FieldRef> {
  return projection.flatMap((item): Projection<FieldRef> => {
    if (item.kind !== 'field') {
      const element = elementOf(item.array.field)
      if (!element) return [item]
      return [{ ...item, projection: withContent(item.projection, element, stepsTo(element).length) }]
    }
    if (!item.include || item.recursive) return [item]
    if (item.pattern.at(-1) !== '*') return [{ ...item, recursive: true }]
    const arrays = fieldsAt(root, item.pattern.slice(0, -1)).flatMap(arraysIn)
    return [item, ...arrays.map((field) => inclusionOf(field, depth))]
  })
}

/** The arrays that `*` stands for in an object; in an array, its elements. */
function arraysIn(parent: Field): readonly Field[] {
  if (parent.kind === 'array') return [parent.element]
  return parent.kind === 'object' ? [...parent.fields.values()].filter(({ kind }) => kind === 'array') : []
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

/** Identities of the elements of watched arrays that are not watched themselves. */
function identifiersFor(isIncluded: (field: Field) => boolean, fields: Fields): ReadonlySet<Field> {
  const identifiers = new Set<Field>()
  for (const array of allFields(fields)) {
    if (array.kind !== 'array' || array.element.kind !== 'object') continue
    const { fields: members } = array.element
    const isWatched = [...allFields(members)].some((each) => !isComputed(each) && isIncluded(each))
    if (!isWatched) continue
    for (const name of identityOf(array.element)) {
      const identity = members.get(name)!
      if (!isIncluded(identity)) identifiers.add(identity)
    }
  }
  return identifiers
}

/** Adds identities at the front of each list, where all other items take precedence over them. */
function withIdentifiers(
  projection: Projection<FieldRef>,
  identifiers: readonly Field[],
  depth: number,
): Projection<FieldRef> {
  if (identifiers.length === 0) return projection
  const items = projection.map((item): ProjectionItem<FieldRef> => {
    const element = item.kind === 'field' ? undefined : elementOf(item.array.field)
    if (item.kind === 'field' || !element) return item
    const below = identifiers.filter(({ path }) => path.startsWith(`${element.path}.`))
    return { ...item, projection: withIdentifiers(item.projection, below, stepsTo(element).length) }
  })
  return [...identifiers.map((field) => inclusionOf(field, depth)), ...items]
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
