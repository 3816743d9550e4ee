/**
 * Finds the values of a field in a document. A path with `*` has several, each of them a candidate: a condition holds if it
 * holds for one of them.
 */
import { type Json, isArray, isObject, member } from '../../base/json/json.ts'
import type { Step } from '../../base/path.ts'
import { spend } from '../../base/work/work.ts'
import { asCompared } from '../../schema/kind.ts'
import type { FieldRef } from '../resolve/scope.ts'

/** A value and its outer scopes; `outer` is one scope out. */
export interface Seen {
  readonly value: Json | undefined
  readonly outer?: Seen
  /** Present on the outermost scope while an update changes the document: stored sizes of arrays may be wrong then. */
  readonly isChanging?: true
}
export type Predicate = (seen: Seen) => boolean
export type Test = (value: Json | undefined) => boolean

/** Every value of a field, in document order; undefined stands for a missing value. */
export function candidates(seen: Seen, { up, steps }: FieldRef): readonly (Json | undefined)[] {
  const found: (Json | undefined)[] = []
  someStep(climb(seen, up), steps, (value) => {
    found.push(value)
    return false
  })
  return found
}

/** The same in comparable form: a value that does not fit the kind of the field counts as missing. */
export function comparables(seen: Seen, ref: FieldRef): readonly (Json | undefined)[] {
  return candidates(seen, ref).map(asCompared(ref.field))
}

/** Whether the field has exactly one candidate in every document. */
export function hasOneCandidate({ steps, field }: FieldRef): boolean {
  return field.kind !== 'array' && !steps.includes('*')
}

/** The only candidate, without allocating a list. */
export function onlyCandidate({ up, steps, field }: FieldRef): (seen: Seen) => Json | undefined {
  const compared = asCompared(field)
  return (seen) => {
    let value = climb(seen, up).value
    for (const step of steps) value = stepInto(value, step, seen)
    return compared(value)
  }
}

/** The candidates of a field in comparable form; the elements of arrays too. */
export function comparableCandidates(ref: FieldRef): (seen: Seen) => readonly (Json | undefined)[] {
  if (ref.field.kind !== 'array') return (seen) => comparables(seen, ref)
  const inside = elementsCompared(ref)
  return (seen) => candidates(seen, ref).map((each) => (isArray(each) ? inside(each) : undefined))
}

export function elementsCompared({ field }: FieldRef): (array: Json | undefined) => readonly Json[] {
  const compared = field.kind === 'array' ? asCompared(field.element) : undefined
  return (array) => {
    spend(elements(array).length)
    return elements(array).map((each) => compared?.(each) ?? null)
  }
}

export function someCandidate({ up, steps, field }: FieldRef, testCompared: Test): Predicate {
  const [only] = steps
  const compared = asCompared(field)
  const test: Test = (value) => testCompared(compared(value))
  // Fast path for the common case, a member of the document itself.
  if (up === 0 && steps.length === 1 && typeof only === 'string' && only !== '*') {
    return (seen) => test(stepInto(seen.value, only, seen))
  }
  return (seen) => someStep(climb(seen, up), steps, test)
}

/** A missing value has only missing members. An absent array has one missing element, an empty array none. */
function someStep(seen: Seen, steps: readonly Step[], test: Test): boolean {
  const from = (value: Json | undefined, at: number): boolean => {
    const step = steps[at]
    if (step === undefined) return test(value)
    if (step !== '*') return from(stepInto(value, step, seen), at + 1)
    return isArray(value) ? someOf(value, (each) => from(each, at + 1)) : from(undefined, at + 1)
  }
  return from(seen.value, 0)
}

function stepInto(value: Json | undefined, step: Step, seen: Seen): Json | undefined {
  if (typeof step === 'number') return isArray(value) ? value.at(step) : undefined
  if (step.endsWith('#') && isObject(value) && outermost(seen).isChanging) {
    const array = member(value, step.slice(0, -1))
    return isArray(array) ? array.length : 0
  }
  return member(value, step)
}

function outermost(seen: Seen): Seen {
  let scope = seen
  while (scope.outer) scope = scope.outer
  return scope
}

/** Some element of some array at the path. Every `*` opens a scope that `$parent` can reach. */
export function someElement(seen: Seen, steps: readonly Step[], test: Predicate): boolean {
  const star = steps.indexOf('*')
  const steady = star === -1 ? steps : steps.slice(0, star)
  let array = seen.value
  for (const step of steady) {
    array = typeof step === 'number' ? (isArray(array) ? array.at(step) : undefined) : member(array, step)
  }
  if (!isArray(array)) return false
  if (star === -1) return someOf(array, (value) => test({ value, outer: seen }))
  return someOf(array, (value) => someElement({ value, outer: seen }, steps.slice(star + 1), test))
}

/** Whether the test holds for some object that contains the reference. Without such an object nothing is joined. */
export function someHolder(
  value: Json | undefined,
  [step, ...rest]: readonly Step[],
  { seen, test }: { readonly seen: Seen; readonly test: Predicate },
): boolean {
  if (rest.length === 0) return isObject(value) && test(seen)
  if (step === '*') {
    return someOf(elements(value), (each) =>
      someHolder(each, rest, { seen: { value: each, outer: seen }, test }),
    )
  }
  const next = typeof step === 'number' ? (isArray(value) ? value.at(step) : undefined) : member(value, step!)
  return someHolder(next, rest, { seen, test })
}

export function climb(seen: Seen, up: number): Seen {
  let outer = seen
  for (let i = 0; i < up; i++) outer = outer.outer!
  return outer
}

export function isValue(value: Json | undefined): value is Exclude<Json, null> {
  return value !== undefined && value !== null
}

export function elements(value: Json | undefined): readonly Json[] {
  return isArray(value) ? value : []
}

export function someOf(values: readonly Json[], test: (value: Json) => boolean): boolean {
  spend(values.length)
  return values.some(test)
}

/** False for a value that is not an array, and for an empty array. */
export function everyElement(value: Json | undefined, test: (element: Json) => boolean): boolean {
  const list = elements(value)
  spend(list.length)
  return list.length > 0 && list.every(test)
}
