/** The processes of a run: servers that say where they listen, and the load generator. */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Job, Result } from './load.ts'

export interface Server extends AsyncDisposable {
  readonly api: string
  readonly port: number
  /** From the start of the process to its first answer. */
  readonly startMs: number
  /** Processor time it took so far, all threads; not a number where the system does not tell. */
  cpuMs(): number
}

export interface Load extends Disposable {
  run(job: Omit<Job, 'id'>): Promise<Result>
}

const root = join(import.meta.dirname, '..')

/** Smalt, with the defaults of production; its log is read and thrown away. */
export function startSubject(location: string, profile?: string): Promise<Server> {
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  return start([...profiling, join(root, 'src/cli/main.ts'), '--port', '0', '--store', location])
}

/** A bare server; its script stands beside this one. */
export function startLimit(script: string, args: readonly string[]): Promise<Server> {
  return start([join(root, 'bench', script), ...args])
}

async function start(args: readonly string[]): Promise<Server> {
  const begun = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env: environment() })
  running.add(child)
  child.on('exit', () => running.delete(child))
  const api = await addressOf(child)
  const { status } = await fetch(`${api}/health`)
  if (status !== 200) throw new Error(`${api}/health answers ${status}`)
  return {
    api,
    port: Number(new URL(api).port),
    startMs: performance.now() - begun,
    cpuMs: () => cpuMs(child.pid!),
    [Symbol.asyncDispose]: () => stop(child),
  }
}

/** Linux counts hundredths of a second, after the name of the program in parentheses. */
function cpuMs(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Settings of whoever runs this must not change what is measured. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SMALT_')))
}

/** Servers print a line of JSON that holds their address. */
function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout!.on('data', (chunk: Buffer) => {
      if (text === DONE) return
      text += chunk.toString()
      const found = /"api":"([^"]+)"/.exec(text)
      if (!found) return
      text = DONE
      resolve(found[1]!)
    })
    child.on('error', reject)
    child.on('exit', (code) => reject(new Error(`a server ended with ${code}: ${text}`)))
  })
}

const DONE = '\0'

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
  await ended
  clearTimeout(timer)
}

export function startLoad(): Load {
  const child = startGenerator('load.ts')
  const waiting = new Map<number, PromiseWithResolvers<Result>>()
  let jobs = 0
  child.on('message', (result: Result) => {
    waiting.get(result.id)?.resolve(result)
    waiting.delete(result.id)
  })
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('the load generator ended'))
  })
  return {
    run(job) {
      const asked = Promise.withResolvers<Result>()
      const id = jobs++
      waiting.set(id, asked)
      child.send({ ...job, id })
      return asked.promise
    },
    [Symbol.dispose]: () => child.disconnect(),
  }
}

/** A process that is told what to do by messages, and ends when it is left alone. */
export function startGenerator(script: string): ChildProcess {
  const child = fork(join(root, 'bench', script), { serialization: 'advanced' })
  running.add(child)
  child.on('exit', () => running.delete(child))
  return child
}

const running = new Set<ChildProcess>()

/** For the end nobody planned. */
export function killAll(): void {
  for (const child of running) child.kill('SIGKILL')
}
