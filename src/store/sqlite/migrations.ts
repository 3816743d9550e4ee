/** The store's own tables, by release. Migrations run forward only, each in one transaction, and are never edited. */
import type { DatabaseSync } from 'node:sqlite'
import { historyTableName } from './history-table.ts'

type Migration = string | ((database: DatabaseSync) => void)

const MIGRATIONS: readonly Migration[] = [
  `create table smalt_epoch(epoch integer not null) strict;
   insert into smalt_epoch values (0);
   create table smalt_entity(entity text primary key, info text not null) strict;
   create table smalt_schema(
     no integer primary key, entity text not null, version text not null, schema text not null,
     unique (entity, version)) strict;
   create table smalt_history(
     no integer primary key, entity text not null, at text not null, principal text not null,
     action text not null, version text, before text, after text) strict;
   create index smalt_history_entity on smalt_history(entity, no);
   create table smalt_collection(
     no integer primary key, name text not null, entity text not null, paths text not null,
     unique (name, entity)) strict;
   create table smalt_index(
     no integer primary key, collection integer not null, definition text not null,
     unique (collection, definition)) strict;
   create table smalt_sequence(name text primary key, next integer not null, increment integer not null) strict;`,
  `create table smalt_lock(
     domain text not null, resource text not null, owner text not null, count integer not null,
     ttl integer not null, expires integer not null, primary key (domain, resource)) strict;
   create index smalt_lock_expires on smalt_lock(expires);`,
  `create table smalt_secret(secret text not null) strict;
   insert into smalt_secret values (lower(hex(randomblob(32))));`,
  // Autoincrement, because a number is never reused, even after all events were deleted.
  `create table smalt_event(
     seq integer primary key autoincrement, id text not null, entity text not null, hook text not null,
     operation text not null, document text not null, at integer not null, details text not null,
     before text, after text) strict;
   create table smalt_sink(
     sink text primary key, definition text not null, version integer not null, position integer not null,
     state text not null, failures integer not null, retry_at integer not null, owner text not null,
     owned_until integer not null) strict;
   create table smalt_sink_item(
     sink text not null, seq integer not null, id text not null, doc text not null, state text not null,
     attempts integer not null, next_at integer not null, error text not null, at integer not null,
     event text not null, primary key (sink, seq)) strict;
   create index smalt_sink_item_id on smalt_sink_item(sink, id);`,
  // Whether a history table exists, and the timestamp from which it is complete; null while history is off.
  `alter table smalt_collection add column has_past integer not null default 0;
   alter table smalt_collection add column past_since integer;`,
  // One of the events of a change stores the documents; the others have its number here.
  `alter table smalt_event add column holder integer;`,
  // Status 0: the request has begun, in several transactions, and other processes may not repeat it before the lease ends.
  `create table smalt_answer(
     caller text not null, key text not null, fingerprint text not null, status integer not null,
     answer text not null, size integer not null, expires integer not null, leased_until integer not null,
     primary key (caller, key)) strict, without rowid;
   create index smalt_answer_expires on smalt_answer(expires);`,
  // The columns of a table, null where a release without columns made it; the last row that is entered into new
  // columns; and a number that increases with every change of tables, by which threads notice one.
  `alter table smalt_collection add column layout text;
   create table smalt_fill(collection integer primary key, position integer not null) strict;
   alter table smalt_epoch add column layouts integer not null default 0;`,
  // A digest of the name of the caller who acquired the lock; empty for locks of earlier releases, which count for nobody.
  `alter table smalt_lock add column caller text not null default '';
   create index smalt_lock_caller on smalt_lock(caller, expires);`,
  repairIds,
]

/**
 * Earlier releases stored an `_id` such as 1152921504606847000, the shortest digits of a double, as this double, which is
 * another integer. The index has all numbers before all texts.
 */
function repairIds(database: DatabaseSync): void {
  const repair = (table: string): void => {
    for (const range of [`id > 9007199254740992 and id < ''`, 'id < -9007199254740992']) {
      const isInteger = `typeof(id) = 'real' and json_type(doc, '$._id') = 'integer'`
      database.exec(`update ${table} set id = json_extract(doc, '$._id') where ${range} and ${isInteger}`)
    }
  }
  for (const { no, has_past } of database.prepare('select no, has_past from smalt_collection').all()) {
    repair(`doc_${String(no)}`)
    if (has_past === 1) repair(historyTableName(Number(no)))
  }
}

export function migrate(database: DatabaseSync): void {
  const { user_version: found } = database.prepare('pragma user_version').get() as { user_version: number }
  if (found > MIGRATIONS.length) {
    throw new Error(
      `the data was written by a newer release of Smalt (its format is ${found}, this release knows ${MIGRATIONS.length}); start that release or a later one`,
    )
  }
  for (const [i, migration] of MIGRATIONS.entries()) {
    if (i < found) continue
    database.exec('begin immediate')
    if (typeof migration === 'string') database.exec(migration)
    else migration(database)
    database.exec(`pragma user_version = ${i + 1}; commit`)
  }
}
