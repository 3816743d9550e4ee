/**
 * The forms of values that versions ever stored under a path. A store records them with the paths of a
 * collection, as `$form.path`, because documents outlive the versions that wrote them. No path begins with
 * `$`.
 */
import { type Element, type Field, type Fields, type ObjectField, isStored } from '../schema/field.ts'
import { type Kind, kindOf } from '../schema/kind.ts'
import { allFields } from '../schema/schema.ts'

/** A kind of value; big numbers are a separate form, because not every number type can represent them. */
type Form = Kind | 'big'

/** The forms of all values that documents of the schema store. */
export function formsOf(fields: Fields): readonly string[] {
  return [...allFields(fields)].filter(isStored).flatMap((field) => {
    const own = entryOf(field)
    return field.kind === 'array' ? [own, entryOf(field.element)] : [own]
  })
}

/** Whether values of another form than that of the field are recorded under its path, and none of its own. */
export function isOfOtherForm(field: Field, remembered: readonly string[]): boolean {
  const forms = byPath(remembered).get(field.path)
  return forms !== undefined && !forms.has(formOf(field))
}

/** Whether the entry records a form rather than a path. */
export function isForm(entry: string): boolean {
  return entry.startsWith('$')
}

/** Whether the entry records values that have, or may have, members or elements. */
export function isOpenForm(entry: string): boolean {
  return /^\$(?:object|array|any)\./.test(entry)
}

/** Marks each field whose stored values may have another form, based on the record of the collection. */
export function marking(remembered: readonly string[]): (root: ObjectField) => ObjectField {
  const forms = byPath(remembered)
  const isMixed = forms.values().some((each) => each.size > 1)
  return (root) => (isMixed ? markedObject(root, forms, false) : root)
}

type StoredForms = ReadonlyMap<string, ReadonlySet<string>>

function byPath(remembered: readonly string[]): StoredForms {
  const forms = new Map<string, Set<string>>()
  for (const entry of remembered.filter(isForm)) {
    const end = entry.indexOf('.')
    const path = entry.slice(end + 1)
    const known = forms.get(path) ?? new Set()
    forms.set(path, known.add(entry.slice(1, end)))
  }
  return forms
}

/** Inside a field of mixed form, every field may have any form too. */
function marked(field: Field, forms: StoredForms, isInside: boolean): Field {
  const isElementMixed = field.kind === 'array' && isMixed(field.element, forms)
  const isOwn = isInside || isMixed(field, forms) || isElementMixed
  const whole = isOwn ? { ...field, isMixed: true as const } : field
  if (whole.kind === 'object') return markedObject(whole, forms, isOwn)
  if (whole.kind !== 'array') return whole
  return { ...whole, element: marked(whole.element, forms, isOwn) as Element }
}

function markedObject(object: ObjectField, forms: StoredForms, isInside: boolean): ObjectField {
  const fields = [...object.fields].map(([name, field]): [string, Field] => [
    name,
    marked(field, forms, isInside),
  ])
  return { ...object, fields: new Map(fields) }
}

function isMixed(field: Field, forms: StoredForms): boolean {
  // Every document has an `_id`, and all `_id`s have one form.
  if (field.path === '_id' || !isStored(field)) return false
  const own = formOf(field)
  if (own === 'any') return false
  return (forms.get(field.path) ?? NONE).values().some((form) => form !== own && !isHeldBy(form, own))
}

function isHeldBy(form: string, own: Form): boolean {
  return own === 'big' && form === 'number'
}

function entryOf(field: Field): string {
  return `$${formOf(field)}.${field.path}`
}

function formOf(field: Field): Form {
  const isBig =
    field.kind === 'simple' && (field.type.name === 'biginteger' || field.type.name === 'bigdecimal')
  return isBig ? 'big' : kindOf(field)
}

const NONE: ReadonlySet<string> = new Set()
