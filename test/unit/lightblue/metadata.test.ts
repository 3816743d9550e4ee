import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { compareVersions, entitiesFrom } from '../../../src/lightblue/metadata/entities.ts'
import { readMetadataFiles } from '../../../src/lightblue/metadata/read-files.ts'
import { lightblueMetadata, writeMetadata } from '../../support/lightblue.ts'

const scratch = mkdtempSync(join(tmpdir(), 'smalt-metadata-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const TARGETS = { datasources: ['default', 'other'], backendOf: () => 'sqlite' }

function rewritten(info: JsonObject): { readonly info: JsonObject; readonly notes: readonly string[] } {
  const document = lightblueMetadata({ entity: 'book', fields: {}, info })
  const { entities, notes } = entitiesFrom([document], TARGETS)
  return { info: entities[0]!.info, notes: notes.map(({ kind, what }) => `${kind}: ${what}`) }
}

const DATASTORES: readonly (readonly [given: JsonObject, collection: string, datasource: string])[] = [
  [{ backend: 'mongo', datasource: 'mongodata', collection: 'books' }, 'books', 'default'],
  [{ backend: 'mongo', database: 'lb', collection: 'books' }, 'books', 'default'],
  [{ backend: 'mongo', datasource: 'other', collection: 'books' }, 'books', 'other'],
  [{ backend: 'mongo', collection: 'a name' }, 'book', 'default'],
]

for (const [given, collection, datasource] of DATASTORES) {
  test(`metadata: the datastore ${JSON.stringify(given)} is rewritten`, () => {
    const { info, notes } = rewritten({ datastore: given })
    assert.deepEqual(info['datastore'], { backend: 'sqlite', datasource, collection })
    assert.deepEqual(notes, [
      `rewritten: its documents are stored in the datasource ${datasource}, collection ${collection}`,
    ])
  })
}

test('metadata: the documents of another backend are not in a dump, and the notes say so', () => {
  const { notes } = rewritten({ datastore: { backend: 'rdbms', datasource: 'x' } })
  assert.match(notes.join('\n'), /differs: its backend was rdbms/)
})

const INDEXES: readonly (readonly [given: JsonObject, made: JsonObject, note: RegExp])[] = [
  [
    { name: 'i', unique: 'true', fields: [{ field: 'a', dir: 'asc' }] },
    { name: 'i', unique: true, fields: [{ field: 'a', dir: '$asc' }] },
    /the direction of the index i is "\$asc"/,
  ],
  [
    { name: 'i', unique: true, fields: [{ field: 'a' }], partialFilterExpression: { a: { $exists: true } } },
    { name: 'i', unique: false, fields: [{ field: 'a' }] },
    /differs: the unique index i covered only some documents/,
  ],
  [
    { name: null, fields: [{ field: 'a' }, { field: 'b' }], partialFilterExpression: '{}' },
    { name: null, unique: false, fields: [{ field: 'a' }, { field: 'b' }] },
    /differs: the index on a, b covered only some documents/,
  ],
]

for (const [given, made, note] of INDEXES) {
  test(`metadata: the index ${JSON.stringify(given)} is rewritten`, () => {
    const { info, notes } = rewritten({ indexes: [given] })
    assert.deepEqual(info['indexes'], [made])
    assert.match(notes.join('\n'), note)
  })
}

test('metadata: hooks keep the actions that Lightblue knows, and hooks without any are left out', () => {
  const hooks = [{ name: 'a', actions: ['find', 'insert'] }, { name: 'b', actions: ['find'] }, { name: 'c' }]
  const { info, notes } = rewritten({ hooks })
  assert.deepEqual(info['hooks'], [{ name: 'a', actions: ['insert'] }])
  assert.equal(notes.filter((note) => note.includes('is left out')).length, 2)
})

test('metadata: entities come after those that they refer to, and versions in their order', () => {
  const reference = (entity: string): Json => ({ type: 'reference', entity })
  const { entities } = entitiesFrom(
    [
      lightblueMetadata({ entity: 'a', fields: { to: { type: 'object', fields: { b: reference('b') } } } }),
      lightblueMetadata({
        entity: 'b',
        version: '1.10.0',
        fields: { c: { type: 'array', items: { type: 'object', fields: { x: reference('c') } } } },
      }),
      lightblueMetadata({ entity: 'b', version: '1.9.0', fields: {} }),
      lightblueMetadata({ entity: 'c', fields: { back: reference('a') } }),
    ],
    TARGETS,
  )
  assert.deepEqual(
    entities.map(({ entity, versions }) => [entity, ...versions.map(({ version }) => version)]),
    [
      ['c', '1.0.0'],
      ['b', '1.9.0', '1.10.0'],
      ['a', '1.0.0'],
    ],
  )
})

test('metadata: versions are ordered by their numbers, snapshots before the version itself', () => {
  const versions = ['1.0.0', '0.9.10', '0.9.9', '1.0.0-SNAPSHOT', '10.0.0']
  assert.deepEqual(versions.sort(compareVersions), ['0.9.9', '0.9.10', '1.0.0-SNAPSHOT', '1.0.0', '10.0.0'])
})

test('metadata: different schemas of one version are refused', () => {
  const documents = [{}, { a: { type: 'string' } }].map((fields) =>
    lightblueMetadata({ entity: 'a', fields }),
  )
  assert.throws(() => entitiesFrom(documents, TARGETS), /two different schemas of a 1\.0\.0/)
})

test('metadata files: whole documents, lists, and entity info and schemas apart', async () => {
  const [a, b, c] = ['a', 'b', 'c'].map((entity) => lightblueMetadata({ entity, fields: {} })) as [
    JsonObject,
    JsonObject,
    JsonObject,
  ]
  const directory = writeMetadata(join(scratch, 'mixed'), [[a, b], c['schema']!, c['entityInfo']!])
  writeFileSync(join(directory, 'notes.txt'), 'not metadata')
  assert.deepEqual(await readMetadataFiles(directory), [a, b, c])
})

const UNFIT: readonly (readonly [name: string, content: string, message: RegExp])[] = [
  ['no JSON', '{', /0\.json: it is not valid JSON/],
  ['other JSON', '{"a":1}', /0\.json is not metadata: it needs "entityInfo" and "schema"/],
  [
    'a schema alone',
    JSON.stringify(lightblueMetadata({ entity: 'a', fields: {} })['schema']),
    /schema of a, but no entity info/,
  ],
]

for (const [name, content, message] of UNFIT) {
  test(`metadata files: ${name} is refused`, async () => {
    const directory = writeMetadata(join(scratch, name), [])
    writeFileSync(join(directory, '0.json'), content)
    await assert.rejects(readMetadataFiles(directory), message)
  })
}
