/** Parses the URL of a database into the driver's configuration and our own parameters. */
import { readFileSync } from 'node:fs'
import type pg from 'pg'

export interface Location {
  readonly config: pg.ClientConfig
  /** The PostgreSQL schema that contains all tables of Smalt. */
  readonly schema: string
  readonly poolSize: number
}

/** An invalid location. The message describes what is valid, and never contains the password. */
export class LocationError extends Error {}

/** Our own parameters are removed from the URL; all others are the driver's. */
export function readLocation(url: string): Location {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !/^postgres(?:ql)?:$/.test(parsed.protocol)) {
    throw new LocationError('a PostgreSQL location looks like postgres://user@host:5432/database')
  }
  const schema = taken(parsed, 'schema') ?? 'smalt'
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new LocationError('schema takes a name of small letters, digits and "_", at most 63 of them')
  }
  const poolSize = Number(taken(parsed, 'pool') ?? 16)
  if (!Number.isInteger(poolSize) || poolSize < 1 || poolSize > 1_000) {
    throw new LocationError('pool takes a whole number from 1 to 1000')
  }
  checkEncryption(parsed.searchParams)
  // Options of the URL follow our defaults and override them. The schema comes last and cannot be overridden.
  const options = [
    '-c jit=off -c idle_in_transaction_session_timeout=300000 -c synchronous_commit=on',
    taken(parsed, 'options') ?? '',
    `-c search_path=${schema}`,
  ]
  const config = {
    application_name: taken(parsed, 'application_name') ?? 'smalt',
    connectionString: parsed.href,
    options: options.filter((part) => part !== '').join(' '),
  }
  return { config, schema, poolSize }
}

/** Checked here, because the driver's failures would look like an unreachable database. */
function checkEncryption(parameters: URLSearchParams): void {
  const mode = parameters.get('sslmode')
  if (mode !== null && !SSL_MODES.includes(mode)) {
    throw new LocationError(`sslmode takes one of ${SSL_MODES.join(', ')}`)
  }
  // The driver verifies in these modes too, but warns that a later release of it will not.
  if (mode !== null && VERIFYING.includes(mode) && !parameters.has('uselibpqcompat')) {
    parameters.set('sslmode', 'verify-full')
  }
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const file = parameters.get(name)
    if (file !== null && !isReadable(file)) throw new LocationError(`${name} names no file that can be read`)
  }
  if (parameters.has('sslcert') !== parameters.has('sslkey')) {
    throw new LocationError('sslcert and sslkey come together')
  }
}

const VERIFYING = ['prefer', 'require', 'verify-ca']
const SSL_MODES = ['disable', 'no-verify', ...VERIFYING, 'verify-full']

function isReadable(file: string): boolean {
  try {
    readFileSync(file)
    return true
  } catch {
    return false
  }
}

function taken(url: URL, name: string): string | undefined {
  const value = url.searchParams.get(name) ?? undefined
  url.searchParams.delete(name)
  return value
}
