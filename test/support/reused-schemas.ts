/**
 * Schemas of PostgreSQL that one test after the other uses: to create what a service creates when it is opened for the
 * first time, and to drop that, takes longer than most tests. A used schema gets the rows back that it had then, and a name
 * that it never had, so that whatever still runs for an earlier test does not find it. One whose tables a test has altered
 * is dropped.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import type pg from 'pg'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'

/** What a service has created in a schema that nobody else uses. */
interface Original {
  readonly schema: string
  readonly digest: string
  readonly relations: readonly string[]
  /** The tables with rows. */
  readonly filled: readonly string[]
}

export interface ReusedSchemas {
  /** A schema in which a service was opened, or a name that no schema has. */
  take(): string
  giveBack(schema: string): Promise<void>
}

export function createReusedSchemas(pool: pg.Pool, url: URL): ReusedSchemas {
  const free: string[] = []
  let original: Promise<Original> | undefined
  return {
    take: () => free.pop() ?? newName(),
    async giveBack(schema) {
      original ??= createOriginal(pool, url)
      const next = await renew(pool, schema, await original)
      if (next !== undefined) free.push(next)
    },
  }
}

export function newName(): string {
  return `test_${randomUUID().replaceAll('-', '')}`
}

async function createOriginal(pool: pg.Pool, url: URL): Promise<Original> {
  const schema = newName()
  const place = new URL(url)
  place.searchParams.set('schema', schema)
  // only now, because many processes with tests need no service
  const { openService } = await import('../../src/service/open.ts')
  const datasources = [{ name: 'default', location: place.href }]
  await (await openService({ datasources, limits: DEFAULT_LIMITS, onInternalError }))[Symbol.asyncDispose]()
  const { digest, tables, relations } = await examine(pool, schema)
  const filled: string[] = []
  for (const { name } of tables) {
    const { rowCount } = await pool.query(`select from ${schema}.${name} limit 1`)
    if (rowCount !== 0) filled.push(name)
  }
  return { schema, digest, relations, filled }
}

function onInternalError(error: unknown): never {
  throw error
}

/** Returns its new name; absent if it was dropped. */
async function renew(pool: pg.Pool, schema: string, original: Original): Promise<string | undefined> {
  const { digest, tables, collections } = await examine(pool, schema, original.relations)
  if (digest !== original.digest) {
    await pool.query(`drop schema if exists ${schema} cascade`)
    return undefined
  }
  const next = newName()
  const within = (names: readonly string[]): string => names.map((name) => `${schema}.${name}`).join(', ')
  const large = tables.filter(({ size }) => size > SMALL_BYTES).map(({ name }) => name)
  const small = tables.filter(({ size }) => size > 0 && size <= SMALL_BYTES).map(({ name }) => name)
  // one transaction, which waits for those of the test, as to drop the schema would
  await pool.query(
    [
      `lock table ${within(tables.map(({ name }) => name))} in access exclusive mode`,
      ...(collections.length === 0 ? [] : [`drop table ${within(collections)} cascade`]),
      ...(large.length === 0 ? [] : [`truncate ${within(large)}`]),
      ...small.map((name) => `delete from ${schema}.${name}`),
      ...original.filled.map((name) => `insert into ${schema}.${name} table ${original.schema}.${name}`),
      `update ${schema}.smalt_epoch set secret = '${randomBytes(32).toString('hex')}'`,
      `alter schema ${schema} rename to ${next}`,
    ].join(';\n'),
  )
  return next
}

/** To delete the rows of a table leaves its pages, through which the next tests would read. */
const SMALL_BYTES = 2 ** 16

interface Examined {
  /** Of what the service creates in an empty schema, rows excepted. */
  readonly digest: string
  readonly relations: readonly string[]
  readonly tables: readonly { readonly name: string; readonly size: number }[]
  /** Tables of other collections. */
  readonly collections: readonly string[]
}

/** Without the relations of the original, it is the original. */
async function examine(pool: pg.Pool, schema: string, original?: readonly string[]): Promise<Examined> {
  const { rows } = await pool.query({ name: 'examine', text: STRUCTURE, values: [schema, original] })
  return rows[0] as Examined
}

/** Subqueries of each relation, so that the server uses the indexes of its catalogue. */
const STRUCTURE = `with relations as (
  select c.*, relkind = 'r' and relname ~ '^(doc|claim|past)_[0-9]' and coalesce(relname <> all($2::name[]), false) as of_collection
  from pg_class c where relnamespace = $1::regnamespace and relkind not in ('i', 'I', 't')),
parts(text) as (
  select concat_ws('|', relname, relkind, relpersistence, relowner, relacl, reloptions, relchecks, relhasrules,
    relhastriggers, relrowsecurity, relreplident,
    (select string_agg(concat_ws('|', attname, atttypid, atttypmod, attnotnull, atthasdef, attcollation, attacl), ';')
      from (select * from pg_attribute where attrelid = relations.oid and attnum > 0 order by attnum) a),
    (select string_agg(concat_ws('|', indkey, indclass, indcollation, indoption, indisunique, indisvalid, indpred), ';')
      from (select * from pg_index where indrelid = relations.oid order by indkey::text) i))
  from relations where not of_collection
  union all
  select concat_ws('|', proname, proowner, proacl) from pg_proc
  where proname between 'smalt_' and 'smalt_z' and pronamespace = $1::regnamespace
  union all
  select concat_ws('|', nspowner, nspacl) from pg_namespace where oid = $1::regnamespace)
select
  (select md5(string_agg(text, ';' order by text)) from parts) as digest,
  (select json_agg(relname) from relations where not of_collection) as relations,
  (select json_agg(json_build_object('name', relname, 'size', pg_relation_size(oid))) from relations
    where relkind = 'r' and not of_collection) as tables,
  (select coalesce(json_agg(relname), '[]') from relations where of_collection) as collections`
