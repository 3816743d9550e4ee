/** Two versions of one entity that disagree about types, and documents of both: few values, which look alike across types. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import type { Chance } from '../../support/chance.ts'
import { makeDocuments } from './make-documents.ts'
import type { Node, ObjectNode, Simple, Type } from './model.ts'

export interface TwoVersions {
  readonly versions: readonly [ObjectNode, ObjectNode]
  /** As each version is sent them. */
  readonly documents: readonly [readonly JsonObject[], readonly JsonObject[]]
}

const DOCUMENTS = 10

export function makeTwoVersions(chance: Chance): TwoVersions {
  const names = ['a', 'b', 'c', 'd'].slice(0, 2 + chance.int(3))
  const pairs = names.map((name) => ({ name, nodes: makePair(chance) }))
  const version = (i: 0 | 1): ObjectNode => ({
    kind: 'object',
    fields: new Map<string, Node>([
      ['_id', { kind: 'simple', type: 'string' }],
      ...pairs.map(({ name, nodes }): [string, Node] => [name, nodes[i]]),
    ]),
  })
  const versions = [version(0), version(1)] as const
  const [first, second] = versions.map((root, i) =>
    makeDocuments(chance, root, DOCUMENTS).map((each, k) => ({
      ...each,
      _id: `${'xy'[(i + k) % 2]}${k}${i}`,
    })),
  )
  return { versions, documents: [first!, second!] }
}

/** The node of a name in each of the versions, sometimes the same one. */
function makePair(chance: Chance): readonly [Node, Node] {
  const first = makeNode(chance)
  const kind = chance.int(100)
  if (kind < 15) return [first, first]
  if (kind < 45) return [first, retyped(chance, first)]
  return [first, makeNode(chance)]
}

/** Of the same shape, with other types inside. */
function retyped(chance: Chance, node: Node): Node {
  if (node.kind === 'simple') return makeSimple(chance)
  if (node.kind === 'array') return { ...node, element: retyped(chance, node.element) as Simple | ObjectNode }
  const fields = [...node.fields].map(([name, field]): [string, Node] => [
    name,
    chance.happens(70) ? retyped(chance, field) : makeNode(chance, 1),
  ])
  return { ...node, fields: new Map(fields) }
}

function makeNode(chance: Chance, depth = 2): Node {
  const kind = depth === 0 ? 0 : chance.int(100)
  if (kind < 50) return makeSimple(chance)
  if (kind < 65) return makeObject(chance, depth - 1)
  const element = chance.happens(50) ? makeSimple(chance) : makeObject(chance, depth - 1)
  return { kind: 'array', element }
}

/** Names that are no numbers, though an engine might take them for some. */
const NAMES = ['x', 'y', 'x', 'y', ' 0', ' 0']

function makeObject(chance: Chance, depth: number): ObjectNode {
  const names = new Set(Array.from({ length: 1 + chance.int(2) }, () => chance.pick(NAMES)))
  return { kind: 'object', fields: new Map([...names].map((name) => [name, makeNode(chance, depth)])) }
}

function makeSimple(chance: Chance): Simple {
  const type = chance.pick(TYPES)
  return { kind: 'simple', type, pool: VALUES[type] }
}

const numbers = (...texts: readonly string[]): readonly Json[] => texts.map(parseTrusted)

const DATE = '20240102T03:04:05.678+0000'
const SMALL = numbers('0', '1', '5')

const VALUES: Readonly<Record<Type, readonly Json[]>> = {
  boolean: [true, false],
  integer: [
    ...SMALL,
    ...numbers('-1', '9007199254740993', '4611686018427387904', '4611686018427388000', '9223372036854775807'),
  ],
  double: [
    ...SMALL,
    ...numbers('1.5', '9.007199254740992e+15', '4.611686018427388e+18', '9.223372036854776e+18'),
  ],
  biginteger: [
    ...SMALL,
    ...numbers('9007199254740993', '9223372036854775808', '123456789012345678901234567890'),
  ],
  bigdecimal: [...SMALL, ...numbers('1.0', '1.5', '1.50', '5.00000000000000000001', '9007199254740992.5')],
  string: ['0', '1', '5', 'true', 'false', '1.5', 'abc', '{}', '[]', '{"x":1}', 'null', DATE, '210001'],
  uid: ['1', '5', 'true', 'abc', DATE],
  date: [DATE, '19700101T00:00:00.000+0000'],
  binary: ['AQID', 'abcd'],
  any: [
    5,
    '5',
    true,
    'abc',
    ...numbers('1.50', '9007199254740993'),
    [],
    {},
    [1, '5', null, true, { x: '5' }, [1]],
    { x: 1, y: [1, 'abc'] },
    { x: { x: '5' }, y: null },
    { '0': 1, '-1': '5', ' 0': true },
    [[], 5, { x: [1, '1'] }],
  ],
}

const TYPES = Object.keys(VALUES) as readonly Type[]
