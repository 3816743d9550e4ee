/** Parses the value generators of a field: the known generators, and the types they support. */
import {
  type Json,
  type JsonObject,
  isArray,
  isNumber,
  isObject,
  numberText,
  pointer,
} from '../../base/json/json.ts'
import type { Generator, Sequence } from '../../schema/field.ts'
import { booleanAt, fault, neededText, objectAt, optional, otherMembers } from './decode.ts'

export interface GeneratorDocument {
  readonly generator: Generator
  /** Whether the document contains a configuration. */
  readonly isConfigured: boolean
  readonly properties: JsonObject
}

/** Parses the generator and checks that it supports the type. */
export function parseGenerator(value: Json, at: string, type: string): GeneratorDocument {
  const document = objectAt(value, at)
  const name = neededText(document, 'type', at)
  const known = GENERATORS.find((each) => each.type === name)
  if (!known) {
    const names = GENERATORS.map((each) => each.type).join(', ')
    throw fault(
      'metadata:InvalidGenerator',
      `there is no generator "${name}"; there are ${names}`,
      pointer(at, 'type'),
    )
  }
  if (!known.types.includes(type)) {
    const problem = `${known.type} makes values of ${known.types.join(', ')}, not of ${type}`
    throw fault('metadata:InvalidGenerator', problem, at)
  }
  const overwrite = optional(document, 'overwrite', { at, read: booleanAt }) ?? false
  const configuration = optional(document, 'configuration', { at, read: scalarsAt })
  const sequence =
    known.type === 'IntSequence'
      ? { sequence: parseSequence(configuration ?? {}, pointer(at, 'configuration')) }
      : {}
  return {
    generator: { type: known.type, overwrite, configuration: configuration ?? {}, ...sequence },
    isConfigured: configuration !== undefined,
    properties: otherMembers(document, GENERATOR_KEYS),
  }
}

export function printGenerator({ generator, isConfigured, properties }: GeneratorDocument): JsonObject {
  const { type, overwrite, configuration } = generator
  return {
    type,
    ...(overwrite ? { overwrite } : {}),
    ...(isConfigured ? { configuration } : {}),
    ...properties,
  }
}

const GENERATORS: readonly { readonly type: Generator['type']; readonly types: readonly string[] }[] = [
  { type: 'UUID', types: ['string', 'uid'] },
  { type: 'CurrentTime', types: ['date', 'string'] },
  { type: 'CurrentUser', types: ['string'] },
  { type: 'IntSequence', types: ['integer', 'biginteger', 'string', 'double', 'bigdecimal'] },
]

export const GENERATOR_KEYS = ['type', 'overwrite', 'configuration']

function scalarsAt(value: Json, at: string): JsonObject {
  const document = objectAt(value, at)
  for (const [key, each] of Object.entries(document)) {
    if (!isObject(each) && !isArray(each)) continue
    throw fault(
      'metadata:IllFormedMetadata',
      'a text or a number is expected here, such as "orders" or 1000',
      pointer(at, key),
    )
  }
  return document
}

function parseSequence(configuration: JsonObject, at: string): Sequence {
  const { name } = configuration
  if (typeof name !== 'string' || name.trim() === '') {
    throw fault('metadata:InvalidGenerator', 'IntSequence needs the "name" of its sequence', at)
  }
  const increment = longAt(configuration.increment, pointer(at, 'increment'))
  return {
    name,
    initialValue: longAt(configuration.initialValue, pointer(at, 'initialValue')),
    increment: increment === 0n ? 1n : increment,
  }
}

/** A signed 64-bit integer, as a number or as text; 1 when absent. */
function longAt(value: Json | undefined, at: string): bigint {
  if (value === undefined) return 1n
  const text = isNumber(value) ? numberText(value) : value
  const long = typeof text === 'string' && /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined
  if (long !== undefined && BigInt.asIntN(64, long) === long) return long
  throw fault('metadata:InvalidGenerator', 'a whole number of 64 bits is expected here, such as 1000', at)
}
