/** One process at a time has the data, by whatever path it comes, and whatever became of the file of the lock. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'

const scratch = mkdtempSync(join(tmpdir(), 'smalt-lock-'))
const STORE = new URL('../../src/store/sqlite/store.ts', import.meta.url)
const OPENING = `
  const { openSqliteStore } = await import(${JSON.stringify(STORE.href)})
  const store = openSqliteStore({ directory: process.argv[1] })
  process.on('disconnect', () => process.exit())
  process.send('open')`
const LOCKED = { code: 'SMALT_LOCKED' }

let runs = 0
let data: string
let elsewhere: string
beforeEach(() => {
  data = join(scratch, `data${++runs}`)
  elsewhere = join(scratch, `elsewhere${runs}`)
  mkdirSync(elsewhere)
})
after(() => rmSync(scratch, { recursive: true, force: true }))

async function openElsewhere(): Promise<ChildProcess & AsyncDisposable> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', OPENING, data], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  assert.deepEqual(await once(child, 'message'), ['open', undefined])
  return Object.assign(child, {
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  })
}

async function openAndClose(directory: string): Promise<void> {
  await openSqliteStore({ directory })[Symbol.asyncDispose]()
}

test('open: another process is refused although the file of the lock was removed', async () => {
  await using first = await openElsewhere()
  unlinkSync(join(data, 'smalt.lock'))
  await assert.rejects(openAndClose(data), { ...LOCKED, message: /is in use by another process/ })
  first.kill('SIGKILL')
  await once(first, 'exit')
  await openAndClose(data)
})

test('open: another process is refused that comes by a symbolic link to the file', async () => {
  await using _first = await openElsewhere()
  symlinkSync(join(data, 'smalt.db'), join(elsewhere, 'smalt.db'))
  await assert.rejects(openAndClose(elsewhere), LOCKED)
})

test('open: a file with two names is refused by both of them, until one is removed', async () => {
  {
    await using _first = await openElsewhere()
    linkSync(join(data, 'smalt.db'), join(elsewhere, 'smalt.db'))
    await assert.rejects(openAndClose(elsewhere), { ...LOCKED, message: /hard links/ })
  }
  await assert.rejects(openAndClose(data), { ...LOCKED, message: /hard links/ })
  unlinkSync(join(elsewhere, 'smalt.db'))
  await openAndClose(data)
})

test('open: after a process was killed the next one does not wait', async () => {
  const first = await openElsewhere()
  first.kill('SIGKILL')
  await once(first, 'exit')
  const start = performance.now()
  await openAndClose(data)
  assert.ok(performance.now() - start < 3_000)
})
