/** A process that is killed while it makes a scheduled backup leaves that backup to the next one. */
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ADMIN, metadataDocument, openServiceAt } from '../../support/service.ts'

const scratch = mkdtempSync(join(tmpdir(), 'smalt-backup-crash-'))
const data = join(scratch, 'data')
const backups = join(scratch, 'backups')
const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true })
})

/** Returns when there is a file with this ending; the process is killed then. */
async function runUntil(ending: string): Promise<void> {
  const child = fork(new URL('./backup-process.ts', import.meta.url), [data, backups])
  children.add(child)
  const ended = once(child, 'exit')
  const deadline = performance.now() + 60_000
  while (!readdirSync(backups).some((file) => file.endsWith(ending))) {
    assert.ok(performance.now() < deadline, `there is no file ${ending}: ${readdirSync(backups).join()}`)
    assert.equal(child.exitCode, null)
    await sleep(1)
  }
  child.kill('SIGKILL')
  await ended
  children.delete(child)
}

/** As if this time had passed since all locks were changed. */
function pass(ms: number): void {
  using database = new DatabaseSync(join(data, 'smalt.db'))
  const { changes } = database.prepare('update smalt_lock set expires = expires - ?').run(ms)
  assert.equal(changes, 1)
}

test('backup: a process that is killed while it makes one delays the next try by minutes, not by a period', async () => {
  mkdirSync(backups)
  {
    // so many that the backup takes a while
    await using service = await openServiceAt(`sqlite:${data}`)
    await service.metadata.create(
      ADMIN,
      { entity: 'thing', version: '1.0.0' },
      metadataDocument('thing', { text: { type: 'string' } }),
    )
    const things = Array.from({ length: 3_000 }, (_, i) => ({ text: `${i}`.repeat(20) }))
    await service.data.insert(ADMIN, { entity: 'thing' }, { data: things })
  }
  await runUntil('.part')
  assert.deepEqual(
    readdirSync(backups).filter((file) => file.endsWith('.gz')),
    [],
  )
  pass(120_000)
  await runUntil('.gz')
})
