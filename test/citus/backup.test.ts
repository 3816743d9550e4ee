/** A backup opens its snapshots of all workers at one moment, between writes. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { makeBackup } from '../../src/service/backup/backup.ts'
import { restore } from '../../src/service/backup/restore.ts'
import { openStore } from '../../src/store/open.ts'
import { rowsOf } from '../support/postgres.ts'
import { ADMIN, EVERYTHING, documentsOf, openServiceAt, openTestService } from '../support/service.ts'
import { chooseStore, freshPlace } from '../support/store-kind.ts'
import { ask, nodesOfCluster } from './nodes.ts'

chooseStore('postgres')
const directory = mkdtempSync(join(tmpdir(), 'smalt-backups-'))
after(() => rmSync(directory, { recursive: true, force: true }))

test('citus: a backup begins when the writes before it are committed on every worker', async () => {
  await using tester = await openTestService()
  await tester.define('item', { n: { type: 'integer' } })
  const ids = Array.from({ length: 20 }, (_, i) => `k${i}`)
  await tester.store(
    'item',
    ids.map((_id) => ({ _id, n: 1 })),
  )
  await using writer = await openWriter(tester.location)
  await writer.query(`update ${await tableIn(tester.location)} set doc = replace(doc, '"n":1', '"n":2')`)
  // one connection is enough for a backup, which needs a second one only until it has begun
  const from = new URL(tester.location)
  from.searchParams.set('pool', '1')
  const file = join(directory, 'moment.jsonl.gz')
  const state = { isMade: false }
  const backup = makeBackup({ from: from.href, file }).finally(() => (state.isMade = true))
  while (!state.isMade && !(await isWaiting(tester.location))) await sleep(20)
  assert.ok(!state.isMade, 'the backup did not wait for the write')
  await writer.query('commit')
  await backup
  await using target = await freshPlace('sqlite')
  await restore({ file, to: target.location })
  await using service = await openServiceAt(target.location)
  const found = documentsOf(await service.data.find(ADMIN, { entity: 'item' }, { projection: EVERYTHING }))
  assert.deepEqual(
    found.map(({ n }) => Number(n)),
    ids.map(() => 2),
  )
})

const BLOCKERS: readonly [what: string, statement: (location: string) => Promise<string>][] = [
  ['a write', async (location) => `update ${await tableIn(location)} set version = version`],
  [
    'a change of metadata',
    async (location) =>
      `select pg_advisory_xact_lock(hashtextextended('smalt: metadata of ${schemaIn(location)}', 0))`,
  ],
]

for (const [what, statement] of BLOCKERS) {
  test(`citus: a backup behind ${what} that does not end is refused, and leaves no file`, async () => {
    await using tester = await openTestService()
    await tester.define('item', { n: { type: 'integer' } })
    await using writer = await openWriter(tester.location)
    await writer.query(await statement(tester.location))
    const file = join(directory, 'refused.jsonl.gz')
    await assert.rejects(makeBackup({ from: tester.location, file }), /could not begin/)
    assert.ok(!existsSync(file))
    await tester.store('item', { _id: 'k', n: 1 })
  })
}

test('citus: writes do not wait for a read of all events when a backup begins', async () => {
  const { workers } = await nodesOfCluster()
  await using tester = await openTestService()
  const hooks = [{ name: 'all', actions: ['insert'] }]
  await tester.define('item', { text: { type: 'string' } }, { info: { hooks } })
  const data = Array.from({ length: 2_000 }, (_, i) => ({ _id: `k${i}`, text: 'x'.repeat(1_000) }))
  await tester.store('item', data)
  await using store = await openStore(tester.location)
  await store.ping()
  for (const { url } of workers) await ask(url, 'select pg_stat_statements_reset()')
  await store.transfer.snapshot(async () => undefined)
  const schema = schemaIn(tester.location)
  // the numbering of events runs beside it
  const text = `select coalesce(sum(calls), 0)::integer calls, coalesce(sum(shared_blks_hit + shared_blks_read), 0)::integer blocks
    from pg_stat_statements where query ~* '^select' and strpos(query, '${schema}.smalt_outbox') > 0 and query !~ '\\mseq\\M'`
  for (const { url } of workers) {
    const { calls, blocks } = (await ask(url, text))[0]!
    assert.ok(Number(calls) > 0, 'every worker opens its snapshot')
    assert.ok(Number(blocks) < 100, `${String(blocks)} blocks were read`)
  }
})

/** A transaction, as another process has it. */
async function openWriter(location: string) {
  const url = new URL(location)
  url.search = ''
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  await client.query(`begin; set local search_path = ${schemaIn(location)}`)
  return {
    query: (text: string) => client.query(text),
    [Symbol.asyncDispose]: () => client.end(),
  }
}

function schemaIn(location: string): string {
  return new URL(location).searchParams.get('schema')!
}

async function tableIn(location: string): Promise<string> {
  const [row] = await rowsOf(
    location,
    (schema) => `select format('doc_%s_%s_c', no, generation) as name from ${schema}.smalt_collection
      where entity = 'item'`,
  )
  return String(row!['name'])
}

/** Whether somebody waits for a lock on the documents. */
async function isWaiting(location: string): Promise<boolean> {
  const table = await tableIn(location)
  const rows = await rowsOf(
    location,
    (schema) =>
      `select from pg_locks where not granted and mode = 'ShareLock' and relation = '${schema}.${table}'::regclass`,
  )
  return rows.length > 0
}
