/**
 * Projections a second time: for every path of the document each item is asked for its opinion, from the last to the
 * first, exactly as docs/reference/projection.md defines it. Nothing here is shared with `src/lang`.
 */
import { type Json, type JsonObject, isArray, isObject } from '../../../src/base/json/json.ts'
import {
  type Place,
  type Position,
  type World,
  compareBy,
  matches,
  sortKeys,
  valueAt,
} from './reference-query.ts'

/** `complete` may add to what is shown of an object, whose place in the document it receives. */
export function project(projection: Json, world: World, complete: Complete = asItIs): JsonObject {
  const items = itemsOf(projection, [])
  const shown = walk(world.document, [], { items, world, complete })
  return shown === undefined ? complete({}, []) : (shown as JsonObject)
}

type Complete = (shown: JsonObject, at: Position) => JsonObject

function asItIs(shown: JsonObject): JsonObject {
  return shown
}

/** An item of a list, and where the list stands: the document, or an element for nested projections. */
interface Item {
  readonly base: Position
  readonly body: JsonObject
  readonly steps: readonly (string | number)[]
}

interface Work {
  readonly items: readonly Item[]
  readonly world: World
  readonly complete: Complete
}

type Opinion = { readonly include: boolean; readonly by: Item } | undefined

function itemsOf(projection: Json, base: Position): readonly Item[] {
  return (isArray(projection) ? projection : [projection]).map((body) => ({
    base,
    body: body as JsonObject,
    steps: stepsOf((body as JsonObject)['field'] as string),
  }))
}

function stepsOf(pattern: string): readonly (string | number)[] {
  const steps: (string | number)[] = []
  for (const step of pattern.split('.')) {
    if (step === '$parent') steps.pop()
    else if (step !== '$this') steps.push(/^[+-]?\d+$/.test(step) ? Number(step) : step)
  }
  return steps
}

/** What comes out of a container whose members are judged one by one; undefined when nothing does. */
function walk(container: Json, at: Position, work: Work): Json | undefined {
  if (isArray(container)) {
    const result = orderOf(container, at, work).flatMap((i) => output(container[i]!, [...at, i], work) ?? [])
    return result.length === 0 ? undefined : result.map(({ value }) => value)
  }
  const result: Record<string, Json> = {}
  for (const [name, value] of Object.entries(container as JsonObject)) {
    const out = output(value, [...at, name], work)
    if (out) result[name] = out.value
  }
  return Object.keys(result).length === 0 ? undefined : work.complete(result, at)
}

interface Wrapped {
  readonly value: Json
}

function output(value: Json, at: Position, work: Work): Wrapped | undefined {
  const opinion = decide(at, work)
  if (opinion && !opinion.include) return undefined
  const isContainer = isArray(value) || isObject(value)
  const isEmpty = isContainer && Object.keys(value).length === 0
  const added = opinion && isObject(value) ? work.complete({}, at) : {}
  // What is added may be all that there is of an object that is included.
  const bare = Object.keys(added).length > 0 ? { value: added } : undefined
  if (!isContainer || isEmpty) return bare ?? (opinion ? { value } : undefined)
  const inner = opinion && isArrayItem(opinion.by) ? nestedWork(opinion.by, at, work) : work
  const out = walk(value, at, inner)
  return out === undefined ? bare : { value: out }
}

/** Below an element that an array projection chose, its own list decides, and exclusions listed after it. */
function nestedWork(chosen: Item, at: Position, work: Work): Work {
  const { items } = work
  const own = chosen.body['projection'] ?? chosen.body['project'] ?? []
  const nested = isArray(own) && own.length === 0 ? { field: '*', recursive: true } : own
  const later = items.slice(items.indexOf(chosen) + 1)
  const exclusions = later.filter((item) => item.body['include'] === false && !isArrayItem(item))
  return { ...work, items: [...itemsOf(nested, at), ...exclusions] }
}

function decide(at: Position, work: Work): Opinion {
  for (const item of work.items.toReversed()) {
    const include = isArrayItem(item) ? elementOpinion(item, at, work) : fieldOpinion(item, at, work.world)
    if (include !== undefined) return { include, by: item }
  }
  return undefined
}

function fieldOpinion({ base, body, steps }: Item, at: Position, world: World): boolean | undefined {
  const include = body['include'] !== false
  const path = at.slice(base.length)
  if (!overlaps(steps, at, base, world)) return undefined
  if (path.length < steps.length) return include ? true : undefined
  if (path.length === steps.length || body['recursive'] === true) return include
  return undefined
}

/** Array projections speak of elements only, and of several for one array only the last. */
function elementOpinion(item: Item, at: Position, work: Work): boolean | undefined {
  const array = at.slice(0, -1)
  if (typeof at.at(-1) !== 'number' || !governs(item, array, work.world)) return undefined
  if (governing(array, work) !== item) return undefined
  const include = item.body['include'] !== false
  return isSelected(item, at, work) === include
}

function governs({ base, steps }: Item, array: Position, world: World): boolean {
  return array.length === base.length + steps.length && overlaps(steps, array, base, world)
}

function governing(array: Position, { items, world }: Work): Item | undefined {
  return items.findLast((item) => isArrayItem(item) && governs(item, array, world))
}

function isArrayItem({ body }: Item): boolean {
  return (body['match'] ?? body['range'] ?? null) !== null
}

function isSelected(item: Item, at: Position, work: Work): boolean {
  if (isObject(item.body['match'])) return matches(item.body['match'], at, work.world)
  const [from, to] = item.body['range'] as readonly (number | null)[]
  const array = at.slice(0, -1)
  const place = orderOf(valueAt(array, work.world) as readonly Json[], array, work).indexOf(
    at.at(-1) as number,
  )
  return place >= Math.max(from ?? 0, 0) && (to === null || to === undefined || place <= to)
}

/** Positions in the order in which they come out. */
function orderOf(elements: readonly Json[], array: Position, work: Work): readonly number[] {
  const keys = sortKeys(governing(array, work)?.body['sort'])
  const place = (i: number): Place => ({ at: [...array, i], world: work.world })
  return [...elements.keys()].sort((a, b) => compareBy(keys, place(a), place(b)) || a - b)
}

/** Whether pattern and path agree as far as both go; a negative index counts from the end of the stored array. */
function overlaps(steps: Item['steps'], at: Position, base: Position, world: World): boolean {
  if (!base.every((step, i) => step === at[i])) return false
  return steps.every((step, i) => {
    const here = at[base.length + i]
    if (here === undefined || step === '*') return true
    if (typeof step === 'string' || step >= 0) return step === here
    const array = valueAt(at.slice(0, base.length + i), world)
    return isArray(array) && here === array.length + step
  })
}
