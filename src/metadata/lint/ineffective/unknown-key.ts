/** Keys that have no meaning in metadata are kept, and probably stand for something else. */
import { type Json, type JsonObject, pointer } from '../../../base/json/json.ts'
import { suggestion } from '../../../base/suggest.ts'
import { CONSTRAINT_NAMES } from '../../documents/constraints.ts'
import { DATASTORE_KEYS } from '../../documents/datastore.ts'
import { ENTITY_INFO_KEYS, type EntityInfo } from '../../documents/entity-info.ts'
import { ENUM_KEYS, ENUM_VALUE_KEYS, type Enum } from '../../documents/enums.ts'
import type { FieldDocument, FieldDocuments } from '../../documents/field-document.ts'
import { GENERATOR_KEYS } from '../../documents/generators.ts'
import { CONFIGURATION_KEYS, HOOK_KEYS, type Hook, unknownConfiguration } from '../../documents/hooks.ts'
import {
  INDEX_FIELD_KEYS,
  INDEX_KEYS,
  type Index,
  WORD_FIELD_KEYS,
  WORD_INDEX_KEYS,
} from '../../documents/indexes.ts'
import { COMMON_KEYS, OWN_KEYS, VIRTUAL } from '../../documents/parse-described.ts'
import {
  SCHEMA_KEYS,
  STATUS_CHANGE_KEYS,
  STATUS_KEYS,
  type SchemaDocument,
  VERSION_KEYS,
} from '../../documents/schema-document.ts'
import type { Finding } from '../../finding.ts'
import type { Subject } from '../subject.ts'

export function* unknownKey({ info, documents }: Subject): Generator<Finding> {
  for (const each of unknownInInfo(info)) yield findingOn(each)
  for (const document of documents) {
    for (const each of unknownInSchema(document)) {
      yield { ...findingOn(each), version: document.version.value }
    }
  }
}

function findingOn({ at, intent }: UnknownKey): Finding {
  return {
    severity: 'warning',
    code: 'unknown-key',
    at,
    msg: withFate(intent, 'it is kept and has no effect'),
  }
}

/** What was meant, and what becomes of the key; no semicolon follows a question. */
export function withFate(intent: string, fate: string): string {
  return intent.endsWith('?')
    ? `${intent} ${fate.charAt(0).toUpperCase()}${fate.slice(1)}`
    : `${intent}; ${fate}`
}

export interface UnknownKey {
  /** JSON pointer into the metadata document. */
  readonly at: string
  /** What was probably meant. */
  readonly intent: string
}

export function* unknownInInfo(info: EntityInfo): Generator<UnknownKey> {
  const at = '/entityInfo'
  yield* unknownIn(info.properties, ENTITY_INFO, at)
  yield* unknownIn(info.datastore.properties, DATASTORE, `${at}/datastore`)
  for (const [i, index] of info.indexes.entries()) yield* unknownInIndex(index, pointer(`${at}/indexes`, i))
  for (const [i, each] of info.enums.entries()) yield* unknownInEnum(each, pointer(`${at}/enums`, i))
  for (const [i, hook] of info.hooks.entries()) yield* unknownInHook(hook, pointer(`${at}/hooks`, i))
}

export function* unknownInSchema(schema: SchemaDocument): Generator<UnknownKey> {
  const { properties, version, status, fields } = schema
  yield* unknownIn(properties, SCHEMA, '/schema')
  yield* unknownIn(version.properties, VERSION, '/schema/version')
  yield* unknownIn(status.properties, STATUS, '/schema/status')
  for (const [i, each] of status.log.entries()) {
    yield* unknownIn(each.properties, STATUS_CHANGE, pointer('/schema/status/log', i))
  }
  yield* unknownInFields(fields, '/schema/fields')
}

function* unknownInIndex({ kind, properties, fields }: Index, at: string): Generator<UnknownKey> {
  yield* unknownIn(properties, kind === 'text' ? WORD_INDEX : INDEX, at)
  for (const [i, key] of fields.entries()) {
    yield* unknownIn(key.properties, kind === 'text' ? WORD_FIELD : INDEX_FIELD, pointer(`${at}/fields`, i))
  }
}

function* unknownInEnum({ properties, annotatedValues = [] }: Enum, at: string): Generator<UnknownKey> {
  yield* unknownIn(properties, ENUM, at)
  for (const [i, each] of annotatedValues.entries()) {
    yield* unknownIn(each.properties, ENUM_VALUE, pointer(`${at}/annotatedValues`, i))
  }
}

function* unknownInHook(hook: Hook, at: string): Generator<UnknownKey> {
  yield* unknownIn(hook.properties, HOOK, at)
  const { configuration = {} } = hook
  const unknown = unknownConfiguration(hook).map((key): [string, Json] => [key, configuration[key]!])
  yield* unknownIn(Object.fromEntries(unknown), CONFIGURATION, `${at}/configuration`)
}

function* unknownInFields(fields: FieldDocuments, at: string): Generator<UnknownKey> {
  for (const [name, field] of fields) {
    const place = pointer(at, name)
    yield* unknownIn(field.properties, FIELD[field.kind], place)
    yield* unknownInside(field, place)
  }
}

function* unknownInside(field: FieldDocument, at: string): Generator<UnknownKey> {
  if (field.kind === 'simple' && field.generator) {
    yield* unknownIn(field.generator.properties, GENERATOR, `${at}/valueGenerator`)
  }
  if (field.kind === 'object') yield* unknownInFields(field.fields, `${at}/fields`)
  if (field.kind !== 'array') return
  yield* unknownIn(field.items.properties, ITEMS, `${at}/items`)
  yield* unknownInFields(field.items.fields, `${at}/items/fields`)
}

/** A part of metadata documents, with the keys that it has. */
interface Part {
  readonly name: string
  readonly known: readonly string[]
  /** Whether constraints may have been meant. */
  readonly isConstrained?: true
  /** What other keys probably stand for. */
  readonly intents?: Readonly<Record<string, string>>
}

function* unknownIn(properties: JsonObject, part: Part, at: string): Generator<UnknownKey> {
  for (const [key, value] of Object.entries(properties)) {
    // A description explains, and is not expected to have an effect.
    if (key === 'description' || part.known.includes(key)) continue
    yield { at: pointer(at, key), intent: intentOf(key, value, part) }
  }
}

function intentOf(key: string, value: Json, { name, known, isConstrained, intents = {} }: Part): string {
  if (isConstrained && CONSTRAINT_NAMES.includes(key)) {
    return `"${key}" beside "type": did you mean "constraints": {"${key}": ${shortText(value)}}?`
  }
  const unknown = `${name} has no key "${key}"`
  const intent = Object.hasOwn(intents, key) ? intents[key] : undefined
  if (intent !== undefined) return `${unknown}: ${intent}`
  const near = key.length <= MAX_COMPARED ? suggestion(key, known) : undefined
  return near === undefined ? `${unknown}; it has ${known.join(', ')}` : `${unknown}: did you mean "${near}"?`
}

function shortText(value: Json): string {
  const text = JSON.stringify(value)
  return text.length <= MAX_COMPARED ? text : '…'
}

/** The cost of comparing two words grows with the product of their lengths. */
const MAX_COMPARED = 64

function belongingTo(part: string, keys: readonly string[]): Readonly<Record<string, string>> {
  const moved = keys.filter((key) => key !== 'name' && key !== '_id')
  return Object.fromEntries(moved.map((key) => [key, `it belongs to "${part}"`]))
}

const ENTITY_INFO: Part = {
  name: 'entity info',
  known: ENTITY_INFO_KEYS,
  intents: {
    ...belongingTo('schema', SCHEMA_KEYS),
    manageIndexes: 'Smalt always makes the indexes that are declared, and touches no other',
  },
}
const DATASTORE: Part = {
  name: 'a datastore',
  // The compatibility with Lightblue keeps the names that its documents gave.
  known: [...DATASTORE_KEYS, 'lightblue'],
  intents: { database: 'did you mean "datasource", the name of a configured store?' },
}
const INDEX: Part = {
  name: 'an index',
  known: INDEX_KEYS,
  intents: {
    partialFilterExpression: 'an index covers all documents',
    sparse: 'every unique index ignores documents that lack all of its fields',
  },
}
const WORD_INDEX: Part = { name: 'an index of kind "text"', known: WORD_INDEX_KEYS }
const WORD_FIELD: Part = { name: 'a field of such an index', known: WORD_FIELD_KEYS }
const INDEX_FIELD: Part = { name: 'a field of an index', known: INDEX_FIELD_KEYS }
const ENUM: Part = { name: 'an enum', known: ENUM_KEYS }
const ENUM_VALUE: Part = { name: 'an annotated value', known: ENUM_VALUE_KEYS }
const HOOK: Part = {
  name: 'a hook',
  known: HOOK_KEYS,
  intents: belongingTo('configuration', CONFIGURATION_KEYS),
}
const CONFIGURATION: Part = { name: 'the configuration of a hook', known: CONFIGURATION_KEYS }
const SCHEMA: Part = {
  name: 'a schema',
  known: SCHEMA_KEYS,
  intents: belongingTo('entityInfo', ENTITY_INFO_KEYS),
}
const VERSION: Part = { name: 'a version', known: VERSION_KEYS }
const STATUS: Part = { name: 'a status', known: STATUS_KEYS }
const STATUS_CHANGE: Part = { name: 'an entry of the status log', known: STATUS_CHANGE_KEYS }
const GENERATOR: Part = { name: 'a value generator', known: GENERATOR_KEYS }
const FIELD: Readonly<Record<FieldDocument['kind'], Part>> = {
  simple: fieldOf('a simple field', [...OWN_KEYS.simple, ...VIRTUAL]),
  object: fieldOf('an object', [...OWN_KEYS.object, ...VIRTUAL]),
  array: fieldOf('an array', [...OWN_KEYS.array, ...VIRTUAL]),
  reference: fieldOf('a reference', [...OWN_KEYS.reference, ...VIRTUAL]),
}
const ITEMS: Part = {
  name: 'items',
  known: ['type', 'constraints', 'fields', ...VIRTUAL],
  isConstrained: true,
}

function fieldOf(name: string, own: readonly string[]): Part {
  return { name, known: [...COMMON_KEYS, ...own], isConstrained: true }
}
