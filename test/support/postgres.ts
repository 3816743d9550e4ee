/** A real PostgreSQL server for tests: started for the run, or given by SMALT_TEST_CITUS or SMALT_TEST_POSTGRES. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { citusUrl } from './citus.ts'
import { diskDirectory } from './disk.ts'
import { type Cluster, createCluster, localWay, logOf, startServer } from './postgres-cluster.ts'
import { endServer, freePort } from './guarded.ts'
import { OWN_SERVER, leaseDatabase } from './leased-database.ts'
import { type ReusedSchemas, createReusedSchemas, newName } from './reused-schemas.ts'

export interface PostgresServer extends AsyncDisposable {
  readonly url: string
  /** The superuser's way in past the network, open whatever `hba` says. */
  readonly local: pg.ClientConfig
  /** All that the server has logged. */
  log(): string
  /** Ends the server; SIGKILL leaves the data as a crash would. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Starts again, on the same port and the same data. */
  restart(): Promise<void>
}

type PostgresOptions = Partial<Omit<Cluster, 'directory' | 'port'>>

const ADVICE =
  'no PostgreSQL server for the tests: set SMALT_TEST_POSTGRES to the URL of a database in which schemas may be made, ' +
  'or install the development dependencies, which bring a server'

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const directory = mkdtempSync(join(options.durable ? diskDirectory() : tmpdir(), 'smalt-postgres-data-'))
  try {
    const cluster = { superuser: 'smalt', durable: false, ...options, directory, port: await freePort() }
    createCluster(cluster)
    let running = await startServer(cluster)
    return {
      url: `postgres://${cluster.superuser}@127.0.0.1:${cluster.port}/postgres`,
      local: localWay(cluster),
      log: () => readFileSync(logOf(directory), 'utf8'),
      kill: (signal) => endServer(running, signal),
      async restart() {
        await endServer(running, 'SIGINT')
        running = await startServer(cluster)
      },
      async [Symbol.asyncDispose]() {
        await endServer(running, 'SIGQUIT')
        rmSync(directory, { recursive: true, force: true })
      },
    }
  } catch (cause) {
    rmSync(directory, { recursive: true, force: true })
    throw new Error(`${ADVICE} (${String(cause)})`, { cause })
  }
}

let ofThisProcess: Promise<string> | undefined

/** A database of the server of this test run; a server started here ends with this process. */
export function testPostgresUrl(): Promise<string> {
  ofThisProcess ??= openDatabase()
  return ofThisProcess
}

async function openDatabase(): Promise<string> {
  const given = citusUrl() ?? process.env['SMALT_TEST_POSTGRES']
  if (given === undefined) return (await startPostgres()).url
  return process.env[OWN_SERVER] === undefined ? given : await leaseDatabase(given)
}

/** An empty place for one store: a schema of its own, gone with everything in it when disposed. */
export async function freshDatabase(): Promise<{ readonly url: string } & AsyncDisposable> {
  const schema = newName()
  return {
    url: await urlOf(schema),
    async [Symbol.asyncDispose]() {
      await (await administration()).query(`drop schema if exists ${schema} cascade`)
    },
  }
}

/** The same for a store in this process, which may find its tables there, empty, as if it had just created them. */
export async function reusedDatabase(): Promise<{ readonly url: string } & AsyncDisposable> {
  // a server that others gave is left as it was found
  if (process.env[OWN_SERVER] === undefined) return await freshDatabase()
  const schemas = (reused ??= createReusedSchemas(await administration(), new URL(await testPostgresUrl())))
  const schema = schemas.take()
  return { url: await urlOf(schema), [Symbol.asyncDispose]: () => schemas.giveBack(schema) }
}

let reused: ReusedSchemas | undefined

async function urlOf(schema: string): Promise<string> {
  const url = new URL(await testPostgresUrl())
  url.searchParams.set('schema', schema)
  return url.href
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
    options: '-c lock_timeout=60s -c client_min_messages=warning',
  })
  return pool
}
