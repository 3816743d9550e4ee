/** Metadata that is being written by a form: fields in their order, constraints by type, access lists as text. */
import { type Json, type JsonObject, isArray, isNumber, isObject, numberIn, textOf } from '../client/json.ts'

export const SIMPLE_TYPES = [
  'string', 'integer', 'double', 'biginteger', 'bigdecimal', 'boolean', 'date', 'uid', 'binary', 'any',
] as const // prettier-ignore

export const FIELD_TYPES = [...SIMPLE_TYPES, 'object', 'array', 'reference'] as const
export const ITEM_TYPES = [...SIMPLE_TYPES, 'object'] as const

export type ConstraintKind = 'flag' | 'count' | 'number' | 'text' | 'enum'

export interface ConstraintInput {
  readonly name: string
  readonly label: string
  readonly kind: ConstraintKind
}

const NUMERIC = ['integer', 'double', 'biginteger', 'bigdecimal']
const TEXT = ['string', 'uid']

const CONSTRAINTS: readonly (ConstraintInput & {
  readonly isFor: (type: string, isInArray: boolean) => boolean
})[] = [
  { name: 'required', label: 'required', kind: 'flag', isFor: (type) => type !== 'reference' },
  {
    name: 'identity',
    label: 'identity',
    kind: 'flag',
    isFor: (type, isInArray) => !isInArray && isKey(type),
  },
  {
    name: 'element-identity',
    label: 'element identity',
    kind: 'flag',
    isFor: (type, isInArray) => isInArray && isKey(type),
  },
  { name: 'minLength', label: 'at least characters', kind: 'count', isFor: (type) => TEXT.includes(type) },
  { name: 'maxLength', label: 'at most characters', kind: 'count', isFor: (type) => TEXT.includes(type) },
  { name: 'matches', label: 'matches the pattern', kind: 'text', isFor: (type) => TEXT.includes(type) },
  { name: 'enum', label: 'one of the enum', kind: 'enum', isFor: (type) => TEXT.includes(type) },
  { name: 'minimum', label: 'at least', kind: 'number', isFor: (type) => NUMERIC.includes(type) },
  { name: 'maximum', label: 'at most', kind: 'number', isFor: (type) => NUMERIC.includes(type) },
  { name: 'minItems', label: 'at least elements', kind: 'count', isFor: (type) => type === 'array' },
  { name: 'maxItems', label: 'at most elements', kind: 'count', isFor: (type) => type === 'array' },
]

function isKey(type: string): boolean {
  return (SIMPLE_TYPES as readonly string[]).includes(type) && type !== 'any' && type !== 'binary'
}

/** The constraints that a field of this type can have. */
export function constraintsFor(type: string, isInArray: boolean): readonly ConstraintInput[] {
  return CONSTRAINTS.filter(({ isFor }) => isFor(type, isInArray))
}

/** The field with another type. What only the former type has a use for goes. */
export function withType(field: JsonObject, type: string, isInArray: boolean): JsonObject {
  const { fields, items, constraints, description, access, ...rest } = field
  const known = new Set(constraintsFor(type, isInArray).map(({ name }) => name))
  const kept = Object.entries(isObject(constraints) ? constraints : {}).filter(([name]) => known.has(name))
  const isSimple = (SIMPLE_TYPES as readonly string[]).includes(type)
  return {
    type,
    ...(description !== undefined && { description }),
    ...(access !== undefined && { access }),
    ...(kept.length > 0 && { constraints: Object.fromEntries(kept) }),
    ...(isSimple && rest['valueGenerator'] !== undefined && { valueGenerator: rest['valueGenerator'] }),
    ...(type === 'object' && { fields: isObject(fields) ? fields : {} }),
    ...(type === 'array' && { items: isObject(items) ? items : { type: 'string' } }),
    ...(type === 'reference' && { entity: '', query: { field: '_id', op: '=', rfield: '$parent._id' } }),
  }
}

/** The field with another value of a constraint; undefined removes it. */
export function withConstraint(field: JsonObject, name: string, value: Json | undefined): JsonObject {
  const { constraints: before, ...rest } = field
  const { [name]: _, ...others } = isObject(before) ? before : {}
  const constraints = value === undefined ? others : { ...others, [name]: value }
  return Object.keys(constraints).length === 0 ? rest : { ...rest, constraints }
}

/** What was typed for a constraint; text that is no number stays text, and the service says what is wrong. */
export function constraintValue(kind: ConstraintKind, text: string): Json | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return kind === 'count' || kind === 'number' ? (numberIn(trimmed) ?? trimmed) : text
}

/** The fields with one of them renamed, in its place. */
export function renamed(fields: JsonObject, from: string, to: string): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name === from ? to : name, field]))
}

/** A name for one more field. */
export function freshName(fields: JsonObject): string {
  for (let i = Object.keys(fields).length + 1; ; i++)
    if (!Object.hasOwn(fields, `field${i}`)) return `field${i}`
}

/** Roles of an access list as text; row rules are objects, and no part of it. */
export function rolesText(list: Json | undefined): string {
  return isArray(list) ? list.filter((each) => typeof each === 'string').join(', ') : ''
}

/** Row rules of an access list. */
export function rowRules(list: Json | undefined): readonly Json[] {
  return isArray(list) ? list.filter(isObject) : []
}

/** The access of an entity or a field with other roles for an operation; row rules stay. */
export function withRoles(access: Json | undefined, operation: string, text: string): JsonObject | undefined {
  const { [operation]: before, ...others } = isObject(access) ? access : {}
  // names of roles may contain spaces
  const roles = text
    .split(',')
    .map((role) => role.trim())
    .filter((role) => role !== '')
  return withList(others, operation, [...new Set(roles), ...rowRules(before)])
}

/** The access of an entity or a field with other row rules for an operation; roles stay. */
export function withRowRules(
  access: Json | undefined,
  operation: string,
  rules: readonly Json[],
): JsonObject | undefined {
  const { [operation]: before, ...others } = isObject(access) ? access : {}
  const roles = isArray(before) ? before.filter((each) => typeof each === 'string') : []
  return withList(others, operation, [...roles, ...rules])
}

function withList(others: JsonObject, operation: string, list: readonly Json[]): JsonObject | undefined {
  const next = list.length === 0 ? others : { ...others, [operation]: list }
  return Object.keys(next).length === 0 ? undefined : next
}

/** A constraint as it is typed. */
export function constraintText(value: Json | undefined): string {
  return value === undefined || value === null ? '' : isNumber(value) ? String(value) : textOf(value)
}
