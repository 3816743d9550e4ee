/** Random aggregates, and documents that they group in few groups; the odd values are the point. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import type { Chance } from '../../support/chance.ts'
import { POOLS } from './pools.ts'

const SIMPLE = ['boolean', 'integer', 'double', 'biginteger', 'bigdecimal', 'string', 'date'] as const
type Simple = (typeof SIMPLE)[number]

const DATES: readonly string[] = [
  '00000101T00:00:00.000+0000',
  '00000103T12:00:00.000+0000',
  '18000101T00:00:00.000+0000',
  '18671018T12:00:00.000+0000',
  '18940531T23:29:59.999+0000',
  '18940531T23:30:14.000+0000',
  '19450402T00:59:59.999+0000',
  '19691231T23:59:59.999+0000',
  '20000229T12:30:45.001+0000',
  '20061029T02:30:30.500+0000',
  '20111230T09:59:59.999+0000',
  '20111230T10:00:00.000+0000',
  '20181104T02:59:59.999+0000',
  '20181104T03:30:00.000+0000',
  '20231231T23:00:00.000+0000',
  '20240331T00:59:59.000+0000',
  '20240331T01:00:00.000+0000',
  '20241027T00:30:00.000+0000',
  '20241027T01:30:00.000+0000',
  '20241103T04:30:00.000+0000',
  '20241103T05:30:00.000+0000',
  '25010327T00:59:59.999+0000',
  '25010327T01:00:00.000+0000',
  '99991231T23:59:59.999+0000',
]

const ZONES = [
  'UTC',
  'Europe/Zurich',
  'Europe/Dublin',
  'Africa/Casablanca',
  'Africa/Monrovia',
  'America/Havana',
  'America/Juneau',
  'America/New_York',
  'America/Sao_Paulo',
  'America/St_Johns',
  'Asia/Gaza',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
]

const fieldsOf = (types: Readonly<Record<string, Simple>>): JsonObject =>
  Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]))

/** The types of fields by name, in a document, in an element, and in an element of an element. */
type Types = Readonly<Record<string, Simple>>

interface VersionTypes {
  readonly document: Types
  readonly element: Types
  readonly inner: Types
  /** Of the elements of an array of numbers. */
  readonly number: Simple
}

const SAME: Types = {
  b: 'boolean',
  i: 'integer',
  d: 'double',
  bi: 'biginteger',
  bd: 'bigdecimal',
  s: 'string',
  t: 'date',
}
const SAME_INSIDE: Types = { i: 'integer', bd: 'bigdecimal', s: 'string', t: 'date', d: 'double' }

/** Both versions store documents and are asked; about the other names they disagree. */
const TYPES: readonly [VersionTypes, VersionTypes] = [
  {
    document: {
      ...SAME,
      x: 'integer',
      y: 'double',
      z: 'integer',
      mid: 'integer',
      mib: 'integer',
      mdb: 'double',
      mbb: 'biginteger',
    },
    element: { ...SAME_INSIDE, m: 'integer' },
    inner: { i: 'integer', bd: 'bigdecimal', m: 'double' },
    number: 'integer',
  },
  {
    document: {
      ...SAME,
      x: 'bigdecimal',
      y: 'bigdecimal',
      z: 'string',
      mid: 'double',
      mib: 'biginteger',
      mdb: 'biginteger',
      mbb: 'bigdecimal',
    },
    element: { ...SAME_INSIDE, m: 'double' },
    inner: { i: 'integer', bd: 'bigdecimal', m: 'integer' },
    number: 'double',
  },
]

function fields({ document, element, inner, number }: VersionTypes): JsonObject {
  const array = (types: Types, more: JsonObject = {}): JsonObject => ({
    type: 'array',
    items: { type: 'object', fields: { ...fieldsOf(types), ...more } },
  })
  return {
    ...fieldsOf(document),
    o: { type: 'object', fields: fieldsOf({ i: 'integer', s: 'string', m: number }) },
    a: array(element, { in: array(inner) }),
    n: { type: 'array', items: { type: 'bigdecimal' } },
    m: { type: 'array', items: { type: number } },
    w: { type: 'array', items: { type: 'string' } },
  }
}

export const VERSIONS: readonly JsonObject[] = TYPES.map(fields)

const numbers = (...texts: readonly string[]): readonly Json[] => texts.map(parseTrusted)

/**
 * Numbers near 2^53 and beyond that are one double and several integers, and the numbers that the digits of such a double
 * denote.
 */
const NEAR: Readonly<Partial<Record<Simple, readonly Json[]>>> = {
  integer: numbers(
    '1',
    '9007199254740991',
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
    '18014398509481985',
    '1152921504606846976',
    '1152921504606847000',
    '4611686018427387904',
    '4611686018427388000',
    '9223372036854775807',
    '-9223372036854775808',
  ),
  double: numbers(
    '1',
    '0.1',
    '0.30000000000000004',
    '5e-324',
    '9007199254740991',
    '9.007199254740992e+15',
    '-9.007199254740992e+15',
    '1.8014398509481984e+16',
    '1.152921504606847e+18',
    '4.611686018427388e+18',
    '9.223372036854776e+18',
    '-9.223372036854776e+18',
    '1e+300',
  ),
  biginteger: numbers(
    '1',
    '9007199254740992',
    '9007199254740993',
    '1152921504606846976',
    '1152921504606847000',
    '9223372036854775808',
    '9223372036854776000',
    '-9223372036854776000',
    '123456789012345678901234567890',
  ),
  bigdecimal: numbers(
    '1.0',
    '0.1',
    '0.10',
    '0.1000000000000000055511151231257827',
    '9007199254740992.5',
    '9007199254740993.0',
    '9.007199254740992e15',
    '1152921504606846976.00',
    '4611686018427388000.0',
    '-9223372036854775808.5',
    '1e-400',
  ),
}

function pick(chance: Chance, type: Simple): Json {
  if (type === 'date') return chance.pick(DATES)
  const near = NEAR[type]
  return chance.pick(near && chance.happens(60) ? near : POOLS[type].slice(0, 14))
}

export function makeAggregated(chance: Chance, version: number): JsonObject {
  const types = TYPES[version]!
  const value = (type: Simple): Json => (chance.happens(10) ? null : pick(chance, type))
  const some = (of: Types): JsonObject =>
    Object.fromEntries(
      Object.entries(of).flatMap(([name, type]) => (chance.happens(15) ? [] : [[name, value(type)]])),
    )
  const inner = (): JsonObject => some(types.inner)
  const element = (): Json =>
    chance.happens(5)
      ? null
      : { ...some(types.element), ...(chance.happens(70) && { in: chance.list(3, inner) }) }
  return {
    ...some(types.document),
    ...(chance.happens(80) && { o: some({ i: 'integer', s: 'string', m: types.number }) }),
    ...(chance.happens(80) && { a: chance.list(4, element) }),
    ...(chance.happens(80) && { n: chance.list(4, () => value('bigdecimal')) }),
    ...(chance.happens(80) && { m: chance.list(4, () => value(types.number)) }),
    ...(chance.happens(80) && { w: chance.list(3, () => value('string')) }),
  }
}

interface Path {
  readonly path: string
  readonly type: Simple
}

interface Paths {
  readonly document: readonly Path[]
  /** The paths of one request. */
  readonly chains: readonly (readonly Path[])[]
}

const PATHS = TYPES.map(({ document, element, inner, number }): Paths => {
  const under = (above: string, types: Types): readonly Path[] =>
    Object.entries(types).map(([name, type]) => ({ path: `${above}${name}`, type }))
  const own: readonly Path[] = [
    ...under('', document),
    ...under('o.', { i: 'integer', s: 'string', m: number }),
    { path: 'a.0.i', type: 'integer' },
    { path: 'a.0.m', type: element['m']! },
    { path: 'n.-1', type: 'bigdecimal' },
    { path: 'm.0', type: number },
    { path: 'w#', type: 'integer' },
  ]
  const elements = under('a.*.', { ...element, 'in#': 'integer' })
  const inners = under('a.*.in.*.', inner)
  const often = (path: string, type: Simple): readonly Path[] =>
    Array.from({ length: 5 }, () => ({ path, type }))
  const chains = [
    own,
    own,
    [...own, ...elements, ...elements],
    [...own, ...elements, ...inners, ...inners],
    [...own, ...often('n.*', 'bigdecimal')],
    [...own, ...often('m.*', number)],
    [...own, ...often('w.*', 'string')],
  ]
  return { document: own, chains }
})

const NUMBERS: ReadonlySet<Simple> = new Set(['integer', 'double', 'biginteger', 'bigdecimal'])

const OPERATORS = ['=', '!=', '<', '<=', '>', '>=']

/** Values of one family can be compared with each other. */
function familyOf(type: Simple | 'count'): string {
  return type === 'count' || NUMBERS.has(type) ? 'number' : type
}

/** A request to one of the versions. */
export function makeAggregate(chance: Chance, version: number): JsonObject {
  const { document, chains } = PATHS[version]!
  const paths = chance.pick(chains)
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
    if (chance.happens(30)) {
      const comparable = names.filter((other) => familyOf(other.type) === familyOf(type))
      const other = chance.pick(chance.happens(95) ? comparable : names)
      return { field: name, op: chance.pick(OPERATORS), rfield: other.name }
    }
    if (chance.happens(15)) return { field: name, op: chance.pick(['=', '!=']), rvalue: null }
    const value = type === 'count' ? chance.int(5) : pick(chance, type)
    return { field: name, op: chance.pick(OPERATORS), rvalue: value }
  }
  const isEmpty = names.length === 0
  return {
    ...(chance.happens(40) && { query: makeCondition(chance, document) }),
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

function makeCondition(chance: Chance, paths: readonly Path[]): Json {
  const { path, type } = chance.pick(paths)
  const op = chance.pick(type === 'date' ? ['<', '>='] : ['=', '!=', '<', '>='])
  return { field: path, op, rvalue: pick(chance, type) }
}
