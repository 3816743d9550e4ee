/** Visits arrays and their elements in a document that an update changes meanwhile. */
import type { Json } from '../../base/json/json.ts'
import type { Step } from '../../base/path.ts'
import { spend } from '../../base/work/work.ts'
import { ElementLoop, type Loops } from './element-loop.ts'
import { type WriteTarget, fromEnd, readArray } from './write-target.ts'

/** An array, and the scope around its elements. */
export interface FoundArray {
  readonly array: Json[]
  readonly outer: WriteTarget
  /** Whether it is still in the document: the update may remove or replace it, or what is around it. */
  readonly isThere: () => boolean
}

/** Visits the arrays at a path: one for each element that a `*` on the path stands for. */
export function eachArray(
  outer: WriteTarget,
  steps: readonly Step[],
  visit: (found: FoundArray) => void,
): void {
  walk({ outer, from: outer }, steps, visit)
}

/**
 * Visits the elements that the array has now, wherever the visits move them. One target stands for each of them in turn. Its
 * value is undefined if the element has been removed.
 */
export function eachElement(found: FoundArray, visit: (element: WriteTarget) => void): void {
  const { array, outer, isThere } = found
  const loop = new ElementLoop(array.length)
  const element = loopTarget(loop, found)
  follow(outer.loops, array, loop)
  while (isThere() && loop.advance()) {
    spend(1)
    visit(element)
  }
  forget(outer.loops, array)
}

interface Start {
  readonly outer: WriteTarget
  /** Where the steps begin; an index in a path leads further, but opens no scope. */
  readonly from: WriteTarget
}

function walk({ outer, from }: Start, steps: readonly Step[], visit: (found: FoundArray) => void): void {
  const at = steps.findIndex((step) => step === '*' || typeof step === 'number')
  const names = at === -1 ? steps : steps.slice(0, at)
  const array = readArray(from, names)
  if (!array) return
  const found = { array, outer, isThere: () => readArray(from, names) === array }
  const step = steps[at]
  const rest = steps.slice(at + 1)
  if (step === undefined) visit(found)
  else if (step === '*') eachElement(found, (element) => walk({ outer: element, from: element }, rest, visit))
  else if (typeof step === 'number') {
    const index = fromEnd(step, array.length)
    oneElement(found, index, (element) => walk({ outer, from: element }, rest, visit))
  }
}

function oneElement(found: FoundArray, index: number, visit: (element: WriteTarget) => void): void {
  const { array, outer } = found
  if (index < 0 || index >= array.length) return
  // It follows this element only, so that the others cost nothing.
  const loop = new ElementLoop(index + 1, index)
  follow(outer.loops, array, loop)
  visit(loopTarget(loop, found))
  forget(outer.loops, array)
}

function loopTarget(loop: ElementLoop, { array, outer, isThere }: FoundArray): WriteTarget {
  return {
    get value() {
      return loop.index !== undefined && isThere() ? array[loop.index] : undefined
    },
    outer,
    loops: outer.loops,
    spend: outer.spend,
    write(value) {
      if (loop.index !== undefined) array[loop.index] = value
    },
  }
}

function follow(loops: Loops, array: readonly Json[], loop: ElementLoop): void {
  const others = loops.get(array)
  if (others) others.push(loop)
  else loops.set(array, [loop])
}

/** Loops end in the reverse order of their beginning. */
function forget(loops: Loops, array: readonly Json[]): void {
  const others = loops.get(array)!
  others.pop()
  if (others.length === 0) loops.delete(array)
}
