/** The store's own tables, by release. Migrations run forward only, all in one transaction, and are never edited. */
import { randomBytes } from 'node:crypto'
import { aggregateFunctions } from '../../sql/aggregate/postgres-aggregate.ts'
import { createFoldFunction, foldFunctionName } from '../../sql/postgres-fold.ts'
import type { SqlSession } from '../connection/connection.ts'
import type { Connections } from '../connection/connections.ts'
import { lockExclusively } from '../connection/advisory-locks.ts'
import { distributeFirst } from './cluster.ts'
import type { Location } from '../connection/location.ts'
import { inTransaction } from '../connection/transaction.ts'

const MIGRATIONS: readonly (readonly string[])[] = [
  [
    `create table smalt_epoch(
       one integer primary key, epoch bigint not null, last_number bigint not null, secret text not null)`,
    `create table smalt_entity(entity text collate "C" primary key, info text not null)`,
    `create table smalt_schema(
       entity text collate "C", version text collate "C", no bigint not null, schema text not null,
       primary key (entity, version))`,
    `create table smalt_history(
       no bigint primary key, entity text collate "C" not null, at text not null, principal text not null,
       action text not null, version text, before text, after text)`,
    `create index smalt_history_entity on smalt_history(entity, no)`,
    `create table smalt_collection(
       no bigint primary key, name text collate "C" not null, entity text collate "C" not null,
       generation bigint not null, paths text not null, unique (name, entity))`,
    `create table smalt_index(
       no bigint primary key, collection bigint not null, definition text not null, state text not null)`,
    `create table smalt_sequence(name text collate "C" primary key, next bigint not null, increment bigint not null)`,
    `create table smalt_lock(
       domain text collate "C", resource text collate "C", owner text not null, count bigint not null,
       ttl bigint not null, expires bigint not null, primary key (domain, resource))`,
    `create index smalt_lock_expires on smalt_lock(expires)`,
  ],
  [
    // Distributed by the key of the document, so that on a cluster a change and its outbox entries are on one
    // node.
    `create table smalt_outbox(
       doc text collate "C", id text collate "C", seq bigint, entity text not null, hook text not null,
       operation text not null, document text not null, at bigint not null, seen bigint, version bigint,
       details text not null, before text, after text, primary key (doc, id))`,
    distributeFirst('smalt_outbox', 'doc'),
    `create index smalt_outbox_seq on smalt_outbox(seq) where seq is not null`,
    `create index smalt_outbox_new on smalt_outbox(at) where seq is null`,
    `create table smalt_event_state(
       one integer primary key, reserved bigint not null, published bigint not null, trimmed bigint not null)`,
    `insert into smalt_event_state(one, reserved, published, trimmed) values (1, 0, 0, 0)`,
    `create table smalt_sink(
       sink text collate "C" primary key, definition text not null, version bigint not null,
       position bigint not null, state text not null, failures bigint not null, retry_at bigint not null,
       owner text not null, owned_until bigint not null)`,
    `create table smalt_sink_item(
       sink text collate "C", seq bigint, id text collate "C" not null, doc text collate "C" not null,
       state text not null, attempts bigint not null, next_at bigint not null, error text not null,
       at bigint not null, event text not null, primary key (sink, seq))`,
    `create index smalt_sink_item_id on smalt_sink_item(sink, id)`,
  ],
  [
    // Whether there is a history table, and since when history is recorded; null while it is disabled.
    `alter table smalt_collection add column has_past boolean not null default false`,
    `alter table smalt_collection add column past_since bigint`,
  ],
  [
    // If one change creates several events, one of them stores the documents; the others have its id here.
    `alter table smalt_outbox add column holder text collate "C"`,
  ],
  [
    // Status 0: the request has begun, in several transactions, and other processes may not repeat it before the lease
    // ends.
    `create table smalt_answer(
       caller text collate "C", key text collate "C", fingerprint text not null, status integer not null,
       answer text not null, size integer not null, expires bigint not null, leased_until bigint not null,
       primary key (caller, key))`,
    `create index smalt_answer_expires on smalt_answer(expires)`,
  ],
  [
    // The columns of a collection; null for a table whose rows have none yet.
    `alter table smalt_collection add column layout text`,
    // How far the columns of a collection are filled: up to this key.
    `create table smalt_fill(collection bigint primary key, position text collate "C" not null)`,
  ],
  [
    // A digest of the name of the caller who acquired the lock; empty for locks of earlier releases, which count for
    // nobody.
    `alter table smalt_lock add column caller text collate "C" not null default ''`,
    `create index smalt_lock_caller on smalt_lock(caller, expires)`,
  ],
]

/** Creates missing tables. Of several processes that start at the same time, one migrates and the others wait. */
export async function migrate(connections: Connections, { schema }: Location): Promise<void> {
  await inTransaction(connections, async (transaction) => {
    const run = async (text: string): Promise<void> => void (await transaction.query({ text, values: [] }))
    // On a cluster a function cannot be created after tables were distributed in parallel. Elsewhere this setting has no
    // meaning.
    await run(`set local citus.multi_shard_modify_mode = 'sequential'`)
    await lockExclusively(transaction, `migration of ${schema}`)
    if (!(await exists(transaction, schema))) await run(`create schema "${schema}"`)
    await run('create table if not exists smalt_release(format integer primary key)')
    const found = await formatOf(transaction)
    if (found > MIGRATIONS.length) {
      throw new Error(
        `the data was written by a newer release of Smalt (its format is ${found}, this release knows ${MIGRATIONS.length}); start that release or a later one`,
      )
    }
    for (const [i, migration] of MIGRATIONS.entries()) {
      if (i < found) continue
      for (const text of migration) await run(text)
      if (i === 0) await begin(transaction)
      await transaction.query({ text: 'insert into smalt_release values ($1)', values: [i + 1] })
    }
    for (const text of await missingFunctions(transaction, schema)) await run(text)
  })
}

async function exists(session: SqlSession, schema: string): Promise<boolean> {
  const text = 'select 1 from pg_namespace where nspname = $1'
  return (await session.query({ text, values: [schema] })).length > 0
}

async function formatOf(session: SqlSession): Promise<number> {
  const [row] = await session.query({ text: 'select max(format) from smalt_release', values: [] })
  return Number(row![0] ?? 0)
}

/** SQL that creates the functions that the schema does not have. One that exists is what its name says. */
async function missingFunctions(session: SqlSession, schema: string): Promise<readonly string[]> {
  const text = `select proname from pg_proc where pronamespace = (select oid from pg_namespace where nspname = $1)`
  const existing = new Set((await session.query({ text, values: [schema] })).map(([name]) => name))
  return [{ name: foldFunctionName(), create: createFoldFunction }, ...aggregateFunctions()]
    .filter(({ name }) => !existing.has(name))
    .map(({ create }) => create(`"${schema}"`))
}

async function begin(session: SqlSession): Promise<void> {
  const secret = randomBytes(32).toString('hex')
  await session.query({ text: 'insert into smalt_epoch values (1, 0, 0, $1)', values: [secret] })
}
