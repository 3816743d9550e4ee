/** Makes the tables of a PostgreSQL store what a release without columns would have left. */
import { EARLIER } from '../../src/store/postgres/schema/columns.ts'
import { indexStatements } from '../../src/store/postgres/schema/indexes.ts'
import type { IndexDefinition } from '../../src/schema/schema.ts'
import { rowsOf } from './postgres.ts'

/** No process may use the store. */
export async function toEarlierLayout(location: string): Promise<void> {
  const run = (make: (schema: string) => string): ReturnType<typeof rowsOf> => rowsOf(location, make)
  const collections = await run((schema) => `select no, generation, layout from ${schema}.smalt_collection`)
  for (const { no, generation, layout } of collections) {
    const table = `doc_${String(no)}_${String(generation)}`
    const { columns } = JSON.parse(String(layout)) as { columns: readonly { no: number }[] }
    await run((schema) => `alter table ${schema}.${table}_c rename to ${table}`)
    for (const column of columns) {
      await run((schema) => `alter table ${schema}.${table} drop column c${column.no} cascade`)
    }
    const body = 'body jsonb generated always as (doc::jsonb) stored'
    await run((schema) => `alter table ${schema}.${table} add column ${body}`)
    const indexes = await run(
      (schema) => `select no, definition from ${schema}.smalt_index where collection = ${String(no)}`,
    )
    for (const index of indexes) {
      const definition = JSON.parse(String(index['definition'])) as IndexDefinition
      const name = `idx_${String(index['no'])}`
      const statements = indexStatements(definition, { table, name, layout: EARLIER, concurrently: false })
      // One by one, on the only connection of the pool: a cluster passes them on to its nodes, and takes a single command at a time.
      await run((schema) => `set search_path = ${schema}`)
      for (const text of statements) await run(() => text)
      await run(() => 'set search_path = default')
    }
  }
  // and the index with it
  await run((schema) => `alter table ${schema}.smalt_lock drop column caller`)
  await run((schema) => `alter table ${schema}.smalt_collection drop column layout`)
  await run((schema) => `drop table ${schema}.smalt_fill`)
  await run((schema) => `delete from ${schema}.smalt_release where format > 5`)
}
