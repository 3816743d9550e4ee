/**
 * Reads a filter into the JSON form of the same query. The grammar is that of `docs/reference/filters.md`. The parser of
 * JSON queries then checks it, so that both spellings have one meaning and one set of limits.
 */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject } from '../../base/json/json.ts'
import type { Limits } from '../../base/limits.ts'
import { spend } from '../../base/work/work.ts'
import { type Offsets, type Reader, expected, skipSpace, take, takeWord } from './filter-reader.ts'
import { positionOf, positionsOf } from './position.ts'
import {
  LIST,
  LIST_OR_FIELD,
  VALUE_OR_FIELD,
  readOtherField,
  readIndexName,
  readPath,
  readRegex,
  readString,
  readValue,
  readValues,
} from './read-value.ts'

interface ReadFilter {
  readonly query: JsonObject
  /** The place in the text of what a JSON pointer into the query names, for error messages. */
  readonly placeOf: (pointer: string) => string
}

export function readFilter(text: string, { nesting }: Pick<Limits, 'nesting'>): ReadFilter {
  const reader: Reader = { text, nesting, at: 0, depth: 0, offsets: new Map() }
  const query = readOr(reader)
  skipSpace(reader)
  if (reader.at < text.length) throw expected(reader, '"and", "or" or the end')
  let positions: ReadonlyMap<number, string> | undefined
  const placeOf = (pointer: string): string => {
    positions ??= positionsOf(text, offsetsIn(reader))
    return positions.get(offsetOf(pointer, query, reader))!
  }
  return { query, placeOf }
}

function* offsetsIn({ offsets }: Reader): Generator<number> {
  spend(offsets.size)
  for (const { start, members } of offsets.values()) {
    yield start
    yield* Object.values(members)
  }
}

/** Follows the pointer as far as the text has offsets: `/$and/0/values/3` is where the values begin. */
function offsetOf(pointer: string, query: Json, { offsets }: Reader): number {
  let node: Json | undefined = query
  let offset = offsets.get(query)!.start
  for (const step of pointer.split('/').slice(1)) {
    const { members } = offsets.get(node) ?? NOWHERE
    if (Object.hasOwn(members, step)) offset = members[step]!
    node = isArray(node) ? node[Number(step)] : isObject(node) ? node[step] : undefined
    if (node === undefined) return offset
    offset = offsets.get(node)?.start ?? offset
  }
  return offset
}

const NOWHERE: Pick<Offsets, 'members'> = { members: {} }

function made(
  reader: Reader,
  query: JsonObject,
  start: number,
  members: Offsets['members'] = {},
): JsonObject {
  reader.offsets.set(query, { start, members })
  return query
}

function readOr(reader: Reader): JsonObject {
  return readJoined(reader, { word: 'or', key: '$or', readTerm: readAnd })
}

function readAnd(reader: Reader): JsonObject {
  return readJoined(reader, { word: 'and', key: '$and', readTerm: readFactor })
}

interface Joining {
  readonly word: 'and' | 'or'
  readonly key: '$and' | '$or'
  readonly readTerm: (reader: Reader) => JsonObject
}

function readJoined(reader: Reader, { word, key, readTerm }: Joining): JsonObject {
  const start = skipSpace(reader)
  const first = readTerm(reader)
  if (!takeWord(reader, word)) return first
  const terms = [first]
  do terms.push(readTerm(reader))
  while (takeWord(reader, word))
  return made(reader, { [key]: terms }, start)
}

const CONDITION = 'a condition, such as city = "Bern"'

function readFactor(reader: Reader): JsonObject {
  const start = skipSpace(reader)
  if (take(reader, '(')) return readInside(reader)
  if (takeWord(reader, 'not')) {
    return made(reader, { $not: deeper(reader, readFactor) }, start)
  }
  if (takeWord(reader, 'true')) return made(reader, { $and: [] }, start)
  if (takeWord(reader, 'false')) return made(reader, { $or: [] }, start)
  if (takeWord(reader, 'any')) {
    const array = skipSpace(reader)
    const path = readPath(reader, 'an array')
    if (!take(reader, '(')) throw expected(reader, '"(" and a filter for the elements')
    return made(reader, { array: path, elemMatch: readInside(reader) }, start, { array })
  }
  if (takeWord(reader, 'text')) return readText(reader, start)
  return readTest(reader, start)
}

function readText(reader: Reader, start: number): JsonObject {
  if (!take(reader, '(')) {
    throw expected(reader, '"(" and a search', '; a field of the name text stands in backquotes: `text`')
  }
  const text = skipSpace(reader)
  if (reader.text[text] !== '"') throw expected(reader, 'a search, such as "blue -red"')
  const query: Record<string, Json> = { text: readString(reader) }
  const members: Record<string, number> = { text }
  if (take(reader, ',')) {
    members['index'] = skipSpace(reader)
    query['index'] = readIndexName(reader)
  } else if (!reader.text.startsWith(')', reader.at)) throw expected(reader, '"," or ")"')
  if (!take(reader, ')')) throw expected(reader, '")"')
  return made(reader, query, start, members)
}

/** A filter and the parenthesis that closes it. */
function readInside(reader: Reader): JsonObject {
  const inner = deeper(reader, readOr)
  if (!take(reader, ')')) throw expected(reader, '"and", "or" or ")"')
  return inner
}

/** Each level is a call on the stack here and in every walk over the query. */
function deeper(reader: Reader, read: (reader: Reader) => JsonObject): JsonObject {
  if (++reader.depth > reader.nesting) {
    const message = `the filter nests deeper than ${reader.nesting} levels`
    throw new ServiceError('crud:LimitExceeded', message, { at: positionOf(reader.text, reader.at) })
  }
  const query = read(reader)
  reader.depth--
  return query
}

function readTest(reader: Reader, field: number): JsonObject {
  const path = readPath(reader, CONDITION)
  const at = skipSpace(reader)
  const op = OPERATORS.find((each) => take(reader, each))
  if (op !== undefined) return readComparison(reader, { field: path, op }, field)
  const isNegated = takeWord(reader, 'not')
  if (takeWord(reader, 'in')) return readIn(reader, { field: path, op: isNegated ? '$nin' : '$in' }, field)
  if (take(reader, '~')) {
    const regex = readRegex(reader)
    const test = made(reader, { field: path, ...regex.query }, field, { field, ...regex.offsets })
    return isNegated ? made(reader, { $not: test }, field) : test
  }
  if (isNegated) throw expected(reader, '"in" or "~"')
  if (takeWord(reader, 'contains')) return readContains(reader, path, field)
  throw expected({ ...reader, at }, `one of ${OPERATORS.join(', ')}, in, not in, ~, not ~, contains`)
}

/** Longer ones first: each is tried in turn. */
const OPERATORS = ['<=', '>=', '!=', '=', '<', '>'] as const

interface Begun {
  readonly field: string
  readonly op: string
}

function readComparison(reader: Reader, begun: Begun, field: number): JsonObject {
  const right = skipSpace(reader)
  const rfield = readOtherField(reader)
  if (rfield !== undefined) return made(reader, { ...begun, rfield }, field, { field, rfield: right })
  return made(reader, { ...begun, rvalue: readValue(reader, VALUE_OR_FIELD) }, field, {
    field,
    rvalue: right,
  })
}

function readIn(reader: Reader, begun: Begun, field: number): JsonObject {
  const right = skipSpace(reader)
  const rfield = readOtherField(reader)
  if (rfield !== undefined) return made(reader, { ...begun, rfield }, field, { field, rfield: right })
  return made(reader, { ...begun, values: readValues(reader, LIST_OR_FIELD) }, field, {
    field,
    values: right,
  })
}

function readContains(reader: Reader, array: string, start: number): JsonObject {
  skipSpace(reader)
  const kind = CONTAINS.find((each) => takeWord(reader, each))
  if (kind === undefined) throw expected(reader, '"any", "all" or "none"')
  const values = skipSpace(reader)
  const query = { array, contains: `$${kind}`, values: readValues(reader, LIST) }
  return made(reader, query, start, { array: start, values })
}

const CONTAINS = ['any', 'all', 'none'] as const
