/**
 * The forms of values that versions ever stored under a path. A store records them with the paths of a
 * collection, as `$form.path`, because documents outlive the versions that wrote them. No path begins with
 * `$`.
 */
import { type Element, type Field, type Fields, type ObjectField, isStored } from '../schema/field.ts'
import { type Kind, kindOf } from '../schema/kind.ts'
import { allFields } from '../schema/schema.ts'
import { isOfOrder } from './stored-order.ts'

/**
 * A kind of value; big numbers are a separate form, because not every number type can represent them. `integer` and
 * `double` are recorded beside `number`: neither has all values of the other, and engines read each in its own way.
 */
type Form = Kind | 'big' | 'integer' | 'double'

/** The forms of all values that documents of the schema store. */
export function formsOf(fields: Fields): readonly string[] {
  return [...allFields(fields)].filter(isStored).flatMap((field) => {
    return field.kind === 'array' ? [...entriesOf(field), ...entriesOf(field.element)] : entriesOf(field)
  })
}

/** Whether values of another form than that of the field are recorded under its path, and none of its own. */
export function isOfOtherForm(field: Field, remembered: readonly string[]): boolean {
  const forms = byPath(remembered).get(field.path)
  return forms !== undefined && !forms.has(formOf(field))
}

/** Whether the entry records something else than a path. */
export function isForm(entry: string): boolean {
  return entry.startsWith('$')
}

/** Whether the entry records values that have, or may have, members or elements. */
export function isOpenForm(entry: string): boolean {
  return /^\$(?:object|array|any)\./.test(entry)
}

/**
 * Whether the record has the forms of all its values. That of an earlier release may have none, or does not tell integers
 * from doubles.
 */
export function isWhole(remembered: readonly string[]): boolean {
  const forms = byPath(remembered)
  return forms.size > 0 && forms.values().every((each) => !each.has('number') || tellsNumbers(each))
}

/** Marks each field whose stored values may have another form, based on the record of the collection. */
export function marking(remembered: readonly string[]): (root: ObjectField) => ObjectField {
  const forms = byPath(remembered)
  const isMixed = forms.values().some((each) => each.size > (tellsNumbers(each) ? 2 : 1))
  return (root) => (isMixed ? markedObject(root, forms, false) : root)
}

function tellsNumbers(forms: ReadonlySet<string>): boolean {
  return forms.has('integer') || forms.has('double')
}

type StoredForms = ReadonlyMap<string, ReadonlySet<string>>

function byPath(remembered: readonly string[]): StoredForms {
  const forms = new Map<string, Set<string>>()
  for (const entry of remembered) {
    if (!isForm(entry) || isOfOrder(entry)) continue
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
  const held: readonly string[] = own === 'big' ? NUMBERS : formsIn(field)
  return (forms.get(field.path) ?? NONE).values().some((form) => !held.includes(form))
}

const NUMBERS: readonly Form[] = ['number', 'integer', 'double', 'big']

function entriesOf(field: Field): readonly string[] {
  return formsIn(field).map((form) => `$${form}.${field.path}`)
}

function formsIn(field: Field): readonly Form[] {
  const name = field.kind === 'simple' ? field.type.name : undefined
  return name === 'integer' || name === 'double' ? ['number', name] : [formOf(field)]
}

function formOf(field: Field): Form {
  const isBig =
    field.kind === 'simple' && (field.type.name === 'biginteger' || field.type.name === 'bigdecimal')
  return isBig ? 'big' : kindOf(field)
}

const NONE: ReadonlySet<string> = new Set()
