/** Resolves updates against a schema: each target must be one writable field, and literals must fit its type. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, isArray, isObject } from '../../base/json/json.ts'
import { castLiteral } from '../../schema/literal.ts'
import { type Field, isComputed, isMandatory } from '../../schema/field.ts'
import { fieldsOf, type Named } from '../query.ts'
import { resolveQuery } from './resolve.ts'
import { type FieldRef, type Scope, elementScope, objectsOnTheWay, resolveFieldAs } from './scope.ts'
import type { RValue, Update, UpdateFields, UpdateStep } from '../update.ts'

export function resolveUpdate(update: Update<Named>, scope: Scope): Update<FieldRef> {
  return update.map((step) => resolveStep(step, scope))
}

/** All fields that an update writes or reads, for access control. */
export function fieldsOfUpdate(update: Update<FieldRef>): UpdateFields<FieldRef> {
  const fields: CollectedFields = { targets: [], copied: [], seen: [] }
  for (const step of update) {
    if (step.kind === 'foreach') addForeach(fields, step)
    else addAssignment(fields, step)
  }
  return fields
}

type CollectedFields = Readonly<Record<keyof UpdateFields<FieldRef>, FieldRef[]>>
type Foreach = Extract<UpdateStep<FieldRef>, { kind: 'foreach' }>
type Assignment = Exclude<UpdateStep<FieldRef>, { kind: 'foreach' }>

function addForeach({ targets, copied, seen }: CollectedFields, { array, selector, action }: Foreach): void {
  const inner = action === 'remove' ? undefined : fieldsOfUpdate(action)
  // No spread: the number of arguments of a call is limited.
  for (const target of inner?.targets ?? [array]) targets.push(target)
  for (const source of inner?.copied ?? []) copied.push(source)
  for (const field of inner?.seen ?? []) seen.push(field)
  if (selector) for (const field of fieldsOf(selector)) seen.push(field)
  // The outcome reveals how many elements there are, and removing all fails where the array needs some.
  seen.push(array)
}

function addAssignment({ targets, copied, seen }: CollectedFields, step: Assignment): void {
  const target = 'field' in step ? step.field : step.array
  targets.push(target)
  if (dependsOnContent(step)) seen.push(target)
  if ('within' in step) seen.push(...(step.within ?? []))
  for (const value of valuesOf(step)) {
    for (const member of membersIn(value, 'values' in step, target)) targets.push(member)
    if (value.kind === 'valueOf') copied.push(value.field)
  }
}

/**
 * Whether the result depends on the current content: a sum may overflow, an index may be out of range, an array may be
 * full.
 */
function dependsOnContent(step: Assignment): boolean {
  if (step.kind !== 'set' && step.kind !== 'unset') return true
  return step.field.steps.some((each) => typeof each === 'number')
}

/** The members inside a written value. They are targets as well, because writing the value writes them. */
function* membersIn(value: RValue<FieldRef>, isElement: boolean, target: FieldRef): Generator<FieldRef> {
  const { field } = target
  const written = isElement && field.kind === 'array' ? field.element : field
  const members =
    value.kind === 'literal'
      ? literalMembers(value.value, written)
      : copiedMembers(value.field.field, written)
  // The elements of an array mostly have the same members.
  for (const member of new Set(members)) yield { ...target, path: member.path, field: member }
}

function* literalMembers(value: Json, field: Field): Generator<Field> {
  if (field.kind === 'array' && isArray(value)) {
    for (const each of value) yield* literalMembers(each, field.element)
  }
  if (field.kind !== 'object' || !isObject(value)) return
  for (const name of Object.keys(value)) {
    const member = field.fields.get(name)
    if (!member) continue
    yield member
    yield* literalMembers(value[name]!, member)
  }
}

function* copiedMembers(source: Field, field: Field): Generator<Field> {
  if (source.kind === 'array' && field.kind === 'array') yield* copiedMembers(source.element, field.element)
  if (source.kind !== 'object' || field.kind !== 'object') return
  for (const [name, member] of field.fields) {
    const copied = source.fields.get(name)
    if (!copied || name.endsWith('#')) continue
    yield member
    yield* copiedMembers(copied, member)
  }
}

function valuesOf(step: UpdateStep<FieldRef>): readonly RValue<FieldRef>[] {
  if ('values' in step) return step.values
  return 'value' in step ? [step.value] : []
}

function resolveStep(step: UpdateStep<Named>, scope: Scope): UpdateStep<FieldRef> {
  switch (step.kind) {
    case 'set': {
      const field = resolveTarget(step.field, scope)
      return {
        kind: 'set',
        field,
        value: resolveValue(step.value, field.field, { scope, target: step.field }),
        // A missing object is created without its mandatory members, and the write is then refused.
        within: objectsOnTheWay(step.field, scope).filter((each) =>
          [...each.field.fields.values()].some(isMandatory),
        ),
      }
    }
    case 'unset': {
      const field = resolveTarget(step.field, scope)
      if (field.steps.length === 0)
        throw invalidUpdate('an element is taken away by "$update": "$remove"', step.field.at)
      // Removing a mandatory member fails only if its object exists, so the outcome reveals whether it does.
      return {
        kind: 'unset',
        field,
        ...(isMandatory(field.field) && { within: objectsOnTheWay(step.field, scope) }),
      }
    }
    case 'add': {
      const field = resolveTarget(step.field, scope)
      if (field.field.kind !== 'simple' || field.field.type.family !== 'number') {
        throw invalidUpdate(`"${field.path}" is not a number, so nothing can be added to it`, step.field.at)
      }
      return {
        kind: 'add',
        field,
        value: resolveValue(step.value, field.field, { scope, target: step.field }),
      }
    }
    case 'append':
    case 'insert': {
      const array = resolveTarget(step.array, scope)
      if (array.field.kind !== 'array') throw invalidUpdate(`"${array.path}" is not an array`, step.array.at)
      const { element } = array.field
      const target = { ...step.array, path: `${step.array.path}.*` }
      return {
        ...step,
        array,
        values: step.values.map((value) => resolveValue(value, element, { scope, target })),
      }
    }
    case 'foreach':
      return resolveForeach(step, scope)
  }
}

function resolveForeach(step: UpdateStep<Named> & { kind: 'foreach' }, scope: Scope): UpdateStep<FieldRef> {
  const array = resolveFieldAs('query-api:InvalidUpdate', step.array, scope)
  if (array.field.kind !== 'array') throw invalidUpdate(`"${array.path}" is not an array`, step.array.at)
  const inner = elementScope(step.array, scope)
  return {
    kind: 'foreach',
    array,
    ...(step.selector && { selector: resolveQuery(step.selector, inner) }),
    action: step.action === 'remove' ? 'remove' : resolveUpdate(step.action, inner),
  }
}

function resolveTarget(named: Named, scope: Scope): FieldRef {
  const ref = resolveFieldAs('query-api:InvalidUpdate', named, scope)
  if (ref.steps.includes('*')) {
    throw invalidUpdate(`"${ref.path}" names many places; use $foreach, or an index`, named.at)
  }
  if (isComputed(ref.field)) throw invalidUpdate(`"${ref.path}" is made by the service`, named.at)
  if (ref.field.path === '_id') throw invalidUpdate('"_id" cannot be changed', named.at)
  if (ref.field.path === '') throw invalidUpdate('the document as a whole cannot be written', named.at)
  return ref
}

function resolveValue(
  value: RValue<Named>,
  field: Field,
  { scope, target }: { readonly scope: Scope; readonly target: Named },
): RValue<FieldRef> {
  if (value.kind === 'literal') return { kind: 'literal', value: castLiteral(value.value, field, target) }
  const source = resolveFieldAs('query-api:InvalidUpdate', value.field, scope)
  if (source.steps.includes('*')) {
    throw invalidUpdate(`"${source.path}" names many places; a copy has one source`, value.field.at)
  }
  const isAny = field.kind === 'simple' && field.type.name === 'any'
  if (source.field.kind !== field.kind && !isAny) {
    throw invalidUpdate(`"${source.path}" and "${target.path}" are of different kinds`, value.field.at)
  }
  return { kind: 'valueOf', field: source }
}

function invalidUpdate(message: string, at: string): ServiceError {
  return new ServiceError('query-api:InvalidUpdate', message, { at })
}
