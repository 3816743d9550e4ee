/** Requests of Lightblue's clients as the operations read them. */
import { type Json, type JsonObject, isArray, isObject } from '../../base/json/json.ts'
import { spend } from '../../base/work/work.ts'
import type { AddressedSchema } from '../../service/dialect.ts'
import { BulkRequestShape, DataRequestShape, LockRequestShape } from '../../service/request/data-shapes.ts'

const KNOWN: ReadonlySet<string> = new Set([...Object.keys(DataRequestShape.properties), 'field', 'n'])
const KNOWN_OF_BULK: ReadonlySet<string> = new Set(Object.keys(BulkRequestShape.properties))
const KNOWN_OF_ENTRY: ReadonlySet<string> = new Set(['seq', 'op', 'request'])
const KNOWN_OF_LOCK: ReadonlySet<string> = new Set(Object.keys(LockRequestShape.properties))

const EVERYTHING: Json = { field: '*', include: true, recursive: true }

/** `onIgnored` receives the keys that were left out. */
export function lightblueRequest(onIgnored: (operation: string, keys: readonly string[]) => void) {
  return (operation: string, body: Json, addressed: AddressedSchema): Json => {
    if (!isObject(body)) return body
    const ignored = new Set<string>()
    const request = knownPart(operation, body, ignored)
    if (ignored.size > 0) {
      const keys = [...ignored].slice(0, MAX_LOGGED).map((key) => key.slice(0, MAX_LOGGED_CHARACTERS))
      onIgnored(operation, keys)
    }
    if (operation === 'bulk' || operation === 'lock') return request
    return withProjection(operation, withData(operation, request, addressed), addressed)
  }
}

function knownPart(operation: string, body: JsonObject, ignored: Set<string>): JsonObject {
  if (operation === 'lock') return withoutUnknown(body, KNOWN_OF_LOCK, ignored)
  if (operation !== 'bulk') return withoutUnknown(body, KNOWN, ignored)
  const bulk = withoutUnknown(body, KNOWN_OF_BULK, ignored)
  const { requests } = bulk
  if (!isArray(requests)) return bulk
  spend(requests.length)
  // the request of an entry is read when the entry runs
  const entries = requests.map((each) =>
    isObject(each) ? withoutUnknown(each, KNOWN_OF_ENTRY, ignored) : each,
  )
  return { ...bulk, requests: entries }
}

function withoutUnknown(body: JsonObject, known: ReadonlySet<string>, ignored: Set<string>): JsonObject {
  const unknown = Object.keys(body).filter((key) => !known.has(key))
  if (unknown.length === 0) return body
  for (const key of unknown) ignored.add(key)
  return Object.fromEntries(Object.entries(body).filter(([key]) => known.has(key)))
}

/** The log names so many keys of one request. */
const MAX_LOGGED = 10
/** Of each key: a request may contain one of many megabytes. */
const MAX_LOGGED_CHARACTERS = 64

/**
 * Lightblue removes nulls before it looks at the fields. Its clients send objects of their own classes with all members,
 * also with those that a version of the schema does not have.
 */
function withData(
  operation: string,
  request: JsonObject,
  { withoutUnknownNulls }: AddressedSchema,
): JsonObject {
  const { data } = request
  if (data === undefined || (operation !== 'insert' && operation !== 'save')) return request
  return { ...request, data: withoutUnknownNulls(data) }
}

/** An update without a projection returns whole documents, and sizes of arrays inside elements are not shown. */
function withProjection(operation: string, request: JsonObject, { innerSizes }: AddressedSchema): JsonObject {
  const { projection } = request
  const isMissing =
    projection === undefined || projection === null || (isArray(projection) && projection.length === 0)
  const wanted = isMissing && operation === 'update' ? EVERYTHING : projection
  if (!isObject(wanted) && !(isArray(wanted) && wanted.length > 0)) return request
  const exclusions = innerSizes().map((field) => ({ field, include: false }))
  if (exclusions.length === 0) return wanted === projection ? request : { ...request, projection: wanted }
  return { ...request, projection: [...(isArray(wanted) ? wanted : [wanted]), ...exclusions] }
}
