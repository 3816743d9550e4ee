/**
 * A PostgreSQL server for a run, with the settings of a fresh one; or the one that SMALT_TEST_POSTGRES names, or the
 * coordinator of a Citus cluster that SMALT_TEST_CITUS names, where the tables of the limit are distributed too.
 */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { citusUrl } from '../test/support/citus.ts'
import { startPostgres } from '../test/support/postgres.ts'
import type { Statements } from './bare.ts'
import { type Program, startLimit, startSubject } from './children.ts'
import type { Place, Storage } from './place.ts'
import { TABLE, creatingTable } from './tables.ts'

/** Fewer were slower for the limit on two cores, more not clearly faster. */
const POOL = 16

export async function postgresPlace(program: Program): Promise<Place> {
  const given = citusUrl() ?? process.env['SMALT_TEST_POSTGRES']
  const server = given ? undefined : await startPostgres({ durable: true })
  const url = given ?? server!.url
  const name = `bench_${randomUUID().replaceAll('-', '')}`
  const subject = `${name}_subject`
  const limit = `${name}_limit`
  const tables = `${name}_tables`
  // The server restarts in between, which ends idle connections: the pool opens others.
  const administration = new pg.Pool({ connectionString: url, max: 1, allowExitOnIdle: true })
  administration.on('error', () => {})
  const { rows } = await administration.query<{ server_version: string }>('show server_version')
  const isCluster = citusUrl() !== undefined
  return {
    database: `PostgreSQL ${rows[0]!.server_version}${isCluster ? ', Citus' : ''}`,
    startSubject: (profile) => startSubject(program, inSchema(url, subject), profile),
    startLimit: (statements) =>
      startLimit('limit-postgres.ts', [inSchema(url, limit), JSON.stringify(statements), String(POOL)]),
    // The coordinator has no figures about the tables of the workers.
    ...(!isCluster && { storage: ({ table }) => storageOf(administration, subject, table) }),
    startTables: () => startLimit('limit-tables.ts', [url, tables, String(POOL)]),
    tablesStorage: () => storageOf(administration, tables, TABLE),
    async copy(statements, { hasTables }) {
      for (const text of copying(statements, { subject, limit, isCluster })) await administration.query(text)
      if (hasTables) {
        for (const text of creatingTable(tables, `${subject}.${statements.table}`)) {
          await administration.query(text)
        }
      }
      await tidy(administration, [subject, limit])
      // The tables that were written last are still in the buffers of the server, and scans of large tables bring
      // nothing into them. After a restart the buffers prefer none.
      await server?.restart()
    },
    async [Symbol.asyncDispose]() {
      for (const schema of [subject, limit, tables]) {
        await administration.query(`drop schema if exists ${schema} cascade`)
      }
      await administration.end()
      await server?.[Symbol.asyncDispose]()
    },
  }
}

async function storageOf(administration: pg.Pool, schema: string, table: string): Promise<Storage> {
  const facts = `select pg_total_relation_size(relid) bytes, n_tup_upd updates, n_tup_hot_upd hot
    from pg_stat_user_tables where schemaname = $1 and relname = $2`
  const { rows } = await administration.query<Record<string, string>>(facts, [schema, table])
  const { bytes, updates, hot } = rows[0]!
  return { megabytes: Number(bytes) / 1e6, updates: Number(updates), hotUpdates: Number(hot) }
}

interface Schemas {
  readonly subject: string
  readonly limit: string
  readonly isCluster: boolean
}

function copying({ table, references, articles }: Statements, schemas: Schemas): readonly string[] {
  const { limit, isCluster } = schemas
  const tables = [table, ...(references ? Object.values(references) : []), ...(articles ? [articles] : [])]
  return [
    `create schema ${limit}`,
    `create table ${limit}.smalt_layout as
     select 'doc_' || no || '_' || generation || '_c' as name, layout from ${schemas.subject}.smalt_collection`,
    ...tables.flatMap((each) => copyingTable(each, schemas)),
    ...(articles ? handWritten(`${limit}.${articles}`) : []),
    `create table ${limit}.${table}_text(id text collate "C" primary key, version bigint not null, doc text not null)`,
    ...(isCluster ? [distributing(`${limit}.${table}_text`)] : []),
  ]
}

/** Full-text search of the engine: a column of its own, and an index on it. */
function handWritten(articles: string): readonly string[] {
  const words = (field: string, weight: string): string =>
    `setweight(to_tsvector('simple', coalesce(doc::jsonb ->> '${field}', '')), '${weight}')`
  return [
    `alter table ${articles} add column hand tsvector`,
    `update ${articles} set hand = ${words('title', 'A')} || ${words('body', 'D')}`,
    `create index on ${articles} using gin (hand)`,
  ]
}

/** In the order of the rows of Smalt, so that rows that are read together lie together on both sides. */
function copyingTable(table: string, { subject, limit, isCluster }: Schemas): readonly string[] {
  const inOrder = isCluster ? '' : ' order by ctid'
  return [
    `create table ${limit}.${table}(like ${subject}.${table} including all)`,
    `alter table ${limit}.${table} alter column paths set default 0`,
    ...(isCluster ? [distributing(`${limit}.${table}`)] : []),
    `insert into ${limit}.${table} select * from ${subject}.${table}${inOrder}`,
  ]
}

function distributing(table: string): string {
  return `select create_distributed_table('${table}', 'id', colocate_with => 'none')`
}

/** What the server does by itself within a minute, and not in the middle of a measurement. */
async function tidy(administration: pg.Pool, schemas: readonly string[]): Promise<void> {
  const text = 'select schemaname, tablename from pg_tables where schemaname = any($1)'
  const { rows } = await administration.query<{ schemaname: string; tablename: string }>(text, [schemas])
  for (const { schemaname, tablename } of rows) {
    await administration.query(`vacuum analyze ${schemaname}.${tablename}`)
  }
  await administration.query('checkpoint')
}

function inSchema(url: string, schema: string): string {
  const parsed = new URL(url)
  parsed.searchParams.set('schema', schema)
  return parsed.href
}
