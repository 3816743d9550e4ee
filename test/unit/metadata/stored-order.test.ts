/** The order in which a collection stores members, and which versions can show stored text as it is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { openRegistry } from '../../../src/metadata/registry.ts'
import { mayPassThrough } from '../../../src/plan/pass-through.ts'
import type { ObjectField } from '../../../src/schema/field.ts'
import { storedOrderOf } from '../../../src/schema/member-order.ts'
import { type MemoryMetadata, memoryMetadata } from './memory-metadata.ts'
import { CONFIGURED, metadataOf, versionOf } from './samples.ts'

const TEXT = { type: 'string' }

function texts(names: string): JsonObject {
  return Object.fromEntries(names.split('').map((name) => [name, TEXT]))
}

async function opened(
  versions: readonly (readonly [version: string, fields: Json])[],
  store = memoryMetadata(),
) {
  const registry = await openRegistry(store, { ...CONFIGURED, now: () => new Date(0) })
  for (const [version, fields] of versions) {
    const body = metadataOf('item', { fields, schema: versionOf(version) })
    await registry.create('bob', { entity: 'item', version }, body)
  }
  return registry
}

/** The names at the root, without those that every document has first. */
function storedNames(root: ObjectField): string {
  return storedOrderOf(root).slice(2).join('')
}

/** Each row: what the versions list; in which order members are stored; which versions show stored text as it is. */
const ROWS: readonly (readonly [lists: readonly string[], stored: string, passing: readonly number[]])[] = [
  [['ab'], 'ab', [1]],
  [['ab', 'abc'], 'abc', [2]],
  [['ab', 'acb'], 'acb', [2]],
  [['ab', 'cab'], 'cab', [2]],
  [['ab', 'cdaebf'], 'cdaebf', [2]],
  [['a', 'ba', 'cba', 'dcba'], 'dcba', [4]],
  [['ad', 'abd', 'abcd'], 'abcd', [3]],
  [['ab', 'ba'], 'ab', [1]],
  [['abc', 'cab', 'abc'], 'abc', [1, 3]],
  [['ab', 'xba', 'xab'], 'axb', []],
]

for (const [lists, stored, passing] of ROWS) {
  test(`stored order: ${lists.join(', ')} are stored as ${stored}`, async () => {
    const versions = lists.map((names, i) => [`${i + 1}.0.0`, texts(names)] as const)
    const registry = await opened(versions)
    const schemas = registry.schemasOf('item')
    assert.deepEqual(
      schemas.map(({ root }) => storedNames(root)),
      lists.map(() => stored),
    )
    assert.deepEqual(
      schemas.flatMap((schema, i) => (mayPassThrough(schema) ? [i + 1] : [])),
      passing,
    )
  })
}

test('stored order: sizes follow their arrays, also those that only another version has', async () => {
  const list = { type: 'array', items: TEXT }
  const registry = await opened([
    ['1.0.0', { a: TEXT, l: list }],
    ['2.0.0', { a: TEXT, l: TEXT, z: TEXT }],
  ])
  const [one, two] = registry.schemasOf('item')
  assert.equal(storedNames(one!.root), 'all#z')
  assert.equal(storedNames(two!.root), 'all#z')
})

test('stored order: objects and elements have orders of their own', async () => {
  const inside = (names: string): JsonObject => ({
    o: { type: 'object', fields: texts(names) },
    l: { type: 'array', items: { type: 'object', fields: texts(names) } },
  })
  const registry = await opened([
    ['1.0.0', inside('ab')],
    ['2.0.0', inside('ba')],
  ])
  const [one, two] = registry.schemasOf('item').map(({ root }) => {
    const list = root.fields.get('l')
    assert.ok(list?.kind === 'array')
    return [root.fields.get('o') as ObjectField, list.element as ObjectField]
  })
  for (const object of one!) assert.equal(object.shownOrder, undefined)
  for (const object of two!) {
    assert.deepEqual(object.shownOrder, ['b', 'a'])
    assert.deepEqual(object.storedOrder, ['a', 'b'])
  }
})

test('stored order: a replaced version still counts', async () => {
  const registry = await opened([
    ['1.0.0-SNAPSHOT', texts('ab')],
    ['1.0.0-SNAPSHOT', texts('ba')],
  ])
  const [schema] = registry.schemasOf('item')
  assert.equal(mayPassThrough(schema!), false)
  assert.equal(storedNames(schema!.root), 'ab')
  assert.deepEqual(schema!.root.shownOrder?.slice(2), ['b', 'a'])
})

test('stored order: an entity that is created again keeps the order of the documents that were kept', async () => {
  const store = memoryMetadata()
  const registry = await opened([['1.0.0', texts('ab')]], store)
  await registry.setStatus('bob', { entity: 'item', version: '1.0.0' }, { status: 'disabled' })
  await registry.remove('bob', 'item', 'keep')
  const again = await opened([['1.0.0', texts('bca')]], store)
  const [schema] = again.schemasOf('item')
  assert.equal(mayPassThrough(schema!), false)
  assert.equal(storedNames(schema!.root), 'cab')
})

/** What an earlier release recorded: no order. Each version stored its own, then other members by name. */
const EARLIER: readonly (readonly [lists: readonly string[], passing: readonly number[]])[] = [
  [['ba'], [1]],
  [['ba', 'bac'], [2]],
  [['ba', 'bacd'], [2]],
  [['ba', 'badc'], []],
  [['ba', 'bca'], []],
  [['ba', 'ab'], []],
  [['bac', 'ba'], [1]],
]

for (const [lists, passing] of EARLIER) {
  test(`stored order: in a store of an earlier release, ${lists.join(', ')}`, async () => {
    const store = memoryMetadata()
    await opened(
      lists.map((names, i) => [`${i + 1}.0.0`, texts(names)] as const),
      store,
    )
    const registry = await opened([], withoutOrder(store))
    const schemas = registry.schemasOf('item')
    assert.deepEqual(
      schemas.flatMap((schema, i) => (mayPassThrough(schema) ? [i + 1] : [])),
      passing,
    )
    for (const { root } of schemas) assert.equal(root.storedOrder, undefined)
  })
}

/** Each row: what the versions of an earlier release list; what the record says of order when another version is added. */
const ADDED: readonly (readonly [lists: readonly string[], added: string, entries: readonly string[]])[] = [
  [['ba'], 'bxa', ['$ordered', '$before.["x","a"]']],
  [['ba', 'bac'], 'ab', ['$ordered']],
  [['ba', 'ab'], 'bxa', []],
]

for (const [lists, added, entries] of ADDED) {
  test(`stored order: in a store of an earlier release with ${lists.join(', ')}, ${added} is added`, async () => {
    const store = memoryMetadata()
    await opened(
      lists.map((names, i) => [`${i + 1}.0.0`, texts(names)] as const),
      store,
    )
    const earlier = withoutOrder(store)
    await opened([['9.0.0', texts(added)]], earlier)
    const { paths } = earlier.prepared.get('item')!
    assert.deepEqual(paths.filter(isOrder), entries)
  })
}

test('stored order: a snapshot that only writes other keys in another order is no change', async () => {
  const version = '1.0.0-SNAPSHOT'
  const store = memoryMetadata()
  const long = (constraints: JsonObject): JsonObject => ({ a: { type: 'string', constraints }, b: TEXT })
  const registry = await opened([[version, long({ minLength: 1, maxLength: 2 })]], store)
  const { epoch } = await store.readMetadata()
  const body = metadataOf('item', {
    fields: long({ maxLength: 2, minLength: 1 }),
    schema: versionOf(version),
  })
  await registry.create('bob', { entity: 'item', version }, body)
  assert.equal((await store.readMetadata()).epoch, epoch)
})

function isOrder(entry: string): boolean {
  return /^\$(?:ordered$|before\.)/.test(entry)
}

function withoutOrder(store: MemoryMetadata): MemoryMetadata {
  return {
    ...store,
    readMetadata: async () => {
      const records = await store.readMetadata()
      const collections = records.collections.map(({ collection, paths }) => ({
        collection,
        paths: paths.filter((entry) => !isOrder(entry)),
      }))
      return { ...records, collections }
    },
  }
}
