/** A command in a process of its own, for standard input and for being killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Ended, Surroundings } from './command.ts'
import { PROGRAM } from './program.ts'

export interface CliProcess {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
}

export function startCli(
  args: readonly string[],
  {
    environment = {},
    cwd = process.cwd(),
    input = '',
  }: Surroundings & { readonly input?: string | Uint8Array } = {},
): CliProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SMALT_'))
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd,
    env: { ...Object.fromEntries(inherited), ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk) => (out += String(chunk)))
  child.stderr.on('data', (chunk) => (err += String(chunk)))
  // a command that reads no input may end before it is written
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const ended = once(child, 'close').then(() => ({ code: child.exitCode ?? -1, out, err }))
  return { child, ended }
}
