/** Finds and writes values in a document that an update changes in place. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject, member } from '../../base/json/json.ts'
import type { Step } from '../../base/path.ts'
import { spend } from '../../base/work/work.ts'
import type { Seen } from './candidates.ts'
import type { Loops } from './element-loop.ts'
import type { FieldRef } from '../resolve/scope.ts'

/**
 * The document, or an array element, which can also be replaced. Its value is undefined if the update has removed it: then
 * nothing is written.
 */
export interface WriteTarget extends Seen {
  readonly outer?: WriteTarget
  readonly write: (value: Json) => void
  /** The loops that have to be told of elements that are inserted and removed. */
  readonly loops: Loops
  /** Counts the steps of an update on one document, and throws above the limit. */
  readonly spend: (steps: number) => void
}

/** A write past the end of an array pads it with nulls, up to this many. */
const MAX_PADDING = 1_000
/** Elements visited and values written in one document. Copies of copies and nested loops multiply. */
const MAX_STEPS = 2_000_000

/** Elements that are moved up or down in about the time of one step. */
const MOVED_PER_STEP = 16

/** Above this many, elements are not spread into one call, because the number of arguments is limited. */
const MAX_ARGUMENTS = 1_000

type Members = Record<string, Json>

export function rootTarget(document: JsonObject): WriteTarget {
  let spent = 0
  return {
    value: document,
    isChanging: true,
    write: () => undefined,
    loops: new Map(),
    spend(steps) {
      spend(steps)
      spent += steps
      if (spent <= MAX_STEPS) return
      const message = `the update takes more than ${MAX_STEPS} steps in one document`
      throw new ServiceError('crud:LimitExceeded', message)
    },
  }
}

export function elementTarget(array: Json[], index: number, outer: WriteTarget): WriteTarget {
  return {
    get value() {
      return array[index]
    },
    outer,
    loops: outer.loops,
    spend: outer.spend,
    write(value) {
      array[index] = value
    },
  }
}

/** Writes a value, and creates missing objects and arrays on the path. Null removes a member. */
export function writeAt(place: WriteTarget, ref: FieldRef, value: Json): void {
  if (place.value === undefined) return
  const last = ref.steps.at(-1)
  if (last === undefined) {
    place.write(value)
    return
  }
  const isRemoval = value === null
  const holder = holderOf(place, ref, { creates: !isRemoval })
  if (holder === undefined) return
  if (isArray(holder)) writeElement(holder as Json[], last as number, { value, path: ref.path, place })
  else if (isRemoval) removeMember(holder as Members, String(last))
  else (holder as Members)[String(last)] = value
}

/** Removes a member, or an array element; later elements move up. */
export function removeAt(place: WriteTarget, ref: FieldRef): void {
  const last = ref.steps.at(-1)
  const holder = last === undefined ? undefined : holderOf(place, ref, { creates: false })
  if (holder === undefined) return
  if (!isArray(holder)) removeMember(holder as Members, String(last))
  else {
    const index = fromEnd(last as number, holder.length)
    if (index >= 0 && index < holder.length) removeElement(place, holder as Json[], index)
  }
}

/** Removes one element, and lets the loops over the array know. */
export function removeElement({ loops }: WriteTarget, array: Json[], index: number): void {
  spend(Math.ceil((array.length - index) / MOVED_PER_STEP))
  array.splice(index, 1)
  for (const loop of loops.get(array) ?? []) loop.removed(index)
}

/** The size of a removed array is 0 for later steps. */
function removeMember(holder: Members, name: string): void {
  delete holder[name]
  if (Object.hasOwn(holder, `${name}#`)) holder[`${name}#`] = 0
}

/** Inserts elements before an index, or appends them without one. A missing array is created. */
export function insertAt(
  place: WriteTarget,
  ref: FieldRef,
  { index, values }: { readonly index: number | undefined; readonly values: readonly Json[] },
): void {
  if (place.value === undefined) return
  const array = arrayAt(place, ref)
  const position = index === undefined ? array.length : fromEnd(index, array.length)
  const path = `${ref.path}.${index ?? position}`
  if (position < 0) throw beforeStart(path)
  pad(array, position, { path, place })
  spend(Math.ceil((array.length - position) / MOVED_PER_STEP) + values.length)
  for (const loop of place.loops.get(array) ?? []) loop.inserted(position, values.length)
  if (values.length <= MAX_ARGUMENTS) {
    array.splice(position, 0, ...values)
    return
  }
  const behind = array.splice(position)
  for (const value of values) array.push(value)
  for (const value of behind) array.push(value)
}

export function readArray(place: WriteTarget, steps: readonly Step[]): Json[] | undefined {
  const value = steps.reduce<Json | undefined>(stepInto, place.value)
  return isArray(value) ? (value as Json[]) : undefined
}

function stepInto(value: Json | undefined, step: Step): Json | undefined {
  if (typeof step === 'string') return member(value, step)
  return isArray(value) ? value.at(step) : undefined
}

function arrayAt(place: WriteTarget, ref: FieldRef): Json[] {
  const known = readArray(place, ref.steps)
  if (known) return known
  const made: Json[] = []
  writeAt(place, ref, made)
  return made
}

/** The container of the last step. Undefined if it is missing and `creates` is false: there is nothing to remove. */
function holderOf(
  place: WriteTarget,
  ref: FieldRef,
  { creates }: { readonly creates: boolean },
): Json | undefined {
  const { steps } = ref
  let holder = containerOr(place.value, steps[0]!, creates ? (made) => place.write(made) : undefined)
  for (let i = 0; i < steps.length - 1 && holder !== undefined; i++) {
    const step = steps[i]!
    const within: Json = holder
    const write = (made: Json): void => {
      if (isArray(within))
        writeElement(within as Json[], step as number, { value: made, path: ref.path, place })
      else (within as Members)[String(step)] = made
    }
    holder = containerOr(stepInto(within, step), steps[i + 1]!, creates ? write : undefined)
  }
  return holder
}

/** The value if it can contain the next step; otherwise a new container, if `write` is given. */
function containerOr(value: Json | undefined, next: Step, write?: (made: Json) => void): Json | undefined {
  if (typeof next === 'number' ? isArray(value) : isObject(value)) return value
  if (!write) return undefined
  const made: Json = typeof next === 'number' ? [] : {}
  write(made)
  return made
}

interface Writing {
  /** As the update writes it. */
  readonly path: string
  readonly place: WriteTarget
}

function writeElement(array: Json[], index: number, writing: Writing & { readonly value: Json }): void {
  const { value, path } = writing
  const position = fromEnd(index, array.length)
  if (position < 0) {
    if (value === null) return
    throw beforeStart(path)
  }
  if (value === null && position >= array.length) return
  pad(array, position, writing)
  array[position] = value
}

function pad(array: Json[], length: number, { path, place }: Writing): void {
  if (length - array.length > MAX_PADDING) {
    const message = `"${path}" lies more than ${MAX_PADDING} elements past the end of its array`
    throw new ServiceError('crud:LimitExceeded', message, { context: path })
  }
  place.spend(Math.max(length - array.length, 0))
  while (array.length < length) array.push(null)
}

export function fromEnd(index: number, length: number): number {
  return index < 0 ? length + index : index
}

function beforeStart(path: string): ServiceError {
  return new ServiceError('crud:InvalidArrayIndex', `"${path}" lies before the start of its array`, {
    context: path,
  })
}
