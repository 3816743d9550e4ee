/**
 * Compiles projections to closures. The walk over a document tracks for every item how many steps of its pattern the
 * current path has matched. At each value the last item with an opinion decides.
 */
import { type Json, type JsonObject, isArray, isObject } from '../../base/json/json.ts'
import { memoized } from '../../base/memo.ts'
import type { Path } from '../../base/path.ts'
import { spend } from '../../base/work/work.ts'
import type { Field, Fields, ObjectField } from '../../schema/field.ts'
import { isOfOtherVersion } from '../../schema/kind.ts'
import { shownNames } from '../../schema/member-order.ts'
import { isShown } from '../resolve/joins.ts'
import type { Seen } from './candidates.ts'
import { compileQuery } from './match.ts'
import { compileSort } from './order.ts'
import type { Projection, ProjectionItem } from '../projection.ts'
import type { FieldRef } from '../resolve/scope.ts'

/** Returns the included members. The document version fills virtual fields. */
type Projector = (document: JsonObject, documentVersion: string, tracing?: Tracing) => JsonObject

/** Maps the objects of the result to their sources, so that embedding can add members to them afterwards. */
export interface Tracing {
  /** Filled by the projector: object of the result → source object. */
  readonly origins: Map<JsonObject, JsonObject>
  /** Source objects that the result includes even if none of their members is included. */
  readonly kept: { readonly has: (object: JsonObject) => boolean }
}

export function compileProjection(projection: Projection<FieldRef>, root: ObjectField): Projector {
  spend(projection.length)
  const items = projection.map(compileItem)
  return (document, documentVersion, tracing) => {
    const start = { seen: { value: document }, depth: 0 }
    const actives = items.map((item): Active => ({ item, matched: 0, start }))
    const walk: Walk = { trail: [document], documentVersion, ...(tracing && { tracing }) }
    return projectObject(document, root, actives, walk)
  }
}

interface CompiledItem {
  readonly pattern: Path
  readonly include: boolean
  readonly recursive: boolean
  /** The positions that an array projection selects, in output order. */
  readonly select?: (elements: readonly Json[], seen: Seen) => Selection
  readonly nested: readonly CompiledItem[]
}

interface Selection {
  readonly order: readonly number[]
  readonly isSelected: (position: number) => boolean
}

/**
 * The state of an item on the current path. `matched` is the number of matched steps of its pattern, and one more than
 * the pattern has if the path is below the end of the pattern.
 */
interface Active {
  readonly item: CompiledItem
  readonly matched: number
  /** The start of the pattern: the document, or an element for items of a nested projection. */
  readonly start: { readonly seen: Seen; readonly depth: number }
}

interface Walk {
  /** The values on the current path, from the document down. */
  readonly trail: Json[]
  readonly documentVersion: string
  readonly tracing?: Tracing
}

type Opinion = 'include' | 'exclude' | undefined

/** `free`: a value below a field of type `any`, which has no definition. */
type Definition = Field | 'free'

function compileItem(item: ProjectionItem<FieldRef>): CompiledItem {
  const { pattern, include } = item
  if (item.kind === 'field') return compiledPattern(item)
  const nested = item.projection.map(compileItem)
  return { pattern, include, recursive: false, nested, select: compileSelection(item) }
}

/** Projections that exclude the same hidden fields share the items for them, of which there can be thousands. */
const compiledPattern = memoized(
  ({ pattern, include, recursive }: ProjectionItem<FieldRef> & { kind: 'field' }): CompiledItem => {
    return { pattern, include, recursive, nested: [] }
  },
)

function compileSelection(item: Exclude<ProjectionItem<FieldRef>, { kind: 'field' }>) {
  const inOrder = compileSort(item.sort)
  const matches = item.kind === 'match' ? compileQuery(item.query) : undefined
  return (elements: readonly Json[], outer: Seen): Selection => {
    spend(elements.length)
    const seen = (position: number): Seen => ({ value: elements[position], outer })
    const positions = [...elements.keys()]
    const order = item.sort.length > 0 ? inOrder(positions.map(seen)) : positions
    if (matches) return { order, isSelected: (position) => matches(seen(position)) === item.include }
    const { from, to = Infinity } = item as { from: number; to?: number }
    const inRange = new Set(order.slice(from, to < from ? from : to + 1))
    return { order, isSelected: (position) => inRange.has(position) === item.include }
  }
}

function projectObject(
  source: JsonObject,
  object: ObjectField | 'free',
  actives: readonly Active[],
  walk: Walk,
): JsonObject {
  const result: Record<string, Json> = {}
  walk.tracing?.origins.set(result, source)
  const fields = object === 'free' ? object : object.fields
  const names = object === 'free' ? Object.keys(source) : shownNames(source, object.shownOrder)
  spend(names.length)
  for (const name of names) {
    const value = source[name]!
    const field = definitionOf(name, value, fields)
    if (field === undefined) continue
    const projected = projectMember(value, field, advance(actives, name), walk)
    if (projected !== undefined) result[name] = projected
  }
  if (fields !== 'free') addVirtuals(result, fields, actives, walk)
  return result
}

/** Undefined for members of other versions, and for references and virtual fields, which are never stored. */
function definitionOf(name: string, value: Json, fields: Fields | 'free'): Definition | undefined {
  if (fields === 'free') return 'free'
  const field = fields.get(name)
  return field !== undefined && !isOfOtherVersion(value, field) ? field : undefined
}

function addVirtuals(
  result: Record<string, Json>,
  fields: Fields,
  actives: readonly Active[],
  walk: Walk,
): void {
  for (const field of fields.values()) {
    if (field.kind !== 'simple' || field.virtual === undefined) continue
    const { documentVersion } = walk
    const value = field.virtual === 'documentVersion' ? documentVersion : { documentVersion }
    const projected = projectMember(value, field, advance(actives, field.name), walk)
    if (projected !== undefined) result[field.name] = projected
  }
}

function projectMember(
  value: Json,
  field: Definition,
  actives: readonly Active[],
  walk: Walk,
): Json | undefined {
  return projectBy(opinionOf(actives), value, field, { actives, walk })
}

function projectBy(
  opinion: Opinion,
  value: Json,
  field: Definition,
  { actives, walk }: { readonly actives: readonly Active[]; readonly walk: Walk },
): Json | undefined {
  if (opinion === 'exclude') return undefined
  if (!(isArray(value) || isObject(value))) return opinion === 'include' ? value : undefined
  const isEmpty = isArray(value) ? value.length === 0 : !hasVisibleMembers(value, fieldsOf(field))
  // A reference without documents is left out.
  if (isEmpty && field !== 'free' && isShown(field)) return undefined
  if (isEmpty) return opinion === 'include' ? emptied(value, walk) : undefined
  walk.trail.push(value)
  const projected = isArray(value)
    ? projectArray(value, elementOf(field), actives, walk)
    : projectObject(value, objectOf(field), actives, walk)
  walk.trail.pop()
  const isNothing = isArray(projected) ? projected.length === 0 : Object.keys(projected).length === 0
  if (!isNothing) return projected
  const isKept = isObject(value) && (walk.tracing?.kept.has(value) || !storesMembers(value, fieldsOf(field)))
  return opinion === 'include' && isKept ? projected : undefined
}

function emptied(value: JsonObject | readonly Json[], { tracing }: Walk): Json {
  if (isArray(value)) return value
  const result = {}
  tracing?.origins.set(result, value)
  return result
}

/** An object that has only members of other versions counts as empty. */
function hasVisibleMembers(source: JsonObject, fields: Fields | 'free'): boolean {
  return Object.keys(source).some((name) => definitionOf(name, source[name]!, fields) !== undefined)
}

/** An object that has only the documents of references is stored empty. */
function storesMembers(source: JsonObject, fields: Fields | 'free'): boolean {
  return Object.keys(source).some((name) => {
    const field = definitionOf(name, source[name]!, fields)
    return field === 'free' || (field !== undefined && !isShown(field))
  })
}

function projectArray(
  elements: readonly Json[],
  element: Definition,
  actives: readonly Active[],
  walk: Walk,
): readonly Json[] {
  const governing = actives.findLast(({ item, matched }) => item.select && matched === item.pattern.length)
  const selection = governing?.item.select!(elements, scopeOf(governing, walk))
  const result: Json[] = []
  for (const position of selection?.order ?? elements.keys()) {
    const value = elements[position]!
    if (element !== 'free' && isOfOtherVersion(value, element)) continue
    const inside = advance(actives, position, elements.length)
    const projected = governing
      ? projectSelected(value, element, {
          inside,
          governing,
          walk,
          isSelected: selection!.isSelected(position),
        })
      : projectMember(value, element, inside, walk)
    if (projected !== undefined) result.push(projected)
  }
  return result
}

/** Projects an element of an array with an array projection. Later items of the list overrule that projection. */
function projectSelected(
  value: Json,
  element: Definition,
  at: { inside: readonly Active[]; governing: Active; isSelected: boolean; walk: Walk },
): Json | undefined {
  const { inside, governing, walk } = at
  const later = inside.slice(inside.findIndex(({ item }) => item === governing.item) + 1)
  const overruled = opinionOf(later)
  if (overruled) return projectBy(overruled, value, element, { actives: inside, walk })
  if (!at.isSelected) return undefined
  const start = { seen: { value, outer: scopeOf(governing, walk) }, depth: walk.trail.length }
  const nested = governing.item.nested.map((item): Active => ({ item, matched: 0, start }))
  const exclusions = later.filter(({ item }) => !item.include && !item.select)
  return projectBy('include', value, element, { actives: [...nested, ...exclusions], walk })
}

/** The scopes in which an array projection was resolved: its start, and each element that a `*` matches. */
function scopeOf({ item, start }: Active, { trail }: Walk): Seen {
  return item.pattern.reduce<Seen>(
    (seen, step, i) => (step === '*' ? { value: trail[start.depth + i + 1], outer: seen } : seen),
    start.seen,
  )
}

/** The items that can still match one step further down. */
function advance(actives: readonly Active[], step: string | number, length = 0): readonly Active[] {
  spend(actives.length)
  const next: Active[] = []
  for (const active of actives) {
    const { pattern, recursive } = active.item
    if (active.matched > pattern.length) next.push(active)
    else if (active.matched === pattern.length) {
      if (recursive || active.item.select) next.push({ ...active, matched: active.matched + 1 })
    } else if (fits(pattern[active.matched]!, step, length)) {
      next.push({ ...active, matched: active.matched + 1 })
    }
  }
  return next
}

function fits(pattern: Path[number], step: string | number, length: number): boolean {
  if (pattern === '*') return true
  const isFromEnd = typeof pattern === 'number' && pattern < 0
  return (isFromEnd ? pattern + length : pattern) === step
}

function opinionOf(actives: readonly Active[]): Opinion {
  for (let i = actives.length - 1; i >= 0; i--) {
    const { item, matched } = actives[i]!
    if (item.select) continue
    // An exclusion has no opinion about the ancestors of the excluded field.
    if (item.include) return 'include'
    if (matched >= item.pattern.length) return 'exclude'
  }
  return undefined
}

function elementOf(field: Definition): Definition {
  return field !== 'free' && field.kind === 'array' ? field.element : 'free'
}

function objectOf(field: Definition): ObjectField | 'free' {
  return field !== 'free' && field.kind === 'object' ? field : 'free'
}

function fieldsOf(field: Definition): Fields | 'free' {
  const object = objectOf(field)
  return object === 'free' ? object : object.fields
}
