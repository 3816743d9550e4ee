/** The real process, started and ended as an operator would. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { PROGRAM } from '../../support/program.ts'

export interface Running {
  readonly port: number
  readonly child: ChildProcess
  /** How it ended, and what it said on standard error. */
  readonly ended: Promise<Ended>
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly err: string
}

/** Resolves once it listens, and fails when it ends before. */
export async function start(data: string): Promise<Running> {
  const { child, ended } = launch(data)
  const port = await Promise.race([
    listening(child),
    ended.then(({ code, signal, err }) =>
      Promise.reject(new Error(`it ended at once, with ${code ?? signal}: ${err}`)),
    ),
  ])
  return { port, child, ended }
}

/** Runs until it ends by itself. */
export function run(data: string): Promise<Ended> {
  return launch(data).ended
}

function launch(data: string) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SMALT_'))
  const child = spawn(process.execPath, [PROGRAM, '--port', '0', '--data', data], {
    // the same modules are loaded every time; most of a start is to compile them
    env: { NODE_COMPILE_CACHE: join(dirname(data), 'compiled'), ...Object.fromEntries(inherited) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let err = ''
  child.stderr.on('data', (chunk) => (err += String(chunk)))
  const ended = once(child, 'close').then(([code, signal]): Ended => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    err,
  }))
  return { child, ended }
}

/** The log must go on being read, or the pipe fills up and stops the process. */
function listening(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (!line.includes('"msg":"listening"')) return
      resolve(Number(new URL((JSON.parse(line) as { api: string }).api).port))
    })
  })
}
