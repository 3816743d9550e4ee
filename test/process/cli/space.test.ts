/** On SQLite the space of deleted documents returns to the file system: by itself, or by `smalt compact`. */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'node:test'
import { runCommand } from '../../support/command.ts'
import { metadataDocument } from '../../support/service.ts'
import { type SmaltProcess, startSmalt } from '../../support/smalt-process.ts'
import { directoryOf, freshPlace } from '../../support/store-kind.ts'

const MEGABYTE = 1024 * 1024
const DOCUMENTS = 3_000
const TEXT = 'x'.repeat(8_000)

test('space: the file and the log shrink after deletes, while others write, without a restart', async () => {
  await using place = await freshPlace('sqlite')
  const file = join(directoryOf(place.location), 'smalt.db')
  await using smalt = await startSmalt(place.location)
  await fill(smalt)
  assert.ok(statSync(file).size + logBytes(file) > 22 * MEGABYTE, 'the documents are on disk')
  await deleteAll(smalt)
  let written = 0
  while (statSync(file).size > 8 * MEGABYTE) {
    await store(smalt, `later${written++}`, 'short')
    await pause(100)
  }
  // nobody writes any more
  while (logBytes(file) > 0) await pause(100)
  const found = await smalt.ask('POST', '/data/find/t', { projection: { field: '_id' } })
  assert.equal(found.json.matchCount, written)
  await smalt.kill('SIGTERM')
  assert.equal(integrity(file), 'ok')
})

test('smalt compact: shrinks a file of an earlier release, which then shrinks by itself', async () => {
  await using place = await freshPlace('sqlite')
  const { location } = place
  const file = join(directoryOf(location), 'smalt.db')
  {
    await using smalt = await startSmalt(location)
    await smalt.kill('SIGTERM')
  }
  {
    using earlier = new DatabaseSync(file)
    earlier.exec('pragma journal_mode = delete; pragma auto_vacuum = none; vacuum')
  }
  await using smalt = await startSmalt(location)
  await fill(smalt)
  await deleteAll(smalt)
  await store(smalt, 'kept', 'short')
  const inUse = await runCommand(['compact', '--store', location])
  assert.deepEqual([inUse.code, inUse.out], [6, ''])
  await smalt.kill('SIGTERM')
  assert.ok(statSync(file).size > 22 * MEGABYTE, 'free pages stay in the file')
  const compacted = await runCommand(['compact', '--store', location, '--json'])
  assert.equal(compacted.code, 0, compacted.err)
  const { bytesBefore, bytesAfter } = JSON.parse(compacted.out) as Readonly<Record<string, number>>
  assert.ok(bytesBefore! > 22 * MEGABYTE && bytesAfter! < MEGABYTE, compacted.out)
  assert.equal(statSync(file).size, bytesAfter)
  const again = await runCommand(['compact', '--store', location])
  assert.match(again.out, /^compacted \w+: 0\.\d MB to 0\.\d MB\n$/)
  {
    using database = new DatabaseSync(file)
    assert.deepEqual({ ...database.prepare('pragma auto_vacuum').get() }, { auto_vacuum: 2 })
  }
  await using later = await startSmalt(location)
  const found = await later.ask('POST', '/data/find/t', { projection: { field: '_id' } })
  assert.deepEqual(found.json.processed, [{ _id: 'kept' }])
})

const REFUSED: readonly [what: string, location: string, code: number, problem: RegExp][] = [
  ['no store', 'sqlite:/nonexistent/smalt', 4, /there is no store/],
  ['PostgreSQL', 'postgres://a:b@127.0.0.1:1/c', 3, /PostgreSQL vacuums its tables by itself/],
]

for (const [what, location, code, problem] of REFUSED) {
  test(`smalt compact: ${what} is refused`, async () => {
    const ended = await runCommand(['compact', '--store', location])
    assert.deepEqual([ended.code, ended.out], [code, ''])
    assert.match(ended.err, problem)
  })
}

async function fill(smalt: SmaltProcess): Promise<void> {
  const fields = { _id: { type: 'string' }, text: { type: 'string' } }
  const defined = await smalt.ask('PUT', '/metadata/t/1.0.0', metadataDocument('t', fields))
  assert.equal(defined.status, 200, defined.text)
  for (let i = 0; i < DOCUMENTS; i += 1_000) {
    const data = Array.from({ length: 1_000 }, (_, k) => ({ _id: `d${i + k}`, text: TEXT }))
    const stored = await smalt.ask('PUT', '/data/insert/t', { data })
    assert.equal(stored.json.status, 'COMPLETE', stored.text)
  }
}

async function store(smalt: SmaltProcess, id: string, text: string): Promise<void> {
  const { json, text: answer } = await smalt.ask('PUT', '/data/insert/t', { data: [{ _id: id, text }] })
  assert.equal(json.status, 'COMPLETE', answer)
}

async function deleteAll(smalt: SmaltProcess): Promise<void> {
  const { json, text } = await smalt.ask('POST', '/data/delete/t', { query: { $and: [] } })
  assert.equal(json.modifiedCount, DOCUMENTS, text)
}

function logBytes(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
}

function integrity(file: string): unknown {
  using database = new DatabaseSync(file, { readOnly: true })
  return database.prepare('pragma integrity_check').get()!['integrity_check']
}
