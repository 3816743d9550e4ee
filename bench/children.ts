/** The processes of a run: servers that say where they listen, and the load generator. */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import type { Job, Result } from './load.ts'

export interface Server extends AsyncDisposable {
  readonly api: string
  readonly port: number
  readonly pid: number
  /** From the start of the process to its first answer. */
  readonly startMs: number
  /** Processor time it took so far, all threads; not a number where the system does not tell. */
  cpuMs(): number
}

export interface Load extends Disposable {
  run(job: Omit<Job, 'id'>): Promise<Result>
}

const root = join(import.meta.dirname, '..')

/** What is measured: the source, or what `npm run build` makes of it and users install. */
export type Program = 'src/cli/main.ts' | 'dist/lib/main.js'

/** Smalt, with the defaults of production except for `SETTINGS`; its log is read and thrown away. */
export function startSubject(program: Program, location: string, profile?: string): Promise<Server> {
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  return start([...profiling, ...NODE_OPTIONS, join(root, program), '--port', '0', '--store', location])
}

/** The command of `npm start`: its options of Node.js, and its settings for memory. */
const START = packageJson.scripts.start.split(' ')
const NODE_OPTIONS = START.filter((word) => word.startsWith('--'))
const MALLOC = Object.fromEntries(
  START.filter((word) => word.startsWith('MALLOC_')).map((word) => word.split('=')),
) as NodeJS.ProcessEnv

/** All followers of events connect as one caller, who may have half of them. */
const SETTINGS = { SMALT_LIMITS_FOLLOWERS: '2000' }

/** A bare server; its script stands beside this one. */
export function startLimit(script: string, args: readonly string[]): Promise<Server> {
  return start([join(root, 'bench', script), ...args])
}

async function start(args: readonly string[]): Promise<Server> {
  const begun = performance.now()
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...environment(), ...SETTINGS },
  })
  running.add(child)
  child.on('exit', () => running.delete(child))
  const api = await addressOf(child)
  const { status } = await fetch(`${api}/health`)
  if (status !== 200) throw new Error(`${api}/health answers ${status}`)
  return {
    api,
    port: Number(new URL(api).port),
    pid: child.pid!,
    startMs: performance.now() - begun,
    cpuMs: () => cpuMs(child.pid!),
    [Symbol.asyncDispose]: () => stop(child),
  }
}

export interface Ended {
  readonly out: string
  readonly peakMegabytes: number
}

/** Runs a command of Smalt to its end. */
export async function startCommand(program: Program, args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [join(root, program), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(),
  })
  running.add(child)
  let [out, err, peak] = ['', '', 0]
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const look = (): void => void (peak = Math.max(peak, peakMegabytes(child.pid!)))
  const timer = setInterval(look, POLL_MS)
  const [code] = (await once(child, 'close')) as [number]
  clearInterval(timer)
  running.delete(child)
  if (code !== 0) throw new Error(`smalt ${args.join(' ')} ended with ${code}: ${err}`)
  return { out, peakMegabytes: peak }
}

const POLL_MS = 100

/** The largest resident memory of a process so far; 0 where the system does not tell, or the process has ended. */
export function peakMegabytes(pid: number): number {
  try {
    const match = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
    return Number(match?.[1] ?? 0) / 1_024
  } catch {
    return 0
  }
}

/** From now on, `peakMegabytes` tells about what follows; without effect where the system does not allow it. */
export function resetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
  } catch {
    // the peak is then that of the whole run
  }
}

/** Linux counts hundredths of a second, after the name of the program in parentheses. */
export function cpuMs(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Settings of whoever runs this must not change what is measured. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SMALT_'))
  return { ...Object.fromEntries(own), ...MALLOC }
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
/** Whatever ends this process, its children end with it. */
export function endTogether(): void {
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130))
  process.on('exit', killAll)
}

function killAll(): void {
  for (const child of running) child.kill('SIGKILL')
}
