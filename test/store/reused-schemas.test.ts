/** A schema that a test has used is for the next test what a new one would be, or it is dropped. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { citusUrl } from '../support/citus.ts'
import { testPostgresUrl } from '../support/postgres.ts'
import { createReusedSchemas } from '../support/reused-schemas.ts'
import { ADMIN, metadataDocument, openServiceAt } from '../support/service.ts'
import { useStore } from '../support/store-kind.ts'

useStore('postgres')

const skip = citusUrl() === undefined ? false : 'on a cluster, no schema is used again'

test('a used schema has the rows of a new one, another name and another secret', { skip }, async () => {
  await using world = await openWorld()
  const first = await world.use()
  await world.schemas.giveBack(first)
  const second = world.schemas.take()
  assert.notEqual(second, first)
  const reused = await world.contentOf(second)
  const other = world.schemas.take()
  await world.open(other)
  const fresh = await world.contentOf(other)
  assert.notEqual(reused['smalt_epoch'], fresh['smalt_epoch'])
  assert.deepEqual(comparable(reused), comparable(fresh))
})

test('a used schema works, and can be used again and again', { skip }, async () => {
  await using world = await openWorld()
  const names = new Set<string>()
  for (let i = 0; i < 3; i++) {
    const schema = await world.use()
    names.add(schema)
    await world.schemas.giveBack(schema)
  }
  assert.equal(names.size, 3)
  const { rows } = await world.pool.query('select from pg_namespace where nspname = any($1)', [[...names]])
  assert.equal(rows.length, 0)
})

for (const alteration of [
  'alter table SCHEMA.smalt_lock drop column caller',
  'alter table SCHEMA.smalt_entity add column more integer',
  'alter table SCHEMA.smalt_entity alter column info drop not null',
  'drop index SCHEMA.smalt_lock_caller',
  'create index on SCHEMA.smalt_lock(ttl)',
  'drop table SCHEMA.smalt_answer',
  'create table SCHEMA.others(a integer)',
  'grant select on SCHEMA.smalt_entity to public',
  'grant usage on schema SCHEMA to public',
]) {
  test(`an altered schema is dropped: ${alteration}`, { skip }, async () => {
    await using world = await openWorld()
    const schema = await world.use()
    await world.pool.query(alteration.replaceAll('SCHEMA', schema))
    await world.schemas.giveBack(schema)
    const next = world.schemas.take()
    const names = [schema, next]
    const { rows } = await world.pool.query('select from pg_namespace where nspname = any($1)', [names])
    assert.equal(rows.length, 0)
  })
}

/** Rows of each table, as JSON. */
type Content = Readonly<Record<string, string>>

/** Without what no two schemas have in common. */
function comparable(content: Content): Content {
  return {
    ...content,
    smalt_epoch: content['smalt_epoch']!.replace(/"secret":"[0-9a-f]{64}"/, ''),
    smalt_history: content['smalt_history']!.replace(/"at":"[^"]*"/, ''),
  }
}

async function openWorld() {
  await using opened = new AsyncDisposableStack()
  const url = new URL(await testPostgresUrl())
  const pool = new pg.Pool({ connectionString: url.href, max: 1 })
  opened.defer(() => pool.end())
  const schemas = createReusedSchemas(pool, url)
  const known: string[] = []
  opened.defer(async () => {
    for (const name of known) await pool.query(`drop schema if exists ${name} cascade`)
  })
  const take = (): string => {
    const schema = schemas.take()
    known.push(schema)
    return schema
  }
  const placeOf = (schema: string): string =>
    Object.assign(new URL(url), { search: `?schema=${schema}` }).href
  const owned = opened.move()
  return {
    pool,
    schemas: { ...schemas, take },
    /** The name of a schema in which a service has stored metadata and documents. */
    async use(): Promise<string> {
      const schema = take()
      await using service = await openServiceAt(placeOf(schema))
      const document = metadataDocument('thing', { a: { type: 'string' } })
      await service.metadata.create(ADMIN, { entity: 'thing', version: '1.0.0' }, document)
      const { status } = await service.data.insert(ADMIN, { entity: 'thing' }, { data: [{ a: 'b' }] })
      assert.equal(status, 'COMPLETE')
      return schema
    },
    async open(schema: string): Promise<void> {
      await (await openServiceAt(placeOf(schema)))[Symbol.asyncDispose]()
    },
    async contentOf(schema: string): Promise<Content> {
      const text = 'select tablename from pg_tables where schemaname = $1 order by 1'
      const { rows } = await pool.query<{ tablename: string }>(text, [schema])
      const content: Record<string, string> = {}
      for (const { tablename: name } of rows) {
        const found = await pool.query(
          `select row_to_json(t)::text as row from ${schema}.${name} t order by 1`,
        )
        content[name] = found.rows.map(({ row }) => row as string).join()
      }
      return content
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
