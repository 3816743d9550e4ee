/** A BSON document → JSON as Smalt's field types accept it. */
import { type BSON, deserialize, EJSON } from 'bson'
import type { Json, JsonObject } from '../../base/json/json.ts'
import { ValueError } from '../source-error.ts'
import { HIDDEN_MEMBER, asSent, dateText, finiteNumber, memberPath, refusedType } from './stored-document.ts'

/** Throws a BSONError when the bytes are no BSON document. */
export function readBson(bytes: Uint8Array): BSON.Document {
  // Values keep their BSON types: promoting a long to a number would lose digits.
  return deserialize(bytes, { promoteValues: false, promoteBuffers: false, bsonRegExp: true })
}

/** Throws a ValueError for a value without a form in JSON. */
export function bsonToJson(document: BSON.Document, maxDepth: number): JsonObject {
  return asSent(objectFrom(document, ''), maxDepth)
}

/** The document with its BSON types, for people who look at a rejected one. */
export function printBson(document: BSON.Document): string {
  return EJSON.stringify(document, { relaxed: false })
}

function objectFrom(document: BSON.Document, path: string): JsonObject {
  const entries = Object.entries(document).filter(([name]) => name !== HIDDEN_MEMBER)
  return Object.fromEntries(entries.map(([name, value]) => [name, valueFrom(value, memberPath(path, name))]))
}

function valueFrom(value: unknown, path: string): Json {
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (Array.isArray(value)) return value.map((each, i) => valueFrom(each, memberPath(path, i)))
  if (value instanceof Date) return dateText(value, path)
  const typed = value as BsonValue | BSON.Document
  return isBsonValue(typed) ? typedFrom(typed, path) : objectFrom(typed, path)
}

type BsonValue =
  | BSON.Binary
  | BSON.BSONRegExp
  | BSON.BSONSymbol
  | BSON.Code
  | BSON.DBRef
  | BSON.Decimal128
  | BSON.Double
  | BSON.Int32
  | BSON.Long
  | BSON.MaxKey
  | BSON.MinKey
  | BSON.ObjectId
  | BSON.Timestamp

/** The type name of a BSON value is on its prototype, so a document with a member of that name is not confused with one. */
function isBsonValue(value: BsonValue | BSON.Document): value is BsonValue {
  return Object.getPrototypeOf(value) !== Object.prototype && '_bsontype' in value
}

function typedFrom(value: BsonValue, path: string): Json {
  switch (value._bsontype) {
    case 'Int32':
      return value.value
    case 'Long':
      return finiteNumber(value.toString(), path)
    case 'Double':
      return Number.isFinite(value.value) ? value.value : finiteNumber(String(value.value), path)
    case 'Decimal128':
      return finiteNumber(value.toString(), path)
    case 'ObjectId':
      return value.toHexString()
    case 'Binary':
      return value.toString('base64')
    case 'BSONSymbol':
      return value.value
    case 'Timestamp':
    case 'BSONRegExp':
    case 'Code':
    case 'DBRef':
    case 'MinKey':
    case 'MaxKey':
      throw refusedType(value._bsontype, path)
    default:
      throw new ValueError(path, `"${path}" is of an unknown BSON type`)
  }
}
