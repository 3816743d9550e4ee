/** The real process on a PostgreSQL store, started and ended as an operator would. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { createInterface } from 'node:readline'
import { type Answer, type Ask, askServer } from './server.ts'
import { PROGRAM } from './program.ts'

export interface SmaltProcess extends AsyncDisposable {
  /** Its address. */
  readonly url: string
  readonly ask: (method: string, path: string, body?: Ask['body']) => Promise<Answer>
  /** What it wrote to its log since the start. */
  readonly lines: () => readonly LogLine[]
  readonly kill: (signal: NodeJS.Signals) => Promise<void>
}

export interface LogLine {
  readonly level: number | string
  readonly msg?: string
  readonly text: string
}

/** Resolves once it listens, and fails when it ends before. */
export async function startSmalt(url: string, ...more: readonly string[]): Promise<SmaltProcess> {
  return await startProgram(PROGRAM, '--store', url, ...more)
}

/** `main` is the file of the program: that of the checkout, or a built one. */
export async function startProgram(main: string, ...args: readonly string[]): Promise<SmaltProcess> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SMALT_'))
  const child = spawn(process.execPath, [main, '--port', '0', ...args], {
    env: Object.fromEntries(inherited),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let err = ''
  child.stderr.on('data', (chunk) => (err += String(chunk)))
  const ended = once(child, 'close')
  const lines: LogLine[] = []
  const port = await Promise.race([
    listening(child, lines),
    ended.then(() =>
      Promise.reject(new Error(`it ended at once, with ${child.exitCode ?? child.signalCode}: ${err}`)),
    ),
  ])
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal)
    await ended
    agent.destroy()
  }
  const ask: SmaltProcess['ask'] = (method, path, body) =>
    askServer({ port, agent }, method, path, body === undefined ? {} : { body }).catch((cause: unknown) => {
      const last = lines.slice(-3).map(({ text }) => text)
      const end = `the process ended with ${child.exitCode}: ${[err, ...last].join('\n')}`
      throw new Error(`${method} ${path} has no answer; ${end}`, { cause })
    })
  return {
    url: `http://127.0.0.1:${port}`,
    ask,
    lines: () => lines,
    kill,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) await kill('SIGKILL')
    },
  }
}

/** The log must go on being read, or the pipe fills up and stops the process. */
function listening(child: ChildProcess, lines: LogLine[]): Promise<number> {
  return new Promise((resolve) => {
    createInterface({ input: child.stdout! }).on('line', (text) => {
      const line = JSON.parse(text) as Omit<LogLine, 'text'> & { readonly api?: string }
      lines.push({ ...line, text })
      if (line.msg === 'listening') resolve(Number(new URL(line.api!).port))
    })
  })
}
