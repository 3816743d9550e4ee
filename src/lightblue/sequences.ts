/** The sequences of Lightblue: one document for each, in a collection beside those of the entities. */
import { type Json, type JsonObject, isNumber, isObject, member, numberText } from '../base/json/json.ts'
import type { Sequence } from '../schema/field.ts'

export type StoredSequence = Sequence

/** The collection of sequences, unless a generator names another one. */
const USUAL = 'sequences'

/** The collections that the generators of these fields use. */
export function sequenceCollections(fields: Json | undefined): readonly string[] {
  if (!isObject(fields)) return []
  return Object.values(fields).flatMap((field): readonly string[] => {
    const generator = member(field, 'valueGenerator')
    const named = member(member(generator, 'configuration'), 'collection')
    const own = member(generator, 'type') === 'IntSequence' ? [typeof named === 'string' ? named : USUAL] : []
    const below = [member(field, 'fields'), member(member(field, 'items'), 'fields')]
    return [...own, ...below.flatMap(sequenceCollections)]
  })
}

/** `value` is the next value to be given out. Undefined if the document is not a sequence. */
export function sequenceFrom(document: JsonObject): StoredSequence | undefined {
  const { name } = document
  const value = integerIn(document['value'])
  const increment = integerIn(document['increment']) ?? 1n
  if (typeof name !== 'string' || value === undefined) return undefined
  return { name, initialValue: value, increment: increment === 0n ? 1n : increment }
}

function integerIn(value: Json | undefined): bigint | undefined {
  const text = isNumber(value) ? numberText(value) : value
  if (typeof text !== 'string' || !/^-?\d{1,19}$/.test(text)) return undefined
  const integer = BigInt(text)
  // 19 digits can be beyond the 64-bit integers, which a sequence of Lightblue cannot be.
  return BigInt.asIntN(64, integer) === integer ? integer : undefined
}
