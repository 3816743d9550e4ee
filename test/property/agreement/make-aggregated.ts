/** Random documents that aggregates group in few groups, in two versions; the odd values are the point. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import type { Chance } from '../../support/chance.ts'
import { POOLS } from './pools.ts'

const SIMPLE = ['boolean', 'integer', 'double', 'biginteger', 'bigdecimal', 'string', 'date'] as const
export type Simple = (typeof SIMPLE)[number]

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

const fieldsOf = (types: Readonly<Record<string, Simple>>): JsonObject =>
  Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]))

/** The types of fields by name, in a document, in an element, and in an element of an element. */
export type Types = Readonly<Record<string, Simple>>

interface VersionTypes {
  readonly document: Types
  readonly element: Types
  readonly inner: Types
  /** Of the elements of an array of numbers. */
  readonly number: Simple
}

export const SAME: Types = {
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
export const TYPES: readonly [VersionTypes, VersionTypes] = [
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

const array = (types: Types, more: JsonObject = {}): JsonObject => ({
  type: 'array',
  items: { type: 'object', fields: { ...fieldsOf(types), ...more } },
})

const reference = (field: string, key: string): JsonObject => ({
  type: 'reference',
  entity: 'r',
  query: { field, op: '=', rfield: `$parent.${key}` },
})

/** What the elements of an array in a joined document have. */
export const LISTED: Types = { i: 'integer', bd: 'bigdecimal', d: 'double', t: 'date' }

/** The documents that references join: one by its id, or all of a kind. */
export const JOINED: JsonObject = {
  _id: { type: 'string', constraints: { identity: true } },
  kind: { type: 'string' },
  ...fieldsOf(SAME),
  list: array(LISTED),
}

function fields({ document, element, inner, number }: VersionTypes): JsonObject {
  return {
    key: { type: 'string' },
    kind: { type: 'string' },
    one: reference('_id', 'key'),
    many: reference('kind', 'kind'),
    ...fieldsOf(document),
    o: { type: 'object', fields: fieldsOf({ i: 'integer', s: 'string', m: number }) },
    a: array(element, { key: { type: 'string' }, one: reference('_id', 'key'), in: array(inner) }),
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

export function pick(chance: Chance, type: Simple): Json {
  if (type === 'date') return chance.pick(DATES)
  const near = NEAR[type]
  return chance.pick(near && chance.happens(60) ? near : POOLS[type].slice(0, 14))
}

const IDS = ['r0', 'r1', 'r2', 'r3', 'r4']
/** One of the keys leads nowhere. */
const KEYS: readonly Json[] = [...IDS, 'none', null]
const KINDS: readonly Json[] = ['k0', 'k1', null]

function valueOf(chance: Chance, type: Simple): Json {
  return chance.happens(10) ? null : pick(chance, type)
}

function someOf(chance: Chance, types: Types): JsonObject {
  return Object.fromEntries(
    Object.entries(types).flatMap(([name, type]) =>
      chance.happens(15) ? [] : [[name, valueOf(chance, type)]],
    ),
  )
}

export function makeJoined(chance: Chance): readonly JsonObject[] {
  return IDS.map((_id) => ({
    _id,
    ...someOf(chance, SAME),
    ...(chance.happens(80) && { kind: chance.pick(KINDS) }),
    ...(chance.happens(80) && { list: chance.list(3, () => someOf(chance, LISTED)) }),
  }))
}

export function makeAggregated(chance: Chance, version: number): JsonObject {
  const types = TYPES[version]!
  const value = (type: Simple): Json => valueOf(chance, type)
  const some = (of: Types): JsonObject => someOf(chance, of)
  const inner = (): JsonObject => some(types.inner)
  const element = (): Json =>
    chance.happens(5)
      ? null
      : {
          ...some(types.element),
          key: chance.pick(KEYS),
          ...(chance.happens(70) && { in: chance.list(3, inner) }),
        }
  return {
    ...some(types.document),
    ...(chance.happens(90) && { key: chance.pick(KEYS) }),
    ...(chance.happens(90) && { kind: chance.pick(KINDS) }),
    ...(chance.happens(80) && { o: some({ i: 'integer', s: 'string', m: types.number }) }),
    ...(chance.happens(80) && { a: chance.list(4, element) }),
    ...(chance.happens(80) && { n: chance.list(4, () => value('bigdecimal')) }),
    ...(chance.happens(80) && { m: chance.list(4, () => value(types.number)) }),
    ...(chance.happens(80) && { w: chance.list(3, () => value('string')) }),
  }
}
