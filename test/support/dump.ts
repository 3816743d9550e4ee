/** Everything in a store, table by table, as the database itself sees it. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/**
 * Equal texts mean that no row of any table, and no table, differs. Events of earlier writes get their numbers a moment
 * later, so it waits until nothing changes any more.
 */
export async function dumpOf(location: string): Promise<string> {
  for (let last = await dumpNow(location); ;) {
    await sleep(150)
    const next = await dumpNow(location)
    if (next === last) return next
    last = next
  }
}

async function dumpNow(location: string): Promise<string> {
  return location.startsWith('sqlite:') ? dumpSqlite(location.slice(7)) : await dumpPostgres(location)
}

function dumpSqlite(directory: string): string {
  using database = new DatabaseSync(join(directory, 'smalt.db'), { readOnly: true })
  const objects = database.prepare('select name, sql, type from sqlite_master order by name').all()
  const rows = objects
    .filter(({ type }) => type === 'table')
    .map(({ name }) => {
      const read = database.prepare(`select * from "${String(name)}" order by 1`)
      read.setReadBigInts(true)
      return [name, read.all()]
    })
  return printed([objects, rows])
}

async function dumpPostgres(location: string): Promise<string> {
  const url = new URL(location)
  const schema = url.searchParams.get('schema')!
  url.searchParams.delete('schema')
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    const relations = await client.query<{ relname: string; relkind: string }>(
      `select relname, relkind from pg_class where relnamespace = $1::regnamespace order by relname`,
      [schema],
    )
    const rows: unknown[] = []
    for (const { relname, relkind } of relations.rows) {
      if (relkind === 'S')
        rows.push([relname, (await client.query(`select * from "${schema}"."${relname}"`)).rows])
      if (relkind !== 'r' && relkind !== 'p') continue
      const all = await client.query<{ row: string }>(
        `select t::text as row from "${schema}"."${relname}" t order by t::text collate "C"`,
      )
      rows.push([relname, all.rows.map(({ row }) => row)])
    }
    return printed([relations.rows, rows])
  } finally {
    await client.end()
  }
}

function printed(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each), 1)
}
