/** A real PostgreSQL server for tests: started for the run, or given by SMALT_TEST_POSTGRES. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { UNPRIVILEGED, postgresBinaries } from './postgres-binaries.ts'

export interface PostgresServer extends AsyncDisposable {
  readonly url: string
  /** Ends the server; SIGKILL leaves the data as a crash would. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Starts again, on the same port and the same data. */
  restart(): Promise<void>
}

export interface PostgresOptions {
  /** Flushes what is committed, as servers do; without, only a crash of the machine would lose it, and tests are faster. */
  readonly durable?: boolean
}

const USER = 'smalt'
const ADVICE =
  'no PostgreSQL server for the tests: set SMALT_TEST_POSTGRES to the URL of a database in which schemas may be made, ' +
  'or install the development dependencies, which bring a server'

export async function startPostgres({ durable = false }: PostgresOptions = {}): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-postgres-data-'))
  try {
    const cluster = { directory, durable, port: await freePort() }
    createCluster(cluster)
    let running = await startServer(cluster)
    return {
      url: urlOf(cluster),
      kill: (signal) => end(running, signal),
      async restart() {
        await end(running, 'SIGINT')
        running = await startServer(cluster)
      },
      async [Symbol.asyncDispose]() {
        await end(running, 'SIGQUIT')
        rmSync(directory, { recursive: true, force: true })
      },
    }
  } catch (cause) {
    rmSync(directory, { recursive: true, force: true })
    throw new Error(`${ADVICE} (${String(cause)})`, { cause })
  }
}

let ofThisProcess: Promise<string> | undefined

/** The server of this test run; one started here ends with this process. */
export function testPostgresUrl(): Promise<string> {
  const given = process.env['SMALT_TEST_POSTGRES']
  ofThisProcess ??= given ? Promise.resolve(given) : startPostgres().then(({ url }) => url)
  return ofThisProcess
}

/** An empty place for one store: a schema of its own, gone with everything in it when disposed. */
export async function freshDatabase(): Promise<{ readonly url: string } & AsyncDisposable> {
  const url = new URL(await testPostgresUrl())
  const schema = `test_${randomUUID().replaceAll('-', '')}`
  url.searchParams.set('schema', schema)
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      await (await administration()).query(`drop schema if exists ${schema} cascade`)
    },
  }
}

/** What a query about the place of a store finds there, past the store. */
export async function rowsOf(
  url: string,
  query: (schema: string) => string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { rows } = await (await administration()).query(query(new URL(url).searchParams.get('schema')!))
  return rows as Record<string, unknown>[]
}

let pool: pg.Pool | undefined

async function administration(): Promise<pg.Pool> {
  pool ??= new pg.Pool({
    connectionString: await testPostgresUrl(),
    max: 1,
    allowExitOnIdle: true,
    // somebody who still holds a lock is a fault to report, not to wait for
    options: '-c lock_timeout=20s -c client_min_messages=warning',
  })
  return pool
}

interface Cluster {
  readonly directory: string
  readonly durable: boolean
  readonly port: number
}

interface Running {
  readonly server: ChildProcess
  readonly guard: ChildProcess
}

function urlOf({ port }: Cluster): string {
  return `postgres://${USER}@127.0.0.1:${port}/postgres`
}

function createCluster({ directory }: Cluster): void {
  if (UNPRIVILEGED) chownSync(directory, UNPRIVILEGED.uid, UNPRIVILEGED.gid)
  // the order of English, so that a comparison that forgets to ask for code points shows
  const order = ['--locale=C', '--locale-provider=icu', '--icu-locale=en']
  const { status, error, stderr } = spawnSync(
    postgresBinaries().initdb,
    ['-D', dataOf(directory), '-U', USER, '--auth=trust', '--encoding=UTF8', '--no-sync', ...order],
    { ...UNPRIVILEGED, cwd: directory, encoding: 'utf8' },
  )
  if (status !== 0) throw error ?? new Error(`initdb failed: ${stderr}`)
}

async function startServer(cluster: Cluster): Promise<Running> {
  const deadline = Date.now() + 30_000
  for (;;) {
    const running = launch(cluster)
    if (await isReady(running.server, cluster, deadline)) return running
    await end(running, 'SIGKILL')
    if (Date.now() > deadline) {
      throw new Error(
        `postgres does not start: ${readFileSync(logOf(cluster.directory), 'utf8').slice(-2000)}`,
      )
    }
    // what a killed server leaves behind holds on to the data for a moment
    await sleep(100)
  }
}

function launch(cluster: Cluster): Running {
  const { directory } = cluster
  const log = openSync(logOf(directory), 'a')
  const server = spawn(postgresBinaries().postgres, ['-D', dataOf(directory), ...settings(cluster)], {
    ...UNPRIVILEGED,
    cwd: directory,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  server.on('error', () => undefined)
  server.unref()
  return { server, guard: guard(server.pid ?? 0, directory) }
}

function settings({ directory, durable, port }: Cluster): readonly string[] {
  const fast = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'deadlock_timeout=100ms']
  const all = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    `unix_socket_directories=${directory}`,
    'max_connections=300',
    ...(durable ? [] : fast),
  ]
  return all.flatMap((setting) => ['-c', setting])
}

/** Its input ends when this process does, however that happens; then server and data go. A line calls it off. */
function guard(pid: number, directory: string): ChildProcess {
  const script =
    'trap "" INT TERM HUP; read -r line && exit; ' +
    'kill -QUIT "$0"; while kill -0 "$0"; do sleep 0.1; done; rm -rf "$1"'
  const child = spawn('/bin/sh', ['-c', script, String(pid), directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.on('error', () => undefined)
  child.stdin.on('error', () => undefined)
  child.unref()
  return child
}

async function isReady(server: ChildProcess, cluster: Cluster, deadline: number): Promise<boolean> {
  while (server.pid !== undefined && !isOver(server) && Date.now() < deadline) {
    const client = new pg.Client({ connectionString: urlOf(cluster) })
    client.on('error', () => undefined)
    try {
      await client.connect()
      await client.end()
      return true
    } catch {
      await sleep(30)
    }
  }
  return false
}

async function end({ server, guard }: Running, signal: NodeJS.Signals): Promise<void> {
  if (server.pid !== undefined && !isOver(server)) {
    server.ref()
    const over = once(server, 'exit')
    server.kill(signal)
    await over
  }
  guard.stdin?.end('done\n')
}

function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

function dataOf(directory: string): string {
  return join(directory, 'data')
}

function logOf(directory: string): string {
  return join(directory, 'log')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
