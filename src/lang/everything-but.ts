/**
 * The projection that is asked for most, everything but some fields, without weighing opinions at every step: the
 * fields that come out are known beforehand. What it gives is what `project.ts` would give.
 */
import { type Json, type JsonObject, isArray, isObject } from '../base/json.ts'
import type { Path } from '../base/path.ts'
import type { Field, Fields, ObjectField } from '../schema/field.ts'
import type { Projection } from './projection.ts'
import { type Projector, compileProjection } from './project.ts'
import type { FieldRef } from './scope.ts'

/** The projection as a closure, the quick one where it is of that kind. */
export function compileShowing(projection: Projection<FieldRef>, root: ObjectField): Projector {
  const hidden = exceptionsIn(projection, root)
  return hidden ? copyMembers(root.fields, hidden) : compileProjection(projection, root)
}

/** The fields left out of everything; undefined when the projection asks for something else. */
function exceptionsIn(projection: Projection<FieldRef>, root: ObjectField): ReadonlySet<Field> | undefined {
  const [first, ...rest] = projection
  const isEverything =
    first?.kind === 'field' &&
    first.include &&
    first.recursive &&
    first.pattern.length === 1 &&
    first.pattern[0] === '*'
  if (!isEverything) return undefined
  const hidden = new Set<Field>()
  for (const item of rest) {
    const isException = item.kind === 'field' && !item.include && item.recursive
    const field = isException ? fieldAt(item.pattern, root) : undefined
    if (!field) return undefined
    hidden.add(field)
  }
  return hidden
}

/** Only where the pattern names one field: `*` stands for the elements of an array. */
function fieldAt(pattern: Path, root: ObjectField): Field | undefined {
  let field: Field | undefined = root
  for (const step of pattern) {
    if (typeof step === 'number') return undefined
    if (field?.kind === 'array') field = step === '*' ? field.element : undefined
    else field = field?.kind === 'object' ? field.fields.get(step) : undefined
  }
  return field?.name === '*' ? undefined : field
}

type Copy = (value: Json, documentVersion: string) => Json | undefined

function copyMembers(fields: Fields, hidden: ReadonlySet<Field>): Projector {
  const copies = new Map<string, Copy>()
  const made: ((documentVersion: string) => readonly [string, Json])[] = []
  for (const [name, field] of fields) {
    if (hidden.has(field) || field.kind === 'reference') continue
    if (field.kind !== 'simple' || field.virtual === undefined) copies.set(name, copyOf(field, hidden))
    else if (field.virtual === 'documentVersion') made.push((documentVersion) => [name, documentVersion])
    else made.push((documentVersion) => [name, { documentVersion }])
  }
  return (document, documentVersion) => {
    const result: Record<string, Json> = {}
    for (const name of Object.keys(document)) {
      const copied = copies.get(name)?.(document[name]!, documentVersion)
      if (copied !== undefined) result[name] = copied
    }
    for (const make of made) {
      const [name, value] = make(documentVersion)
      result[name] = value
    }
    return result
  }
}

/** What was empty stays; what has become empty is left out. */
function copyOf(field: Exclude<Field, { kind: 'reference' }>, hidden: ReadonlySet<Field>): Copy {
  if (field.kind === 'simple') return (value) => value
  if (field.kind === 'object') {
    const members = copyMembers(field.fields, hidden)
    return (value, documentVersion) => {
      if (!isObject(value) || isEmpty(value)) return value
      const copied = members(value, documentVersion)
      return isEmpty(copied) ? undefined : copied
    }
  }
  const element = copyOf(field.element, hidden)
  return (value, documentVersion) => {
    if (!isArray(value) || value.length === 0) return value
    const copied = value.map((each) => element(each, documentVersion)).filter((each) => each !== undefined)
    return copied.length === 0 ? undefined : copied
  }
}

function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false
  return true
}
