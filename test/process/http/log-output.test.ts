import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { outputTo } from '../../../src/http/observe/log-output.ts'
import { PROGRAM } from '../../support/program.ts'

function scratch() {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-log-'))
  return { directory, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) }
}

test('log: a service whose log nobody reads any more answers, and ends when told to', async () => {
  using place = scratch()
  for (const requests of [0, 2]) {
    const child = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0'], {
      cwd: place.directory,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    try {
      let out = ''
      for await (const chunk of child.stdout) {
        out += String(chunk)
        // leaving the loop closes the pipe
        if (out.includes('"api":')) break
      }
      const [, api] = /"api":"([^"]+)"/.exec(out)!
      for (let i = 0; i < requests; i++) assert.equal((await fetch(`${api}/health`)).status, 200)
      child.kill('SIGTERM')
      const [code] = (await once(child, 'exit', { signal: AbortSignal.timeout(60_000) })) as [number | null]
      assert.equal(code, 0)
    } finally {
      child.kill('SIGKILL')
    }
  }
})

test('log: lines come whole and in order, also those that are left at the end', async () => {
  using place = scratch()
  const file = join(place.directory, 'log')
  const fd = openSync(file, 'w')
  const out = outputTo(fd)
  const lines = Array.from({ length: 5_000 }, (_, i) => `${i} ${'ä'.repeat(i % 50)}\n`)
  for (const line of lines.slice(0, -1)) out.write(line)
  while (!readFileSync(file, 'utf8').endsWith(lines.at(-2)!)) await new Promise(setImmediate)
  out.write(lines.at(-1)!)
  out.flushSync()
  while (!readFileSync(file, 'utf8').endsWith(lines.at(-1)!)) await new Promise(setImmediate)
  closeSync(fd)
  assert.equal(readFileSync(file, 'utf8'), lines.join(''))
})

test('log: when all has been written, it is there whole and in order', async () => {
  using place = scratch()
  const file = join(place.directory, 'log')
  const fd = openSync(file, 'w')
  const out = outputTo(fd)
  // the first is under way, the others wait for it
  const lines = Array.from({ length: 1_000 }, (_, i) => `${i}\n`.repeat(i === 0 ? 100_000 : 1))
  for (const line of lines) out.write(line)
  await out.drained()
  out.flushSync()
  closeSync(fd)
  assert.equal(readFileSync(file, 'utf8'), lines.join(''))
})

test('log: it ends, also when nobody takes what is written', async () => {
  const reader = spawn('sleep', ['60'], { stdio: ['pipe', 'ignore', 'ignore'] })
  try {
    const { fd } = (reader.stdin as unknown as { _handle: { fd: number } })._handle
    const out = outputTo(fd)
    out.write('x'.repeat(1_000_000))
    await out.drained()
  } finally {
    reader.kill('SIGKILL')
  }
})
