/** The data and the processes of one PostgreSQL server, made for tests and gone with them. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chownSync, closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Guarded, endServer, guarded, isOver } from './guarded.ts'
import { UNPRIVILEGED, postgresBinaries } from './postgres-binaries.ts'

export interface Cluster {
  readonly directory: string
  readonly port: number
  readonly superuser: string
  /** Flushes what is committed, as servers do; without, only a crash of the machine would lose it, and tests are faster. */
  readonly durable: boolean
  /** Who gets in over the network, in lines of pg_hba.conf; everybody when absent. */
  readonly hba?: readonly string[]
  /** Such as `ssl=on`. */
  readonly settings?: readonly string[]
  /** Keys and certificates, by the names that the settings call them. */
  readonly files?: Readonly<Record<string, string>>
}

export function createCluster(cluster: Cluster): void {
  const { directory, superuser, hba, files = {} } = cluster
  if (UNPRIVILEGED) chownSync(directory, UNPRIVILEGED.uid, UNPRIVILEGED.gid)
  // the order of English, so that a comparison that forgets to ask for code points shows
  const order = ['--locale=C', '--locale-provider=icu', '--icu-locale=en']
  const { status, error, stderr } = spawnSync(
    postgresBinaries().initdb,
    ['-D', dataOf(directory), '-U', superuser, '--auth=trust', '--encoding=UTF8', '--no-sync', ...order],
    { ...UNPRIVILEGED, cwd: directory, encoding: 'utf8' },
  )
  if (status !== 0) throw error ?? new Error(`initdb failed: ${stderr}`)
  for (const [name, text] of Object.entries(files)) addFile(directory, name, text)
  if (hba) addFile(directory, 'pg_hba.conf', ['local all all trust', ...hba, ''].join('\n'))
}

/** A server takes no key that others may read. */
function addFile(directory: string, name: string, text: string): void {
  const path = join(dataOf(directory), name)
  writeFileSync(path, text, { mode: 0o600 })
  if (UNPRIVILEGED) chownSync(path, UNPRIVILEGED.uid, UNPRIVILEGED.gid)
}

export function localWay({ directory, port, superuser }: Cluster): pg.ClientConfig {
  return { host: directory, port, user: superuser, database: 'postgres' }
}

export async function startServer(cluster: Cluster): Promise<Guarded> {
  const deadline = Date.now() + 120_000
  for (;;) {
    const running = launch(cluster)
    if (await isReady(running.server, cluster, deadline)) return running
    await endServer(running, 'SIGKILL')
    if (Date.now() > deadline) {
      throw new Error(
        `postgres does not start: ${readFileSync(logOf(cluster.directory), 'utf8').slice(-2000)}`,
      )
    }
    // what a killed server leaves behind holds on to the data for a moment
    await sleep(100)
  }
}

function launch(cluster: Cluster): Guarded {
  const { directory } = cluster
  const log = openSync(logOf(directory), 'a')
  const server = spawn(postgresBinaries().postgres, ['-D', dataOf(directory), ...settingsOf(cluster)], {
    ...UNPRIVILEGED,
    cwd: directory,
    // the pipe stays open as long as any process of the server lives: those that serve outlive a killed first one
    stdio: ['ignore', log, log, 'pipe'],
  })
  closeSync(log)
  server.on('error', () => undefined)
  const alive = server.stdio[3] as Socket
  alive.on('error', () => undefined).resume()
  alive.unref()
  server.unref()
  return guarded(server, { directory, signal: 'QUIT' })
}

function settingsOf({ directory, durable, port, settings = [] }: Cluster): readonly string[] {
  const unflushed = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']
  const unlogged = ['wal_level=minimal', 'max_wal_senders=0', 'checkpoint_timeout=30min']
  const fast = [...unflushed, ...unlogged, 'deadlock_timeout=100ms']
  const all = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    `unix_socket_directories=${directory}`,
    'max_connections=300',
    ...(durable ? [] : fast),
    ...settings,
  ]
  return all.flatMap((setting) => ['-c', setting])
}

async function isReady(server: ChildProcess, cluster: Cluster, deadline: number): Promise<boolean> {
  while (server.pid !== undefined && !isOver(server) && Date.now() < deadline) {
    const client = new pg.Client(localWay(cluster))
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

function dataOf(directory: string): string {
  return join(directory, 'data')
}

export function logOf(directory: string): string {
  return join(directory, 'log')
}
