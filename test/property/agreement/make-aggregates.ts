/** Random aggregates, and documents that they group in few groups; the odd values are the point. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { Chance } from '../../support/chance.ts'
import { POOLS } from './pools.ts'

const SIMPLE = ['boolean', 'integer', 'double', 'biginteger', 'bigdecimal', 'string', 'date'] as const
type Simple = (typeof SIMPLE)[number]

const DATES: readonly string[] = [
  '00000101T00:00:00.000+0000',
  '00000103T12:00:00.000+0000',
  '19691231T23:59:59.999+0000',
  '20000229T12:30:45.001+0000',
  '20181104T02:59:59.999+0000',
  '20181104T03:30:00.000+0000',
  '20231231T23:00:00.000+0000',
  '20240331T00:59:59.000+0000',
  '20240331T01:00:00.000+0000',
  '20241027T00:30:00.000+0000',
  '20241027T01:30:00.000+0000',
  '20241103T04:30:00.000+0000',
  '20241103T05:30:00.000+0000',
  '99991231T23:59:59.999+0000',
]

const ZONES = [
  'UTC',
  'Europe/Zurich',
  'America/Sao_Paulo',
  'America/Havana',
  'Asia/Kathmandu',
  'Pacific/Apia',
]

const fieldsOf = (types: Readonly<Record<string, Simple>>): JsonObject =>
  Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]))

/** The types of fields by name, in a document, in an element, and in an element of an element. */
const TYPES: Readonly<Record<string, Simple>> = {
  b: 'boolean',
  i: 'integer',
  d: 'double',
  bi: 'biginteger',
  bd: 'bigdecimal',
  s: 'string',
  t: 'date',
  /** Numbers and texts that other versions stored. */
  x: 'integer',
  y: 'double',
  z: 'integer',
}
const OTHER_TYPES: Readonly<Record<string, Simple>> = { x: 'bigdecimal', y: 'bigdecimal', z: 'string' }

function fields(types: Readonly<Record<string, Simple>>): JsonObject {
  const inner = {
    type: 'array',
    items: { type: 'object', fields: fieldsOf({ i: 'integer', bd: 'bigdecimal' }) },
  }
  const element = {
    ...fieldsOf({ i: 'integer', bd: 'bigdecimal', s: 'string', t: 'date', d: 'double' }),
    in: inner,
  }
  return {
    ...fieldsOf(types),
    o: { type: 'object', fields: fieldsOf({ i: 'integer', s: 'string' }) },
    a: { type: 'array', items: { type: 'object', fields: element } },
    n: { type: 'array', items: { type: 'bigdecimal' } },
    w: { type: 'array', items: { type: 'string' } },
  }
}

/** The version that is asked, and one that stored other types before. */
export const VERSIONS: readonly JsonObject[] = [fields(TYPES), fields({ ...TYPES, ...OTHER_TYPES })]

export function makeAggregated(chance: Chance, version: number): JsonObject {
  const types = version === 0 ? TYPES : { ...TYPES, ...OTHER_TYPES }
  const value = (type: Simple): Json =>
    chance.happens(10) ? null : type === 'date' ? chance.pick(DATES) : chance.pick(POOLS[type].slice(0, 14))
  const some = (of: Readonly<Record<string, Simple>>): JsonObject =>
    Object.fromEntries(
      Object.entries(of).flatMap(([name, type]) => (chance.happens(15) ? [] : [[name, value(type)]])),
    )
  const inner = (): JsonObject => some({ i: 'integer', bd: 'bigdecimal' })
  const element = (): Json =>
    chance.happens(5)
      ? null
      : {
          ...some({ i: 'integer', bd: 'bigdecimal', s: 'string', t: 'date', d: 'double' }),
          ...(chance.happens(70) && { in: chance.list(3, inner) }),
        }
  return {
    ...some(types),
    ...(chance.happens(80) && { o: some({ i: 'integer', s: 'string' }) }),
    ...(chance.happens(80) && { a: chance.list(4, element) }),
    ...(chance.happens(80) && { n: chance.list(4, () => value('bigdecimal')) }),
    ...(chance.happens(80) && { w: chance.list(3, () => value('string')) }),
  }
}

interface Path {
  readonly path: string
  readonly type: Simple
}

const DOCUMENT: readonly Path[] = [
  ...Object.entries(TYPES).map(([path, type]) => ({ path, type })),
  { path: 'o.i', type: 'integer' },
  { path: 'o.s', type: 'string' },
  { path: 'a.0.i', type: 'integer' },
  { path: 'n.-1', type: 'bigdecimal' },
  { path: 'w#', type: 'integer' },
]
const ELEMENT: readonly Path[] = (
  [
    ['i', 'integer'],
    ['bd', 'bigdecimal'],
    ['s', 'string'],
    ['t', 'date'],
    ['d', 'double'],
    ['in#', 'integer'],
  ] as const
).map(([name, type]) => ({ path: `a.*.${name}`, type }))
const INNER: readonly Path[] = (
  [
    ['i', 'integer'],
    ['bd', 'bigdecimal'],
  ] as const
).map(([name, type]) => ({ path: `a.*.in.*.${name}`, type }))

const CHAINS: readonly (readonly Path[])[] = [
  DOCUMENT,
  DOCUMENT,
  [...DOCUMENT, ...ELEMENT, ...ELEMENT],
  [...DOCUMENT, ...ELEMENT, ...INNER, ...INNER],
  [...DOCUMENT, ...Array.from({ length: 5 }, (): Path => ({ path: 'n.*', type: 'bigdecimal' }))],
  [...DOCUMENT, ...Array.from({ length: 5 }, (): Path => ({ path: 'w.*', type: 'string' }))],
]

const NUMBERS: ReadonlySet<Simple> = new Set(['integer', 'double', 'biginteger', 'bigdecimal'])

export function makeAggregate(chance: Chance): JsonObject {
  const paths = chance.pick(CHAINS)
  const names: { readonly name: string; readonly type: Simple | 'count' }[] = []
  const groupBy = chance.list(4, (): Json => {
    const { path, type } = chance.pick(paths)
    const name = `k${names.length}`
    names.push({ name, type })
    if (type !== 'date' || chance.happens(30)) return { field: path, as: name }
    const truncate = chance.pick(['year', 'month', 'week', 'day', 'hour', 'minute'])
    return { field: path, as: name, truncate, ...(chance.happens(60) && { timeZone: chance.pick(ZONES) }) }
  })
  const values = Object.fromEntries(
    chance.list(5, (): [string, Json] => {
      const name = `v${names.length}`
      const { path, type } = chance.pick(paths)
      const op = chance.pick([
        '$count',
        '$min',
        '$max',
        '$distinct',
        ...(NUMBERS.has(type) ? ['$sum', '$avg', '$sum', '$avg'] : []),
      ])
      const isCount = op === '$count' || op === '$distinct'
      names.push({ name, type: isCount ? 'count' : type })
      return [name, op === '$count' ? { $count: true } : { [op]: path }]
    }),
  )
  const condition = (): Json => {
    const { name, type } = chance.pick(names)
    if (chance.happens(8)) return { field: name, op: chance.pick(['=', '<']), rfield: name }
    if (chance.happens(15)) return { field: name, op: chance.pick(['=', '!=']), rvalue: null }
    const value =
      type === 'count'
        ? chance.int(5)
        : type === 'date'
          ? chance.pick(DATES)
          : chance.pick(POOLS[type].slice(0, 14))
    return { field: name, op: chance.pick(['=', '!=', '<', '<=', '>', '>=']), rvalue: value }
  }
  const isEmpty = names.length === 0
  return {
    ...(chance.happens(40) && { query: makeCondition(chance) }),
    groupBy,
    values: isEmpty ? { n: { $count: true } } : values,
    ...(!isEmpty &&
      chance.happens(30) && {
        having: chance.happens(50) ? condition() : { $or: [condition(), { $not: condition() }] },
      }),
    ...(!isEmpty &&
      chance.happens(40) && {
        sort: [chance.pick(names), chance.pick(names)].map(({ name }) => ({
          [name]: chance.pick(['$asc', '$desc']),
        })),
      }),
    ...(chance.happens(25) && { range: [chance.int(3), chance.int(6)] }),
  }
}

function makeCondition(chance: Chance): Json {
  const { path, type } = chance.pick(DOCUMENT)
  if (type === 'date') return { field: path, op: chance.pick(['<', '>=']), rvalue: chance.pick(DATES) }
  const value = chance.pick(POOLS[type].slice(0, 14))
  return { field: path, op: chance.pick(['=', '!=', '<', '>=']), rvalue: value }
}
