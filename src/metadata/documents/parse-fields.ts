/** Parses the `fields` of a schema document, at every depth. */
import { asBoolean } from '../../base/json/decode.ts'
import { type Json, type JsonObject, member, pointer } from '../../base/json/json.ts'
import { TYPES, isTypeName } from '../../schema/types.ts'
import { parseConstraints } from './constraints.ts'
import { booleanAt, fault, neededMember, neededText, objectAt, otherMembers } from './decode.ts'
import type {
  ArrayDocument,
  FieldDocument,
  FieldDocuments,
  ItemsDocument,
  ObjectDocument,
  SimpleDocument,
} from './field-document.ts'
import { parseGenerator } from './generators.ts'
import { checkFieldName } from './names.ts'
import { COMMON_KEYS, OWN_KEYS, type Place, VIRTUAL, parseDescribed } from './parse-described.ts'
import { parseReference } from './parse-reference.ts'

export function parseFields(value: Json, at: string, isInArray = false): FieldDocuments {
  const document = objectAt(value, at)
  const fields = new Map<string, FieldDocument>()
  for (const [name, each] of Object.entries(document)) {
    const place = pointer(at, name)
    checkFieldName(name, isCounter(name, document), place)
    fields.set(name, parseField(objectAt(each, place), { name, at: place, isInArray }))
  }
  return fields
}

function isCounter(name: string, siblings: JsonObject): boolean {
  return name.endsWith('#') && member(member(siblings, name.slice(0, -1)), 'type') === 'array'
}

function parseField(written: JsonObject, place: Place): FieldDocument {
  const { at } = place
  const document = withClaims(written, at)
  const type = neededText(document, 'type', at)
  const virtual = parseVirtual(document, type, place)
  if (virtual || isTypeName(type)) return parseSimple(document, place, { type, virtual })
  if (document.valueGenerator !== undefined) {
    throw fault(
      'metadata:InvalidGenerator',
      `a field of type ${type} has no generator`,
      pointer(at, 'valueGenerator'),
    )
  }
  switch (type) {
    case 'object':
      return parseObject(document, place)
    case 'array':
      return parseArray(document, place)
    case 'reference':
      return parseReference(document, place)
    default:
      throw fault(
        'metadata:InvalidType',
        `there is no type "${type}"; there are ${ALL_TYPES.join(', ')}`,
        pointer(at, 'type'),
      )
  }
}

const ELEMENT_TYPES = [...Object.keys(TYPES), 'object']
const ALL_TYPES = [...ELEMENT_TYPES, 'array', 'reference']

/** The document with booleans as such: these two are stored as they are written. */
function withClaims(document: JsonObject, at: string): JsonObject {
  const claims = VIRTUAL.filter((key) => document[key] !== undefined)
  if (claims.length === 0) return document
  const read = claims.map((key) => [key, booleanAt(document[key], pointer(at, key))])
  return { ...document, ...Object.fromEntries(read) }
}

function parseVirtual(
  document: JsonObject,
  type: string,
  { at, isInArray }: Place,
): SimpleDocument['virtual'] {
  const virtual = VIRTUAL.find((key) => document[key] === true)
  if (!virtual) return undefined
  const types = virtual === 'resultMetadata' ? ['any', 'object'] : ['string']
  if (types.includes(type) && !isInArray) return virtual
  const problem = `"${virtual}" is for fields of type ${types.join(' or ')} outside arrays`
  throw fault('metadata:IllFormedMetadata', problem, pointer(at, virtual))
}

function parseSimple(
  document: JsonObject,
  place: Place,
  { type, virtual }: { readonly type: string; readonly virtual: SimpleDocument['virtual'] },
): SimpleDocument {
  const { at, isInArray } = place
  const subject = { type, isVirtual: virtual !== undefined, isInArray, isElement: false }
  const written = document.valueGenerator
  if (written !== undefined && virtual) {
    throw fault(
      'metadata:InvalidGenerator',
      'a field filled when read has no generator',
      pointer(at, 'valueGenerator'),
    )
  }
  return {
    ...parseDescribed(document, place),
    kind: 'simple',
    type: isTypeName(type) ? type : 'any',
    writtenType: type,
    constraints: parseConstraints(document.constraints, pointer(at, 'constraints'), subject),
    generator:
      written === undefined ? undefined : parseGenerator(written, pointer(at, 'valueGenerator'), type),
    default: document.default,
    virtual,
    properties: otherMembers(document, [...COMMON_KEYS, ...OWN_KEYS.simple]),
  }
}

function parseObject(document: JsonObject, place: Place): ObjectDocument {
  const { at, isInArray } = place
  const subject = { type: 'object', isVirtual: false, isInArray, isElement: false }
  return {
    ...parseDescribed(document, place),
    kind: 'object',
    constraints: parseConstraints(document.constraints, pointer(at, 'constraints'), subject),
    fields: parseFields(document.fields ?? {}, pointer(at, 'fields'), isInArray),
    properties: otherMembers(document, [...COMMON_KEYS, ...OWN_KEYS.object]),
  }
}

function parseArray(document: JsonObject, place: Place): ArrayDocument {
  const { at, isInArray } = place
  const subject = { type: 'array', isVirtual: false, isInArray, isElement: false }
  return {
    ...parseDescribed(document, place),
    kind: 'array',
    constraints: parseConstraints(document.constraints, pointer(at, 'constraints'), subject),
    items: parseItems(neededMember(document, 'items', at), pointer(at, 'items')),
    default: document.default,
    properties: otherMembers(document, [...COMMON_KEYS, ...OWN_KEYS.array]),
  }
}

function parseItems(value: Json, at: string): ItemsDocument {
  const document = objectAt(value, at)
  const type = neededText(document, 'type', at)
  const isElementType = isTypeName(type) || type === 'object'
  if (!isElementType) {
    const isFieldType = type === 'array' || type === 'reference'
    const code = isFieldType ? 'metadata:InvalidArrayElementType' : 'metadata:InvalidType'
    const known = ELEMENT_TYPES.join(', ')
    const message = `the elements of an array cannot be of type "${type}"; they can be of ${known}`
    throw fault(code, message, pointer(at, 'type'))
  }
  refuseInItems(document, at)
  const subject = { type, isVirtual: false, isInArray: true, isElement: true }
  const isObjectType = type === 'object'
  return {
    type,
    constraints: parseConstraints(document.constraints, pointer(at, 'constraints'), subject),
    fields: isObjectType
      ? parseFields(neededMember(document, 'fields', at), pointer(at, 'fields'), true)
      : new Map(),
    properties: otherMembers(document, ['type', 'constraints', ...(isObjectType ? ['fields'] : [])]),
  }
}

/** Refuses keys that would appear to protect or fill the elements, and have no effect there. */
function refuseInItems(document: JsonObject, at: string): void {
  if (document.access !== undefined) {
    throw fault(
      'metadata:InvalidAccess',
      'access is declared on the array, not on its items',
      pointer(at, 'access'),
    )
  }
  if (document.valueGenerator !== undefined) {
    const place = pointer(at, 'valueGenerator')
    throw fault('metadata:InvalidGenerator', 'the elements of an array have no generator', place)
  }
  for (const key of VIRTUAL) {
    if (asBoolean(document[key])) {
      throw fault('metadata:IllFormedMetadata', `"${key}" is for fields outside arrays`, pointer(at, key))
    }
  }
}
