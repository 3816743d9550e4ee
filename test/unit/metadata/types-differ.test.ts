/** The finding about versions that disagree about types. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reachOf, reachesIn } from '../../../src/access/reach.ts'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { compileSchema } from '../../../src/metadata/compile.ts'
import { parseEntityInfo } from '../../../src/metadata/documents/entity-info.ts'
import { lint } from '../../../src/metadata/lint/lint.ts'
import { parseSchemaDocument } from '../../../src/metadata/documents/schema-document.ts'
import { CONFIGURED, infoOf, schemaOf, versionOf } from './samples.ts'

const ACCESS: JsonObject = { find: ['anyone'], insert: ['hr'], update: ['hr'], delete: ['hr'] }
const type = (name: string): JsonObject => ({ type: name })
const object = (fields: JsonObject): JsonObject => ({ type: 'object', fields })
const array = (items: JsonObject): JsonObject => ({ type: 'array', items })

/** Versions are 1.0.0, 2.0.0 and so on. */
function findingsIn(...versions: readonly JsonObject[]) {
  const info = parseEntityInfo(infoOf({ name: 'item' }), '', CONFIGURED)
  const schemas = versions.map((fields, i) => {
    const more = { ...versionOf(`${i + 1}.0.0`), name: 'item', access: ACCESS }
    return compileSchema(info, parseSchemaDocument(schemaOf(fields, more), ''), [])
  })
  return lint(info, schemas, { access: { reachOf, reachesIn }, others: () => undefined }).map(
    ({ code, at, version }) => [code, at, version],
  )
}

type Case = readonly [rule: string, first: JsonObject, second: JsonObject, at: string | undefined]

const CASES: readonly Case[] = [
  ['a number and a text', { a: type('integer') }, { a: type('string') }, '/schema/fields/a'],
  ['a truth value and a number', { a: type('boolean') }, { a: type('double') }, '/schema/fields/a'],
  ['an object and a text', { a: object({ x: type('string') }) }, { a: type('string') }, '/schema/fields/a'],
  ['elements of arrays', { a: array(type('date')) }, { a: array(type('double')) }, '/schema/fields/a/items'],
  [
    'members of objects',
    { a: object({ x: type('string') }) },
    { a: object({ x: type('integer') }) },
    '/schema/fields/a/fields/x',
  ],
  ['numbers of two types compare', { a: type('integer') }, { a: type('bigdecimal') }, undefined],
  ['texts of two types compare', { a: type('uid') }, { a: type('string') }, undefined],
  ['any type in one version', { a: type('any') }, { a: type('integer') }, undefined],
  ['fields of one version only', { a: type('integer') }, { b: type('string') }, undefined],
]

for (const [rule, first, second, at] of CASES) {
  test(`lint: types-differ: ${rule}`, () => {
    const expected = at === undefined ? [] : [['types-differ', at, '2.0.0']]
    assert.deepEqual(findingsIn(first, second), expected)
    const again = at === undefined ? [] : [['types-differ', at, '3.0.0']]
    assert.deepEqual(findingsIn(first, second, second), [...expected, ...again])
  })
}
