/** Two entities whose references compare every type with itself and its relatives, with random documents and questions. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import type { Schema } from '../../../src/schema/schema.ts'
import type { Chance } from '../../support/chance.ts'
import { compiledSchema } from '../../support/schema.ts'

const array = (items: Json): JsonObject => ({ type: 'array', items })
const same = (field: string, rfield: string, op = '='): JsonObject => ({ field, op, rfield })

/** Which documents belong together, in all the ways that a value can express, and some that it cannot. */
const JOINS: readonly (JsonObject | undefined)[] = [
  same('i', '$parent.i'),
  same('i', '$parent.d'),
  same('$parent.bd', 'd'),
  same('bi', '$parent.bd'),
  same('s', '$parent.s'),
  same('s', '$parent.u'),
  same('t', '$parent.t'),
  same('b', '$parent.b'),
  same('i', '$parent.is', '$in'),
  same('$parent.s', 'ss', '$in'),
  same('is.*', '$parent.d'),
  same('is.*', '$parent.is.*'),
  same('is', '$parent.is'),
  same('i', '$parent.i', '!='),
  same('d', '$parent.bd', '<'),
  { $and: [same('i', '$parent.i'), same('s', '$parent.s')] },
  { $and: [same('ss.*', '$parent.ss.*', '!='), same('b', '$parent.b')] },
  { $or: [same('i', '$parent.i'), same('s', '$parent.s')] },
  { $not: same('t', '$parent.t') },
  { array: 'list', elemMatch: same('i', '$parent.$parent.d') },
  { $and: [same('b', '$parent.b'), { field: 'i', op: '>', rvalue: 1 }] },
  undefined,
]

const VALUES: JsonObject = {
  i: { type: 'integer' },
  d: { type: 'double' },
  bi: { type: 'biginteger' },
  bd: { type: 'bigdecimal' },
  s: { type: 'string' },
  u: { type: 'uid' },
  t: { type: 'date' },
  b: { type: 'boolean' },
  is: array({ type: 'integer' }),
  ss: array({ type: 'string' }),
}
const REFERENCES = Object.fromEntries(
  JOINS.map((query, i) => [`r${i}`, { type: 'reference', entity: 'other', ...(query && { query }) }]),
)
const FIELDS = {
  _id: { type: 'string' },
  ...VALUES,
  ...REFERENCES,
  list: array({ type: 'object', fields: { ...VALUES, ...REFERENCES } }),
}

const SCHEMAS: Readonly<Record<string, Schema>> = {
  one: compiledSchema('one', FIELDS),
  other: compiledSchema('other', FIELDS),
}

export function schemaOf(entity: string): Schema {
  return SCHEMAS[entity]!
}

const NUMBERS = ['0', '-0.0', '1', '1.0', '1e0', '2.50', '2.5', '9007199254740992', '9007199254740993']
const TEXTS = ['""', '"a"', '"b"', '"1"', '"ä"']
const DATES = ['"2024-01-01T00:00:00.000Z"', '"2024-01-01T00:00:00.001Z"']
const POOLS: Readonly<Record<string, readonly string[]>> = {
  i: NUMBERS,
  d: NUMBERS,
  bi: NUMBERS,
  bd: NUMBERS,
  s: TEXTS,
  u: TEXTS,
  t: DATES,
  b: ['true', 'false'],
}
/** What another version may have left there. */
const STRANGE = ['null', '1', '"a"', 'true', '{"x":1}', '[1]', '[]']

export function makeDocument(chance: Chance, id: number): JsonObject {
  const list = chance.list(4, () => `{${membersOf(chance)}}`)
  const members = [
    `"_id":"${id}"`,
    membersOf(chance),
    ...(list.length > 0 ? [`"list":[${list.join()}]`] : []),
  ]
  return parseTrusted(`{${members.filter((each) => each !== '').join()}}`) as JsonObject
}

function membersOf(chance: Chance): string {
  const values = Object.entries(POOLS).map(([name, pool]) => [name, textOf(chance, pool)] as const)
  const lists = (['is', 'ss'] as const).map(
    (name) => [name, `[${chance.list(4, () => textOf(chance, POOLS[name[0]!]!)).join()}]`] as const,
  )
  return [...values, ...lists]
    .filter(() => !chance.happens(15))
    .map(([name, text]) => `"${name}":${text}`)
    .join()
}

function textOf(chance: Chance, pool: readonly string[]): string {
  return chance.happens(6) ? chance.pick(STRANGE) : chance.pick(pool)
}

export function makeQuery(chance: Chance, depth = 2): JsonObject {
  if (depth > 0 && chance.happens(40)) {
    const terms = [makeQuery(chance, depth - 1), makeQuery(chance, depth - 1)]
    return chance.pick([{ $and: terms }, { $or: terms }, { $not: terms[0]! }])
  }
  const inside = chance.happens(30) ? 'list.*.' : ''
  const reference = `${inside}r${chance.int(JOINS.length)}`
  return chance.pick<JsonObject>([
    { field: `${reference}.*.i`, op: chance.pick(['=', '!=', '<']), rvalue: chance.int(3) },
    { field: `${reference}.*.s`, op: '$in', values: ['a', 'b', null] },
    { field: `${reference}#`, op: chance.pick(['=', '!=', '>']), rvalue: chance.int(4) },
    { field: reference, op: chance.pick(['=', '!=']), rvalue: null },
    { field: `${reference}.*.r${chance.int(JOINS.length)}.*.s`, op: '=', rvalue: 'a' },
    { field: `${reference}.*.is.*`, op: chance.pick(['=', '<']), rfield: 'is.*' },
    { field: 'is.*', op: chance.pick(['=', '!=', '<']), rfield: 'list.*.is.*' },
    { array: reference, elemMatch: makeInner(chance, inside) },
    { array: 'list', elemMatch: { field: `r${chance.int(JOINS.length)}.*.s`, op: '=', rvalue: 'b' } },
  ])
}

/** Inside of a joined document, with values of what is around it. */
function makeInner(chance: Chance, inside: string): JsonObject {
  const out = inside === '' ? '$parent' : '$parent.$parent'
  const terms = [
    same('i', `${out}.d`, chance.pick(['=', '!=', '>'])),
    { field: 's', op: '=', rvalue: 'a' },
    same('s', `${out}.ss`, '$in'),
    { array: 'list', elemMatch: { field: 'b', op: '=', rvalue: true } },
  ]
  return chance.happens(50) ? { $and: [chance.pick(terms), chance.pick(terms)] } : chance.pick(terms)
}
