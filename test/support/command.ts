/**
 * The command line inside of this process, for whatever it does short of serving and being killed: its main module, run
 * anew each time, while all that it needs stays loaded. To start a process takes many times as long as most commands.
 */
import type { EventEmitter } from 'node:events'

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface Surroundings {
  /** Added to the variables of this process, of which none is for Smalt. */
  readonly environment?: Readonly<Record<string, string>>
  readonly cwd?: string
}

const MAIN = new URL('../../src/cli/main.ts', import.meta.url)
let runs = 0

/** One at a time: what a process has only one of is lent to the command. */
export async function runCommand(
  args: readonly string[],
  { environment = {}, cwd = process.cwd() }: Surroundings = {},
): Promise<Ended> {
  using lent = lend(args, { environment, cwd })
  runs += 1
  // another address is another module, and only this one: what it imports is the same as ever
  await import(`${MAIN.href}?${runs}`)
  return { code: Number(process.exitCode ?? 0), ...lent.told }
}

function lend(args: readonly string[], { environment, cwd }: Required<Surroundings>) {
  using stack = new DisposableStack()
  const told = { out: '', err: '' }
  const collect = (name: keyof typeof told) => (text: string, done?: () => void) => {
    told[name] += text
    done?.()
    return true
  }
  const { argv, env, stdout, stderr, exitCode } = process
  stack.defer(() => {
    Object.assign(process, { argv, env, exitCode })
    Object.defineProperties(process, {
      stdout: { value: stdout, configurable: true },
      stderr: { value: stderr, configurable: true },
    })
  })
  const inherited = Object.entries(env).filter(([name]) => !name.startsWith('SMALT_'))
  Object.assign(process, {
    argv: [argv[0], MAIN.pathname, ...args],
    env: { ...Object.fromEntries(inherited), ...environment },
    exitCode: undefined,
  })
  // the report of the tests goes on where it went
  Object.defineProperties(process, {
    stdout: { value: { write: collect('out') }, configurable: true },
    stderr: { value: { write: collect('err') }, configurable: true },
  })
  const [mask, directory] = [process.umask(), process.cwd()]
  stack.defer(() => {
    process.umask(mask)
    process.chdir(directory)
  })
  process.chdir(cwd)
  for (const signal of ['SIGINT', 'SIGTERM']) stack.use(keptListeners(process, signal))
  const owned = stack.move()
  return { told, [Symbol.dispose]: () => owned.dispose() }
}

/** Whoever begins to listen meanwhile has stopped when this is disposed. */
function keptListeners(emitter: EventEmitter, event: string): Disposable {
  const before = emitter.listeners(event)
  return {
    [Symbol.dispose]() {
      for (const listener of emitter.listeners(event)) {
        if (!before.includes(listener)) emitter.off(event, listener as () => void)
      }
    },
  }
}
