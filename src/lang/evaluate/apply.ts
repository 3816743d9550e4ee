/** Compiles updates to closures that change a document in place, step by step. It must be a private copy. */
import { addDecimals } from '../../base/decimal.ts'
import { ServiceError } from '../../base/errors.ts'
import {
  type Json,
  type JsonObject,
  cloneJson,
  isArray,
  isNumber,
  isObject,
  numberText,
} from '../../base/json/json.ts'
import { numberFrom } from '../../base/json/parse-trusted.ts'
import { carryOver } from '../../schema/carry.ts'
import type { Field, SimpleField } from '../../schema/field.ts'
import { definedPart } from '../../schema/known.ts'
import { castLiteral } from '../../schema/literal.ts'
import { looksOut } from '../resolve/query-walk.ts'
import { type FoundArray, eachArray, eachElement } from './array-walk.ts'
import { candidates } from './candidates.ts'
import { compileQuery } from './match.ts'
import {
  type WriteTarget,
  elementTarget,
  insertAt,
  removeAt,
  removeElement,
  rootTarget,
  writeAt,
} from './write-target.ts'
import type { FieldRef } from '../resolve/scope.ts'
import type { RValue, Update, UpdateStep } from '../update.ts'

/** Changes the document in place. If it throws, the document is half changed and must be discarded. */
type Updater = (document: JsonObject) => void

/** Hidden members survive when the object around them is replaced: the caller cannot send what they cannot read. */
export function compileUpdate(update: Update<FieldRef>, isHidden: (field: Field) => boolean): Updater {
  const steps = compileSteps(update, isHidden)
  return (document) => steps(rootTarget(document))
}

/** Whether an update writes members of the document itself only, each as a whole: what is inside of others stays as it is. */
export function writesWholeMembers(update: Update<FieldRef>): boolean {
  return update.every((step) => WHOLE.has(step.kind) && 'field' in step && step.field.steps.length === 1)
}

const WHOLE: ReadonlySet<UpdateStep<FieldRef>['kind']> = new Set(['set', 'unset', 'add'])

type Action = (place: WriteTarget) => void

type IsHidden = (field: Field) => boolean

function compileSteps(update: Update<FieldRef>, isHidden: IsHidden): Action {
  const actions = update.map((step) => compileStep(step, isHidden))
  return (place) => {
    for (const action of actions) action(place)
  }
}

function compileStep(step: UpdateStep<FieldRef>, isHidden: IsHidden): Action {
  switch (step.kind) {
    case 'set': {
      const value = compileValue(step.value, step.field)
      return (place) => {
        const [old] = candidates(place, step.field)
        const fresh = value(place) ?? null
        writeAt(climb(place, step.field.up), step.field, carryOver(old, fresh, step.field.field, isHidden))
      }
    }
    case 'unset':
      return (place) => removeAt(climb(place, step.field.up), step.field)
    case 'add':
      return compileAdd(step)
    case 'append':
    case 'insert': {
      const element = { ...step.array, field: elementField(step.array), path: `${step.array.path}.*` }
      const values = step.values.map((value) => compileValue(value, element))
      const index = step.kind === 'insert' ? step.index : undefined
      return (place) => {
        const added = values.map((value) => value(place) ?? null)
        if (added.length > 0) insertAt(climb(place, step.array.up), step.array, { index, values: added })
      }
    }
    case 'foreach':
      return compileForeach(step, isHidden)
  }
}

function compileAdd(step: UpdateStep<FieldRef> & { kind: 'add' }): Action {
  const value = compileValue(step.value, step.field)
  return (place) => {
    const [current] = candidates(place, step.field)
    const added = value(place)
    if (!isNumber(current) || !isNumber(added)) return
    const { type } = step.field.field as SimpleField
    const sum =
      type.name === 'double'
        ? Number(numberText(current)) + Number(numberText(added))
        : numberFrom(addDecimals(numberText(current), numberText(added)))
    const stored = type.cast(sum)
    if (stored === undefined) throw misfit(step.field, 'has no room for the sum')
    writeAt(climb(place, step.field.up), step.field, stored)
  }
}

function compileForeach(step: UpdateStep<FieldRef> & { kind: 'foreach' }, isHidden: IsHidden): Action {
  const selects = step.selector ? compileQuery(step.selector) : () => true
  const action = step.action === 'remove' ? undefined : compileSteps(step.action, isHidden)
  const canRemoveAtOnce = !action && !(step.selector && looksOut(step.selector))
  return (place) => {
    eachArray(climb(place, step.array.up), step.array.steps, (found) => {
      const { array, outer } = found
      if (action) {
        eachElement(found, (element) => {
          place.spend(1)
          if (selects(element)) action(element)
        })
        return
      }
      const isSelected = (index: number): boolean => {
        place.spend(1)
        return selects(elementTarget(array, index, outer))
      }
      if (canRemoveAtOnce && !place.loops.has(array)) removeSelected(array, isSelected)
      else removeInTurn(found, isSelected)
    })
  }
}

/**
 * Removes in one pass: `splice` for each element would take quadratic time. Only for selectors that read nothing outside
 * of the element, because the array is inconsistent during the pass.
 */
function removeSelected(array: Json[], isSelected: (index: number) => boolean): void {
  let left = 0
  for (let index = 0; index < array.length; index++) {
    if (!isSelected(index)) array[left++] = array[index]!
  }
  array.length = left
}

/** Removes one after the other, so that each selection sees what is left. */
function removeInTurn({ array, outer }: FoundArray, isSelected: (index: number) => boolean): void {
  for (let index = 0; index < array.length;) {
    if (!isSelected(index)) index++
    else removeElement(outer, array, index)
  }
}

/** The value to write, cloned because later steps may change it. Undefined if the source of a copy is missing. */
function compileValue(value: RValue<FieldRef>, target: FieldRef): (place: WriteTarget) => Json | undefined {
  if (value.kind === 'literal') {
    const size = sizeOf(value.value)
    return (place) => {
      place.spend(size)
      return cloneJson(value.value)
    }
  }
  const source = value.field
  return (place) => {
    const [found] = candidates(place, source)
    if (found === undefined || found === null) return undefined
    place.spend(sizeOf(found))
    return converted(cloneJson(definedPart(found, source.field)), target)
  }
}

/** The number of values inside, the value itself included. */
function sizeOf(value: Json): number {
  if (isArray(value)) return value.reduce<number>((size, each) => size + sizeOf(each), 1)
  return isObject(value) ? sizeOf(Object.values(value)) : 1
}

function converted(value: Json, target: FieldRef): Json {
  try {
    return castLiteral(value, target.field, { at: '', path: target.path })
  } catch (error) {
    if (error instanceof ServiceError) throw misfit(target, 'cannot hold what it was to be set to')
    throw error
  }
}

function climb(place: WriteTarget, up: number): WriteTarget {
  let outer = place
  for (let i = 0; i < up; i++) outer = outer.outer!
  return outer
}

function elementField({ field }: FieldRef) {
  return field.kind === 'array' ? field.element : field
}

function misfit({ path }: FieldRef, what: string): ServiceError {
  return new ServiceError('metadata:IncompatibleValue', `"${path}" ${what}`, { context: path })
}
