/** Metadata costs as much as there is of it: twice the document is about twice the work, along every dimension. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { accessTable, reachOf, reachesIn } from '../../../src/access/reach.ts'
import { viewOf } from '../../../src/access/view.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { compileSchema } from '../../../src/metadata/compile.ts'
import { diffJson } from '../../../src/metadata/diff.ts'
import { parseEntityInfo } from '../../../src/metadata/documents/entity-info.ts'
import { lint } from '../../../src/metadata/lint/lint.ts'
import { parseMetadataDocument } from '../../../src/metadata/documents/metadata-document.ts'
import { openRegistry } from '../../../src/metadata/registry.ts'
import { roleRecords } from '../../../src/metadata/roles.ts'
import { parseSchemaDocument } from '../../../src/metadata/documents/schema-document.ts'
import { checkSizes } from '../../../src/metadata/documents/sizes.ts'
import { changedFields } from '../../../src/schema/changes.ts'
import { memoryMetadata } from '../../unit/metadata/memory-metadata.ts'
import { CONFIGURED, infoOf, metadataOf, schemaOf, versionOf } from '../../unit/metadata/samples.ts'
import { callerWith } from '../../support/service.ts'
import type { Catalogue } from '../../../src/metadata/catalogue.ts'
import { claimsInRules } from '../../../src/metadata/claims.ts'
import { assertGrowth } from './growth.ts'

const string = { type: 'string' }
const role = (i: number): string => `role${i}`
const list = <T>(count: number, make: (i: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i))
const fieldsOf = (count: number, make: (i: number) => Json): JsonObject =>
  Object.fromEntries(list(count, (i) => [`f${i}`, make(i)]))
const roles = (count: number): readonly string[] => list(count, role)
const openTo = (names: readonly Json[]): JsonObject => ({
  find: names,
  insert: names,
  update: names,
  delete: names,
})
const ruled = (i: number): JsonObject => ({
  role: role(i),
  where: { field: '_id', op: '=', rvalue: `v${i}` },
})
const nested = (depth: number, fields: JsonObject): JsonObject =>
  depth === 0
    ? fields
    : { o: { type: 'object', access: { update: roles(depth) }, fields: nested(depth - 1, fields) } }

/** Each field has lists of its own, with a few of the roles. */
const mixed = (count: number, among: number): JsonObject =>
  fieldsOf(count, (i) => ({
    ...string,
    access: { find: [role(i % among), role((i * 7) % among)], update: [role((i * 3) % among)] },
  }))

const SHAPES: readonly (readonly [
  dimension: string,
  start: number,
  make: (size: number) => Parameters<typeof metadataOf>[1],
])[] = [
  ['fields', 120, (size) => ({ schema: { access: openTo(roles(60)) }, fields: mixed(size, 60) })],
  ['roles', 100, (size) => ({ schema: { access: openTo(roles(size)) }, fields: mixed(120, size) })],
  [
    'fields and roles that are alike',
    120,
    (size) => ({ schema: { access: openTo(roles(size)) }, fields: fieldsOf(size, () => string) }),
  ],
  [
    'fields of one role',
    1_000,
    (size) => ({ fields: fieldsOf(size, () => ({ ...string, access: { find: ['role1'] } })) }),
  ],
  [
    'fields that nobody reads',
    120,
    (size) => ({ fields: fieldsOf(size, () => ({ ...string, access: { find: ['noone'] } })) }),
  ],
  ['row rules of one list', 200, (size) => ({ schema: { access: openTo(list(size, ruled)) } })],
  [
    'row rules of fields',
    60,
    (size) => ({ fields: fieldsOf(size, (i) => ({ ...string, access: { find: [ruled(i % 50)] } })) }),
  ],
  [
    'fields deep inside',
    100,
    (size) => ({ schema: { access: openTo(roles(30)) }, fields: nested(25, mixed(size, 30)) }),
  ],
  [
    'references',
    100,
    (size) => ({
      schema: { access: openTo(roles(20)) },
      fields: fieldsOf(size, (i) => ({
        type: 'reference',
        entity: 'item',
        access: { find: [role(i % 20)] },
        query: { field: '_id', op: '=', rfield: '$parent._id' },
      })),
    }),
  ],
  ['enums', 2_000, (size) => ({ info: { enums: list(size, (i) => ({ name: `e${i}`, values: ['a'] })) } })],
  [
    'values of an enum',
    20_000,
    (size) => ({
      info: { enums: [{ name: 'e', values: list(size, (i) => `v${i}`) }] },
      fields: { f: { ...string, constraints: { enum: 'e' } } },
    }),
  ],
  [
    'element identities',
    100,
    (size) => ({
      schema: { access: openTo(roles(40)) },
      fields: {
        a: {
          type: 'array',
          items: {
            type: 'object',
            fields: fieldsOf(size, (i) => ({
              ...string,
              constraints: { 'element-identity': true },
              access: { find: [role(i % 40)] },
            })),
          },
        },
      },
    }),
  ],
  [
    'unique indexes',
    10,
    (size) => ({
      info: {
        indexes: list(size, (i) => ({
          unique: true,
          fields: list(20, (j) => ({ field: `f${(i * 3 + j) % 200}` })),
        })),
      },
      schema: { access: openTo(roles(40)) },
      fields: mixed(200, 40),
    }),
  ],
]

for (const [dimension, start, make] of SHAPES) {
  test(`metadata: cost of ${dimension} grows as they do`, async () => {
    await assertGrowth(start, (size) => {
      const body = metadataOf('item', make(size))
      return () => {
        checkSizes(body, {
          versionFields: 1e6,
          versionRoles: 1e6,
          entityVersions: 1,
          entityCharacters: 1e9,
          entityIndexes: 1e6,
          indexFields: 1e6,
        })
        const { info, schema } = parseMetadataDocument(body, CONFIGURED)
        const compiled = compileSchema(info, schema, [])
        lint(info, [compiled], { access: { reachOf, reachesIn }, others: () => undefined })
        roleRecords([schema])
        viewOf(compiled)(callerWith('role1', 'role2'))
      }
    })
  })
}

test('metadata: comparing versions costs as much as there are fields and versions', async () => {
  const info = parseEntityInfo(infoOf(), '', CONFIGURED)
  const version = (i: number, count: number) => {
    const fields = mixed(count, 20 + (i % 3))
    const more = { ...versionOf(`${i + 1}.0.0`), access: openTo(roles(20 + (i % 5))) }
    return compileSchema(info, parseSchemaDocument(schemaOf(fields, more), ''), [])
  }
  const compare = (schemas: readonly ReturnType<typeof version>[]) => () =>
    lint(info, schemas, { access: { reachOf, reachesIn }, others: () => undefined })
  await assertGrowth(60, (size) => compare(list(4, (i) => version(i, size))))
  await assertGrowth(4, (size) => compare(list(size, (i) => version(i, 40))))
})

test('metadata: hooks and versions that they watch do not multiply', async () => {
  await assertGrowth(6, (size) => {
    const hooks = list(size, (i) => ({
      name: `h${i}`,
      actions: ['insert'],
      configuration: { watchProjection: list(20, (j) => ({ field: `other${i}_${j}` })) },
    }))
    const info = parseEntityInfo(infoOf({ hooks }), '', CONFIGURED)
    const schemas = list(size, (i) =>
      compileSchema(info, parseSchemaDocument(schemaOf(mixed(200, 20), versionOf(`${i + 1}.0.0`)), ''), []),
    )
    return () => lint(info, schemas, { access: { reachOf, reachesIn }, others: () => undefined })
  })
})

test('metadata: the access report costs what it tells', async () => {
  const compiled = (count: number, among: number) => {
    const document = schemaOf(mixed(count, among), { access: openTo(roles(among)) })
    return compileSchema(parseEntityInfo(infoOf(), '', CONFIGURED), parseSchemaDocument(document, ''), [])
  }
  await assertGrowth(200, (size) => {
    const schema = compiled(size, 50)
    return () => JSON.stringify(accessTable(schema))
  })
  await assertGrowth(50, (size) => {
    const schema = compiled(100, size)
    return () => JSON.stringify(accessTable(schema))
  })
})

test('metadata: differences cost what is compared', async () => {
  await assertGrowth(250, (size) => {
    const [before, after] = [schemaOf(mixed(size, 20)), schemaOf(mixed(size, 21))]
    return () => diffJson(before, after)
  })
})

test('metadata: claims are searched in time that grows with the text', async () => {
  await assertGrowth(4_000, (size) => {
    const changelog = JSON.stringify('"$caller.claims.'.repeat(size))
    return () => {
      const entity = { versions: new Map([['1.0.0', { text: changelog }]]) }
      return claimsInRules({ entities: new Map([['e', entity]]) } as unknown as Catalogue)
    }
  })
})

test('metadata: a write to an entity costs what the entity has', async () => {
  const opened = await openRegistry(memoryMetadata(), { ...CONFIGURED, now: () => new Date(0) })
  const costs: number[] = []
  for (let i = 1; i <= 48; i++) {
    const version = `${i}.0.0`
    const body = metadataOf('item', { fields: mixed(100, 10), schema: versionOf(version) })
    const before = process.cpuUsage()
    await opened.create('ann', { entity: 'item', version }, body)
    const { user, system } = process.cpuUsage(before)
    costs.push((user + system) / 1_000)
  }
  const [maxGrowth, floorMs] = [2.6, 6]
  const least = (from: number, to: number): number => Math.min(...costs.slice(from, to))
  assert.ok(least(36, 48) <= maxGrowth * 2 * Math.max(least(6, 12), floorMs), costs.map(Math.round).join())
})

test('update: what goes with a container costs what the container holds', async () => {
  const fields = {
    a: {
      type: 'array',
      items: { type: 'object', fields: { x: string, y: { type: 'object', fields: { z: string } } } },
    },
  }
  const info = parseEntityInfo(infoOf(), '', CONFIGURED)
  const schema = compileSchema(info, parseSchemaDocument(schemaOf(fields), ''), [])
  const compared = { fields: schema.root.fields, isHidden: () => false }
  await assertGrowth(2_500, (size) => {
    const before = { a: list(size, (i) => ({ x: `${i}`, y: { z: 'z' } })) }
    return () => changedFields(before, {}, compared)
  })
  await assertGrowth(600, (size) => {
    const a = list(size, (i) => ({ x: `${i}`, y: { z: 'z' } }))
    return () => changedFields({ a }, { a: a.slice(1) }, compared)
  })
})
