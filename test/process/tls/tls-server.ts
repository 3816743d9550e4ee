/** A PostgreSQL server that nobody reaches without TLS, and the files that those need who connect to it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import {
  AUTHORITY,
  CLIENT_CERT,
  CLIENT_KEY,
  SERVER_CERT,
  SERVER_KEY,
  STRANGER_CERT,
  STRANGER_KEY,
} from '../../service/auth/certificates.ts'
import { startPostgres } from '../../support/postgres.ts'

export interface TlsServer extends AsyncDisposable {
  /** Where it is, with these parameters. */
  readonly locationWith: (parameters: Parameters, way?: Way) => string
  /** Not by way of the network. */
  readonly superuser: pg.Client
  readonly sessionsOf: (application: string) => Promise<readonly SessionRow[]>
  readonly log: () => string
  /** How often somebody came without encryption, whom the server sent away. */
  readonly plainAttempts: () => number
  readonly files: Files
}

export type Parameters = Readonly<Record<string, string>>

/** Where it is not the usual one. */
export interface Way {
  readonly user?: string
  readonly host?: string
}

export interface SessionRow {
  readonly state: string
  /** The last statement, or the one that runs. */
  readonly query: string
  /** Of TLS; null without. */
  readonly version: string | null
}

type Files = Readonly<
  Record<'directory' | 'authority' | 'cert' | 'key' | 'strangerCert' | 'strangerKey', string>
>

export const PASSWORD = 'hush'

/** `smalt` gets in with the password, `ann` and `bob` only with a certificate of their name. */
export async function startTlsServer(): Promise<TlsServer> {
  const server = await startPostgres({
    files: { 'server.crt': SERVER_CERT, 'server.key': SERVER_KEY, 'ca.crt': AUTHORITY },
    settings: ['ssl=on', 'ssl_ca_file=ca.crt', 'log_connections=on'],
    hba: [
      'hostssl all ann,bob 127.0.0.1/32 trust clientcert=verify-full',
      'hostssl all smalt 127.0.0.1/32 scram-sha-256',
    ],
  })
  const files = makeFiles()
  const superuser = new pg.Client(server.local)
  await superuser.connect()
  await superuser.query(
    `alter role smalt password '${PASSWORD}'; create role ann login; create role bob login; create schema ann authorization ann`,
  )
  return {
    locationWith: (parameters, way = {}) => locationOf(server.url, parameters, way),
    superuser,
    sessionsOf: (application) => sessionsOf(superuser, application),
    log: () => server.log(),
    plainAttempts: () => server.log().split('no encryption').length - 1,
    files,
    async [Symbol.asyncDispose]() {
      await superuser.end()
      await server[Symbol.asyncDispose]()
      rmSync(files.directory, { recursive: true, force: true })
    },
  }
}

function makeFiles(): Files {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-tls-'))
  const fileOf = (name: string, text: string): string => {
    const path = join(directory, name)
    writeFileSync(path, text)
    return path
  }
  return {
    directory,
    authority: fileOf('authority.pem', AUTHORITY),
    cert: fileOf('client.pem', CLIENT_CERT),
    key: fileOf('client.key', CLIENT_KEY),
    strangerCert: fileOf('stranger.pem', STRANGER_CERT),
    strangerKey: fileOf('stranger.key', STRANGER_KEY),
  }
}

function locationOf(base: string, parameters: Parameters, { user, host }: Way): string {
  const url = new URL(base)
  url.password = PASSWORD
  if (user !== undefined) url.username = user
  if (host !== undefined) url.hostname = host
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

async function sessionsOf(superuser: pg.Client, application: string): Promise<readonly SessionRow[]> {
  const { rows } = await superuser.query<SessionRow>(
    `select state, query, version from pg_stat_activity join pg_stat_ssl using (pid)
      where application_name = $1`,
    [application],
  )
  return rows
}
