/** Random aggregates of the documents of `make-aggregated.ts`, along paths through arrays and references. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { Chance } from '../../support/chance.ts'
import { LISTED, SAME, type Simple, TYPES, type Types, pick } from './make-aggregated.ts'

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
  const one = under('one.*.', SAME)
  const many = under('many.*.', SAME)
  const inElements = under('a.*.one.*.', SAME)
  const often = (path: string, type: Simple): readonly Path[] =>
    Array.from({ length: 5 }, () => ({ path, type }))
  const chains = [
    own,
    own,
    [...own, ...elements, ...elements],
    [...own, ...elements, ...inners, ...inners],
    [...own, ...one, ...one],
    [...own, ...one, ...often('one.*.list.*.i', 'integer'), ...under('one.*.list.*.', LISTED)],
    [...own, ...many, ...many],
    [...own, ...elements, ...inElements, ...inElements],
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
