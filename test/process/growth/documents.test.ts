/** Documents as they are sent become documents as they are stored, and are compared with what was stored before. */
import type { WriteVisibility } from '../../../src/access/requests.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { carryMembers } from '../../../src/schema/carry.ts'
import { changedFields } from '../../../src/schema/changes.ts'
import { type Sources, prepareDocument } from '../../../src/schema/document.ts'
import { faultBudget } from '../../../src/schema/faults.ts'
import { pairElements } from '../../../src/schema/pair-elements.ts'
import type { ArrayField, Field } from '../../../src/schema/field.ts'
import { faultsOfNew, listPaths } from '../../../src/service/write/denials.ts'
import { compiledSchema } from '../../support/schema.ts'
import { type Case, many, testGrowth } from './growth.ts'

const LINE = {
  sku: { type: 'string' },
  quantity: { type: 'integer' },
  tags: { type: 'array', items: { type: 'string' } },
}
const schema = compiledSchema('t', {
  text: { type: 'string', constraints: { minLength: 1, maxLength: 100_000_000 } },
  numbers: { type: 'array', items: { type: 'integer' } },
  lines: { type: 'array', items: { type: 'object', fields: LINE } },
  named: {
    type: 'array',
    items: {
      type: 'object',
      fields: {
        id: { type: 'string', constraints: { 'element-identity': true } },
        value: { type: 'integer' },
      },
    },
  },
  free: { type: 'any' },
})

/** What arrays may hold, from n elements that are told apart to n that are all the same. */
const CONTENTS: readonly (readonly [what: string, field: string, element: (i: number) => Json])[] = [
  ['different elements', 'lines', (i) => ({ sku: `s${i}`, quantity: i })],
  ['equal elements', 'lines', () => ({ sku: 's', quantity: 1 })],
  ['equal values', 'numbers', () => 1],
  ['elements with nested arrays', 'lines', (i) => ({ sku: 's', tags: [`t${i % 7}`, 'u'] })],
  ['elements with an identity', 'named', (i) => ({ id: `i${i}`, value: i })],
]

for (const [what, field, element] of CONTENTS) {
  const of = (count: number, offset = 0): JsonObject => ({
    [field]: many(count, (i) => element(i + offset)),
  })
  testGrowth(what, [
    ['prepareDocument', 1_000, (n) => preparing(of(n))],
    ['changedFields: one is added', 1_000, (n) => comparing(of(n), of(n + 1))],
    ['changedFields: all move', 1_000, (n) => comparing(of(n), of(n, 1))],
    ['carryMembers: one is added', 1_000, (n) => carrying(of(n), of(n + 1))],
    [
      'pairElements: reversed',
      1_000,
      (n) => pairing(field, of(n), { [field]: (of(n)[field] as Json[]).toReversed() }),
    ],
  ])
}

/** Elements that differ in their deepest member only. */
const DEEP = 40
const deepSchema = compiledSchema('deep', {
  lines: { type: 'array', items: { type: 'object', fields: nestedFields(DEEP) } },
})

testGrowth('depth of elements', [
  [
    'pairElements: the last four change',
    4,
    (n) => {
      const lines = (last: number): Json[] => many(400, (i) => nestedMembers(n, i < 396 ? i : -last * i))
      const { element } = deepSchema.root.fields.get('lines') as ArrayField
      const [before, after] = [lines(1), lines(2)]
      return () => pairElements(before, after, element)
    },
  ],
])

function nestedFields(depth: number): JsonObject {
  const below: JsonObject = depth === 0 ? {} : { m: { type: 'object', fields: nestedFields(depth - 1) } }
  return { leaf: { type: 'integer' }, ...below }
}

function nestedMembers(depth: number, leaf: number): JsonObject {
  return depth === 0 ? { leaf } : { leaf: 0, m: nestedMembers(depth - 1, leaf) }
}

const FAULTY: readonly Case[] = [
  ['wrong values', 20_000, (n) => preparing({ numbers: many(n, () => 'x') })],
  ['unknown fields', 10_000, (n) => preparing(Object.fromEntries(many(n, (i) => [`u${i}`, 1])))],
  ['wrong elements', 10_000, (n) => preparing({ lines: many(n, () => 1) })],
  ['repeated identities', 5_000, (n) => preparing({ named: many(n, () => ({ id: 'a' })) })],
  ['length of a wrong value', 100_000, (n) => preparing({ numbers: ['1'.repeat(n)] })],
  ['length of an unknown name', 100_000, (n) => preparing({ ['u'.repeat(n)]: 1 })],
]

testGrowth('prepareDocument', [
  ...FAULTY,
  ['length of a text', 50_000, (n) => preparing({ text: 'ab\n'.repeat(n) })],
  ['members of any', 2_000, (n) => preparing({ free: Object.fromEntries(many(n, (i) => [`m${i}`, i])) })],
  ['depth of any', 150, (n) => preparing({ free: nested(n) })],
])

const ONLY_ARRAYS = {
  mayInsert: ({ kind }: Field) => kind === 'array',
  insertRules: [],
} as unknown as WriteVisibility

testGrowth('faultsOfNew', [
  [
    'refused paths',
    5_000,
    (n) => {
      const prepared = prepareDocument(schema, { numbers: many(n, (i) => i) }, sources())
      return () => faultsOfNew(prepared, ONLY_ARRAYS, budget())
    },
  ],
  [
    'listPaths: paths',
    50_000,
    (n) =>
      on(
        many(n, (i) => `a.${i}`),
        listPaths,
      ),
  ],
])

function sources(): Sources {
  return { uuid: () => 'u', id: () => 'i', usesDefaults: true, generate: () => null, faults: budget() }
}

function budget() {
  return faultBudget(DEFAULT_LIMITS)
}

function on<T, R>(value: T, run: (value: T) => R): () => R {
  return () => run(value)
}

function preparing(sent: JsonObject): () => unknown {
  return () => prepareDocument(schema, sent, sources())
}

function comparing(before: JsonObject, after: JsonObject): () => unknown {
  return () => changedFields(before, after, { fields: schema.root.fields, isHidden: () => false })
}

function carrying(before: JsonObject, after: JsonObject): () => unknown {
  return () => carryMembers(before, after, schema.root.fields, () => false)
}

function pairing(field: string, before: JsonObject, after: JsonObject): () => unknown {
  const { element } = schema.root.fields.get(field) as ArrayField
  return () => pairElements(before[field] as Json[], after[field] as Json[], element)
}

function nested(depth: number): Json {
  let value: Json = 1
  for (let i = 0; i < depth; i++) value = { a: value }
  return value
}
