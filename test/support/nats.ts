/** A real NATS server with JetStream for tests: started here, or given by SMALT_TEST_NATS. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Guarded, endServer, freePort, guarded, isOver } from './guarded.ts'

export interface NatsServer extends AsyncDisposable {
  readonly port: number
  readonly url: string
  /** SIGSTOP makes it silent, SIGCONT ends that. */
  signal(signal: NodeJS.Signals): void
  /** Ends the server; SIGKILL leaves the streams as a crash would. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Starts again, on the same port and the same streams. */
  restart(): Promise<void>
}

/** Packages of Debian put the program into a directory that is not in everybody's PATH. */
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin`

const ADVICE =
  'needs nats-server: apt-get install nats-server, or https://github.com/nats-io/nats-server/releases'

/** Options of a test that uses `testNatsUrl`. */
export const NEEDS_NATS = skippedUnless(process.env['SMALT_TEST_NATS'] !== undefined || isInstalled())

/** Options of a test that starts a server of its own. */
export const NEEDS_OWN_NATS = skippedUnless(isInstalled())

/** npm cannot bring the program, so its tests are skipped without it, unless SMALT_TEST_NO_SKIPS is set. */
function skippedUnless(isAvailable: boolean): { readonly skip: string | false } {
  return { skip: isAvailable || process.env['SMALT_TEST_NO_SKIPS'] ? false : ADVICE }
}

function isInstalled(): boolean {
  return PATH.split(delimiter).some((directory) => existsSync(join(directory, 'nats-server')))
}

/** `config` is what its file says besides where it listens and stores. */
export async function startNats(config = ''): Promise<NatsServer> {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-nats-'))
  try {
    const place = { directory, port: await freePort() }
    writeFileSync(configOf(place), settings(place, config))
    let running = await startServer(place)
    return {
      port: place.port,
      url: `nats://127.0.0.1:${place.port}`,
      signal: (signal) => void running.server.kill(signal),
      kill: (signal) => endServer(running, signal),
      async restart() {
        await endServer(running, 'SIGKILL')
        running = await startServer(place)
      },
      async [Symbol.asyncDispose]() {
        await endServer(running, 'SIGKILL')
        rmSync(directory, { recursive: true, force: true })
      },
    }
  } catch (cause) {
    rmSync(directory, { recursive: true, force: true })
    throw cause
  }
}

let ofThisProcess: Promise<string> | undefined

/** One that the tests of this process share, each with a stream of its own; one started here ends with this process. */
export function testNatsUrl(): Promise<string> {
  const given = process.env['SMALT_TEST_NATS']
  ofThisProcess ??= given ? Promise.resolve(given) : startNats().then(({ url }) => url)
  return ofThisProcess
}

interface Place {
  readonly directory: string
  readonly port: number
}

function settings({ directory, port }: Place, more: string): string {
  const store = JSON.stringify(join(directory, 'store'))
  return `listen: "127.0.0.1:${port}"\njetstream { store_dir: ${store} }\n${more}\n`
}

async function startServer(place: Place): Promise<Guarded> {
  const log = openSync(logOf(place), 'a')
  const env = { ...process.env, PATH }
  const server = spawn('nats-server', ['-c', configOf(place)], { env, stdio: ['ignore', log, log] })
  closeSync(log)
  const failure = await Promise.race([once(server, 'spawn').then(() => undefined), once(server, 'error')])
  if (failure) throw new Error(ADVICE, { cause: failure[0] })
  server.unref()
  const running = guarded(server, { directory: place.directory, signal: 'KILL' })
  if (await isReady(server, place.port)) return running
  await endServer(running, 'SIGKILL')
  throw new Error(`nats-server does not start: ${readFileSync(logOf(place), 'utf8').slice(-2000)}`)
}

async function isReady(server: ChildProcess, port: number): Promise<boolean> {
  const deadline = performance.now() + 120_000
  while (!isOver(server) && performance.now() < deadline) {
    if (await greets(port)) return true
    await sleep(20)
  }
  return false
}

/** A server that listens introduces itself, and its streams are there by then. */
async function greets(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    const [data] = (await once(socket, 'data')) as [Buffer]
    return data.toString().startsWith('INFO ')
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

function configOf({ directory }: Place): string {
  return join(directory, 'server.conf')
}

function logOf({ directory }: Place): string {
  return join(directory, 'log')
}
