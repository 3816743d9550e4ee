/**
 * `npm run bench:start`: the time from the start of the compiled service until `/health` answers, on an empty SQLite store,
 * and its processor time until then, which other load on the machine changes less. `npm run build` first.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cpuMs } from './children.ts'
import { median } from './measure.ts'

const RUNS = 9
/** The least that could answer. */
const BARE = `const server = require('node:http').createServer((_, answer) => answer.end('up'))
    server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ api: 'http://127.0.0.1:' + server.address().port })))`
const main = join(import.meta.dirname, '../dist/lib/main.js')

if (!existsSync(main)) {
  process.stderr.write('there is no dist/lib/main.js; npm run build makes it\n')
  process.exit(1)
}
const starts = await timesOf([main, '--port', '0'])
const bare = await timesOf(['-e', BARE])
process.stdout.write(
  `start until /health answers   ${show(starts)}\na bare server of Node.js      ${show(bare)}\n`,
)

/** The first run, which fills caches of the system, does not count. */
async function timesOf(args: readonly string[]): Promise<readonly Start[]> {
  const times: Start[] = []
  for (let i = 0; i <= RUNS; i++) times.push(await startOnce(args))
  return times.slice(1)
}

interface Start {
  readonly ms: number
  readonly cpuMs: number
}

async function startOnce(args: readonly string[]): Promise<Start> {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-start-'))
  const began = performance.now()
  const child = spawn(process.execPath, args, {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'] },
  })
  try {
    const address = await addressOf(child.stdout)
    const { status } = await fetch(`${address}/health`)
    if (status !== 200) throw new Error(`/health answers ${status}`)
    return { ms: performance.now() - began, cpuMs: cpuMs(child.pid!) }
  } finally {
    child.kill('SIGTERM')
    await once(child, 'close')
    rmSync(directory, { recursive: true, force: true })
  }
}

async function addressOf(out: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  for await (const chunk of out) {
    text += String(chunk)
    const found = /"api":"([^"]+)"/.exec(text)
    if (found) return found[1]!
  }
  throw new Error(`it ended: ${text}`)
}

function show(times: readonly Start[]): string {
  const all = times.map(({ ms }) => ms)
  const cpu = median(times.map((each) => each.cpuMs))
  return `median ${median(all).toFixed(0)} ms, fastest ${Math.min(...all).toFixed(0)} ms, processor time ${cpu.toFixed(0)} ms`
}
