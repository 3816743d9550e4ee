import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from 'fast-check'
import { SEED } from '../../support/seed.ts'

import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { isIndex } from '../../../src/base/path.ts'
import { parseEntityInfo, printEntityInfo } from '../../../src/metadata/documents/entity-info.ts'
import { compileSchema } from '../../../src/metadata/compile.ts'
import { parseSchemaDocument, printSchemaDocument } from '../../../src/metadata/documents/schema-document.ts'
import { CONFIGURED, json, schemaOf } from './samples.ts'

fc.configureGlobal({ seed: SEED })

const name = fc
  .string({ minLength: 1, maxLength: 6 })
  .filter(
    (each) =>
      /^[A-Za-z_ äß-][^.#\0]*$/.test(each) && !RESERVED.has(each) && !isIndex(each) && each.trim() !== '',
  )
const RESERVED = new Set(['_id', 'objectType', 'constructor', 'prototype', '__proto__', '-'])
const roles = fc.array(fc.constantFrom('a', 'b', 'anyone', 'noone'), { maxLength: 3 })
const access = fc.record({ find: roles, insert: roles, update: roles }, { requiredKeys: [] })
const described = { description: fc.option(fc.string(), { nil: null }), access }
const count = fc.nat({ max: 5 })
const textConstraints = fc.record(
  { required: fc.boolean(), minLength: count, matches: fc.constant('[a-z]*') },
  { requiredKeys: [] },
)
const bound = fc.constantFrom('0.10', '1e2', '-9223372036854775808', '12.340').map((text) => json(text))
const numberConstraints = fc.record({ required: fc.boolean(), minimum: bound }, { requiredKeys: [] })
const generator = fc.constantFrom<Json>(
  { type: 'UUID' },
  { type: 'CurrentTime', overwrite: true },
  { type: 'IntSequence', configuration: { name: 's', increment: '0' }, note: 1 },
)
const text = fc.record(
  {
    ...described,
    type: fc.constant('string'),
    constraints: textConstraints,
    valueGenerator: generator,
    ui: fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>,
  },
  { requiredKeys: ['type'] },
)
const number = fc.record(
  {
    ...described,
    type: fc.constantFrom('integer', 'double', 'biginteger', 'bigdecimal'),
    constraints: numberConstraints,
  },
  { requiredKeys: ['type'] },
)
const plain = fc.record(
  { ...described, type: fc.constantFrom('boolean', 'date', 'binary', 'uid', 'any') },
  { requiredKeys: ['type'] },
)
const reference = fc.record(
  {
    ...described,
    type: fc.constant('reference'),
    entity: fc.constant('other'),
    query: fc.constant({ field: 'a', op: '=', rvalue: 1 }),
  },
  { requiredKeys: ['type', 'entity'] },
)

const { fields } = fc.letrec<{ fields: JsonObject; field: JsonObject }>((tie) => ({
  fields: fc.dictionary(name, tie('field'), { maxKeys: 4, noNullPrototype: true }),
  field: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    number,
    plain,
    reference,
    fc.record(
      { ...described, type: fc.constant('object'), fields: tie('fields') },
      { requiredKeys: ['type'] },
    ),
    fc.record(
      { ...described, type: fc.constant('array'), items: items(tie('fields')) },
      { requiredKeys: ['type', 'items'] },
    ),
  ),
}))

function items(inner: fc.Arbitrary<JsonObject>): fc.Arbitrary<Json> {
  return fc.oneof(
    fc.record({ type: fc.constant('string'), constraints: textConstraints }, { requiredKeys: ['type'] }),
    fc.record({ type: fc.constant('object'), fields: inner }),
  )
}

test('metadata: printing what was printed changes nothing, and the schema compiles', () => {
  const info = parseEntityInfo({ name: 'item' }, '', CONFIGURED)
  const print = (value: Json): string => JSON.stringify(printSchemaDocument(parseSchemaDocument(value, '')))
  fc.assert(
    fc.property(fields, (written) => {
      const document = schemaOf({ first: { type: 'string' }, ...written })
      const once = print(document)
      assert.equal(print(json(once)), once)
      const schema = compileSchema(info, parseSchemaDocument(json(once), ''), [])
      assert.deepEqual(
        [...schema.root.fields.keys()],
        Object.keys((json(once) as { fields: JsonObject }).fields),
      )
    }),
    { numRuns: 300, verbose: 1 },
  )
})

test('entity info: printing what was printed changes nothing', () => {
  const print = (value: Json): string =>
    JSON.stringify(printEntityInfo(parseEntityInfo(value, '', CONFIGURED)))
  const key = fc.record(
    { field: name, dir: fc.constantFrom('$asc', '$desc'), caseInsensitive: fc.boolean() },
    { requiredKeys: ['field'] },
  )
  const index = fc.record(
    {
      name: fc.option(fc.string(), { nil: null }),
      unique: fc.boolean(),
      fields: fc.array(key, { minLength: 1, maxLength: 3 }),
    },
    { requiredKeys: ['fields'] },
  )
  const info = fc.record(
    {
      indexes: fc.uniqueArray(index, {
        maxLength: 3,
        selector: (each) => each.fields.map(({ field }) => field).join('|'),
      }),
      hooks: fc.array(fc.record({ name, actions: fc.constant(['delete', 'insert']) }), { maxLength: 2 }),
      note: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(info, (written) => {
      const once = print({ name: 'item', ...written })
      assert.equal(print(json(once)), once)
    }),
    { numRuns: 200 },
  )
})
