/** Predefined fields of every schema: `_id`, `objectType`, and the size `x#` of each array `x`. */
import { pointer } from '../../base/json/json.ts'
import { NO_CONSTRAINTS, parseConstraints } from './constraints.ts'
import { fault } from './decode.ts'
import type { FieldAccess, FieldDocument, FieldDocuments, SimpleDocument } from './field-document.ts'

/** Adds the predefined fields; declared ones must have a suitable type. */
export function withPredefined(fields: FieldDocuments, at: string): FieldDocuments {
  const complete = new Map(withCounters(fields, at))
  const id = complete.get('_id')
  checkType(id, { at: pointer(at, '_id'), fits: canBeId, expected: 'a simple, comparable type' })
  if (!id) complete.set('_id', simple('_id', 'string'))
  const objectType = complete.get('objectType')
  checkType(objectType, {
    at: pointer(at, 'objectType'),
    fits: isPlain('string'),
    expected: 'the type string',
  })
  const declared = objectType?.kind === 'simple' ? objectType : simple('objectType', 'string')
  complete.set('objectType', withObjectTypeRules(declared, pointer(at, 'objectType')))
  return complete
}

function withCounters(fields: FieldDocuments, at: string): FieldDocuments {
  const complete = new Map<string, FieldDocument>()
  for (const [name, field] of fields) {
    complete.set(name, deepened(field, pointer(at, name)))
    if (field.kind !== 'array') continue
    const counter = `${name}#`
    checkType(fields.get(counter), {
      at: pointer(at, counter),
      fits: isPlain('integer'),
      expected: 'the type integer',
    })
    if (fields.has(counter)) continue
    const find = field.access.find.length > 0 ? field.access.find : ['anyone']
    complete.set(counter, { ...simple(counter, 'integer'), access: { ...NO_LISTS, find } })
  }
  return complete
}

function deepened(field: FieldDocument, at: string): FieldDocument {
  if (field.kind === 'object') return { ...field, fields: withCounters(field.fields, pointer(at, 'fields')) }
  if (field.kind !== 'array') return field
  const itemsAt = pointer(pointer(at, 'items'), 'fields')
  return { ...field, items: { ...field.items, fields: withCounters(field.items.fields, itemsAt) } }
}

function withObjectTypeRules(field: SimpleDocument, at: string): SimpleDocument {
  const written = { required: true, minLength: 1, ...field.constraints.written }
  const subject = { type: 'string', isVirtual: false, isInArray: false, isElement: false }
  const { access } = field
  return {
    ...field,
    access: {
      ...access,
      find: access.find.length > 0 ? access.find : ['anyone'],
      update: access.update.length > 0 ? access.update : ['noone'],
    },
    constraints: parseConstraints(written, pointer(at, 'constraints'), subject),
  }
}

function checkType(
  field: FieldDocument | undefined,
  rule: { readonly at: string; readonly fits: (field: FieldDocument) => boolean; readonly expected: string },
): void {
  if (!field || rule.fits(field)) return
  throw fault(
    'metadata:FieldWrongType',
    `"${field.name}" must be a stored field of ${rule.expected}`,
    rule.at,
  )
}

function canBeId(field: FieldDocument): boolean {
  return field.kind === 'simple' && !field.virtual && !['any', 'binary', 'boolean'].includes(field.type)
}

function isPlain(type: string): (field: FieldDocument) => boolean {
  return (field) => field.kind === 'simple' && field.type === type && !field.virtual
}

function simple(name: string, type: 'string' | 'integer'): SimpleDocument {
  return {
    kind: 'simple',
    name,
    type,
    writtenType: type,
    description: null,
    access: NO_LISTS,
    constraints: NO_CONSTRAINTS,
    generator: undefined,
    default: undefined,
    virtual: undefined,
    properties: {},
  }
}

const NO_LISTS: FieldAccess = { find: [], update: [], insert: [] }
