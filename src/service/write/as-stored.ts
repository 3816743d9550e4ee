/**
 * Recognizes a document that is in its stored form and has no fault, as most are after an update of one field. Then
 * `prepareDocument`, which builds the document anew member by member, would return it as it is.
 */
import { type Json, type JsonObject, isArray, isObject } from '../../base/json/json.ts'
import { memoized } from '../../base/memo.ts'
import { addViolations, isConstrained } from '../../schema/constraints.ts'
import { startFaults } from '../../schema/faults.ts'
import {
  type Element,
  type Field,
  type Fields,
  type ObjectField,
  isComputed,
  isMandatory,
} from '../../schema/field.ts'
import { idFault } from '../../schema/id.ts'
import { FIRST_MEMBERS, orderOf, storedOrderOf } from '../../schema/member-order.ts'
import type { Schema } from '../../schema/schema.ts'

/**
 * False whenever it takes more to decide: for members of other versions, unique identities of elements, and values that are
 * generated anew.
 */
export function isAsStored({ entity, root }: Schema, document: JsonObject): boolean {
  return (
    !generatesAnew(root.fields) &&
    document['objectType'] === entity &&
    hasMembers(document, members(root)) &&
    idFault(document['_id']) === undefined
  )
}

/** Whether every update generates a value, so that no document stays as it is. */
const generatesAnew = memoized((fields: Fields): boolean =>
  [...fields.values()].some((field) => {
    if (field.kind === 'object') return generatesAnew(field.fields)
    return field.kind === 'simple' && field.generator?.overwrite === true
  }),
)

interface Member {
  readonly name: string
  /** Absent for the size of an array. */
  readonly field?: Field
  readonly isNeeded: boolean
}

const members = memoized((object: ObjectField) => {
  const own = new Set(orderOf(object))
  return storedOrderOf(object)
    .filter((name) => own.has(name))
    .map((name) => {
      const member = memberOf(name, object.fields)
      // They are given to every document.
      const isGiven = object.path === '' && FIRST_MEMBERS.includes(name)
      return isGiven ? { ...member, isNeeded: true } : member
    })
})

function memberOf(name: string, fields: Fields): Member {
  if (name.endsWith('#')) return { name, isNeeded: true }
  const field = fields.get(name)!
  return { name, field, isNeeded: isMandatory(field) && !isComputed(field) }
}

/** Whether these are all its members, in this order. */
function hasMembers(value: JsonObject, expected: readonly Member[]): boolean {
  const names = Object.keys(value)
  let next = 0
  let size = 0
  for (const { name, field, isNeeded } of expected) {
    if (names[next] !== name) {
      if (isNeeded) return false
      // The size of an array that is absent.
      size = 0
      continue
    }
    next++
    const each = value[name]!
    if (!field) {
      if (each !== size) return false
      continue
    }
    if (!isSound(each, field)) return false
    size = isArray(each) ? each.length : 0
  }
  return next === names.length
}

function isSound(value: Json, field: Field): boolean {
  switch (field.kind) {
    case 'simple':
      if (value === null || field.virtual || field.generator?.overwrite) return false
      if (field.type.name === 'uid' && value === '') return false
      return !field.constraints.elementIdentity && field.type.cast(value) === value && isAllowed(value, field)
    case 'object':
      return isObject(value) && hasMembers(value, members(field))
    case 'array':
      return isArray(value) && areSound(value, field.element) && isAllowed(value, field)
    case 'reference':
      return false
  }
}

function areSound(values: readonly Json[], element: Element): boolean {
  return values.every((each) => each === null || isSound(each, element))
}

function isAllowed(value: Json, field: Field): boolean {
  if (!isConstrained(field)) return true
  const faults = startFaults({ perDocument: 1, left: 1 })
  addViolations(faults, value, field, { path: field.path })
  return faults.reported.length === 0
}
