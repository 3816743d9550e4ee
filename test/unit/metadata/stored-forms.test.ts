/** What a collection remembers of types: which fields are marked, what a version covers, which indexes are wanted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { compileSchema } from '../../../src/metadata/compile.ts'
import { parseEntityInfo } from '../../../src/metadata/documents/entity-info.ts'
import { openRegistry } from '../../../src/metadata/registry.ts'
import { parseSchemaDocument } from '../../../src/metadata/documents/schema-document.ts'
import { formsOf } from '../../../src/metadata/stored-forms.ts'
import type { Field, Fields } from '../../../src/schema/field.ts'
import { memoryMetadata } from './memory-metadata.ts'
import { CONFIGURED, infoOf, metadataOf, schemaOf, versionOf } from './samples.ts'

const type = (name: string): JsonObject => ({ type: name })
const object = (fields: JsonObject): JsonObject => ({ type: 'object', fields })
const array = (items: JsonObject): JsonObject => ({ type: 'array', items })

function compile(fields: JsonObject, stored: readonly string[] = []) {
  const info = parseEntityInfo(infoOf(), '', CONFIGURED)
  return compileSchema(info, parseSchemaDocument(schemaOf(fields), ''), stored)
}

function* marked(fields: Fields): Generator<string> {
  for (const field of fields.values()) yield* markedAt(field)
}

function* markedAt(field: Field): Generator<string> {
  if (field.isMixed) yield field.path
  if (field.kind === 'object') yield* marked(field.fields)
  if (field.kind === 'array') yield* markedAt(field.element)
}

type Case = readonly [rule: string, own: JsonObject, other: JsonObject, paths: readonly string[]]

const CASES: readonly Case[] = [
  ['the same type', { a: type('string') }, { a: type('string') }, []],
  ['types of one kind', { a: type('string') }, { a: type('date') }, []],
  ['another kind', { a: type('string') }, { a: type('integer') }, ['a']],
  ['numbers with more digits than the type has', { a: type('integer') }, { a: type('bigdecimal') }, ['a']],
  ['numbers that the type holds', { a: type('bigdecimal') }, { a: type('integer') }, []],
  [
    'integers and doubles',
    { a: type('integer'), b: type('double') },
    { a: type('double'), b: type('integer') },
    ['a', 'b'],
  ],
  ['integers and doubles that the type holds', { a: type('biginteger') }, { a: type('double') }, []],
  ['any takes everything', { a: type('any') }, { a: type('integer') }, []],
  [
    'all that is inside of an object',
    { a: object({ x: type('string'), y: array(type('string')) }), b: type('string') },
    { a: type('any') },
    ['a', 'a.x', 'a.y', 'a.y.*', 'a.y#'],
  ],
  [
    'an array by its elements',
    { a: array(object({ x: type('string') })), b: array(type('string')) },
    { a: array(type('string')) },
    ['a', 'a.*', 'a.*.x'],
  ],
  ['_id is never marked', { a: type('string') }, { _id: type('integer') }, []],
]

for (const [rule, own, other, paths] of CASES) {
  test(`compile: fields are marked that may hold other kinds: ${rule}`, () => {
    const stored = [...formsOf(compile(own).root.fields), ...formsOf(compile(other).root.fields)]
    assert.deepEqual([...marked(compile(own, stored).root.fields)].toSorted(), [...paths].toSorted())
  })
}

test('compile: a version does not cover what has members that it does not define', () => {
  const coveredBy = (own: JsonObject, ...forms: readonly string[]): boolean =>
    compile(own, [...formsOf(compile(own).root.fields), ...forms]).coversCollection
  assert.equal(coveredBy({ a: type('string') }, '$number.a'), true)
  assert.equal(coveredBy({ a: type('string') }, '$object.a'), false)
  assert.equal(coveredBy({ a: object({}) }, '$any.a'), false)
})

test('registry: stores that remember paths only learn of types from the versions that are there', async () => {
  const store = memoryMetadata()
  const older = {
    ...store,
    readMetadata: async () => {
      const records = await store.readMetadata()
      const isPath = (entry: string): boolean => !entry.startsWith('$')
      const collections = records.collections.map((each) => ({ ...each, paths: each.paths.filter(isPath) }))
      return { ...records, collections }
    },
  }
  const registry = await openRegistry(older, { ...CONFIGURED, now: () => new Date(0) })
  for (const [version, name] of [
    ['1.0.0', 'integer'],
    ['2.0.0', 'string'],
  ] as const) {
    const body = metadataOf('item', { schema: versionOf(version), fields: { a: type(name) } })
    await registry.create('ann', { entity: 'item', version }, body)
  }
  assert.deepEqual([...marked(registry.schemaOf('item', '1.0.0').root.fields)], ['a'])
  assert.deepEqual([...marked(registry.schemaOf('item', '2.0.0').root.fields)], ['a'])
})

test('registry: stores that do not tell integers from doubles learn it from the versions that are there', async () => {
  const store = memoryMetadata()
  const older = {
    ...store,
    readMetadata: async () => {
      const records = await store.readMetadata()
      const isKnown = (entry: string): boolean => !/^\$(?:integer|double)\./.test(entry)
      const collections = records.collections.map((each) => ({ ...each, paths: each.paths.filter(isKnown) }))
      return { ...records, collections }
    },
  }
  const registry = await openRegistry(older, { ...CONFIGURED, now: () => new Date(0) })
  for (const [version, name] of [
    ['1.0.0', 'integer'],
    ['2.0.0', 'double'],
  ] as const) {
    const fields = { a: type(name), b: type('double') }
    await registry.create(
      'ann',
      { entity: 'item', version },
      metadataOf('item', { schema: versionOf(version), fields }),
    )
  }
  assert.deepEqual([...marked(registry.schemaOf('item', '1.0.0').root.fields)], ['a'])
  assert.deepEqual([...marked(registry.schemaOf('item', '2.0.0').root.fields)], ['a'])
})

test('registry: an index declares to the store that values of other kinds may be there', async () => {
  const store = memoryMetadata()
  const registry = await openRegistry(store, { ...CONFIGURED, now: () => new Date(0) })
  const create = (version: string, name: string, info: JsonObject = {}) => {
    const body = metadataOf('item', { info, schema: versionOf(version), fields: { a: type(name) } })
    return registry.create('ann', { entity: 'item', version }, body)
  }
  const indexes = [{ fields: [{ field: 'a' }] }]
  const markOf = () => store.prepared.get('item')!.indexes[0]!.fields[0]!.isMixed
  await create('1.0.0', 'integer', { indexes })
  assert.equal(markOf(), undefined)
  await registry.setStatus('ann', { entity: 'item', version: '1.0.0' }, { status: 'disabled' })
  assert.equal(markOf(), undefined)
  await create('2.0.0', 'string', { indexes })
  assert.equal(markOf(), true)
})
