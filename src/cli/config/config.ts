/**
 * The configuration. Flags override environment variables, which override the file, which overrides the
 * defaults.
 */
import type { AuthSettings, OidcSettings } from '../../auth/settings.ts'
import { isObject } from '../../base/json/json.ts'
import { DEFAULT_LIMITS, type Limits } from '../../base/limits.ts'
import { LOCATION_FORMS, parseLocation } from '../../base/location.ts'
import type { Compatibility } from '../../http/compatibility.ts'
import type { LogLevel } from '../../http/observe/log.ts'
import type { RateLimit } from '../../http/rate-limit.ts'
import type { BackupSettings } from '../../service/backup/backups.ts'
import { dashed } from '../option.ts'
import { authFrom, oidcFrom } from './auth-config.ts'
import { ConfigError } from './config-error.ts'
import { type EventsConfig, eventsFrom } from './events-config.ts'
import { CONFIG_OPTIONS, type ConfigOption, type Flags } from './flags.ts'
import { Reader } from './reader.ts'
import {
  type Environment,
  type FlagValues,
  LAYERS,
  type Settings,
  collectSettings,
  readSettingsFile,
  variableFor,
} from './settings.ts'
import { refuseStrayVariables } from './stray-variables.ts'

export interface Config {
  readonly host: string
  readonly port: number
  /** The first one is the store, named `default`. */
  readonly datasources: readonly NamedLocation[]
  /** How many processes share the port. */
  readonly workers: number
  /** The service as which it answers; itself when absent. */
  readonly compatibility: Compatibility | undefined
  readonly logLevel: LogLevel
  readonly limits: Limits
  readonly auth: AuthSettings
  /** The file of tokens; set even when the mode `tokens` is off. */
  readonly tokensFile: string
  readonly events: EventsConfig
  readonly backup: BackupSettings | undefined
  readonly rateLimit: RateLimit | undefined
  readonly metrics: 'authenticated' | 'public'
  /** Whether the page is served. */
  readonly isUiEnabled: boolean
  /** How users of the page sign in; by pasting a token only when absent. */
  readonly oidc: OidcSettings | undefined
  readonly tls: TlsFiles | undefined
  /** Path of each given setting → the flag, variable or file it came from. */
  readonly sources: Readonly<Record<string, string>>
}

interface NamedLocation {
  readonly name: string
  /** May contain a password. */
  readonly location: string
}

export interface TlsFiles {
  readonly cert: string
  readonly key: string
  readonly ca: string | undefined
}

export function readConfig(
  flags: Flags,
  environment: Environment,
  directory: string = process.cwd(),
): Config {
  if (flags.store !== undefined && flags.data !== undefined)
    throw new ConfigError('--data and --store both say where the data is; leave one of them out')
  const file = readSettingsFile(flags.config ?? environment['SMALT_CONFIG'], directory)
  refuseStrayVariables(environment, file)
  const settings = collectSettings(flagValues(flags), environment, file)
  const pick = new Reader(settings, environment)
  const dataDirectory = pick.text('data') ?? './data'
  const store = isDataStronger(pick) ? undefined : storeFrom(pick)
  const location = store ?? `sqlite:${dataDirectory}`
  const datasources = [{ name: DEFAULT, location }, ...datasourcesFrom(pick)]
  const kept = parseLocation(location)
  const tokensFile =
    pick.text('auth.tokens.file') ?? `${kept?.kind === 'sqlite' ? kept.directory : dataDirectory}/tokens.json`
  const auth = authFrom(pick, tokensFile)
  return {
    host: pick.text('host') ?? '127.0.0.1',
    port: pick.number('port') ?? 8080,
    datasources,
    workers: workersFrom(pick, datasources),
    compatibility: pick.text('compatibility') as Compatibility | undefined,
    logLevel: (pick.text('logLevel') as LogLevel | undefined) ?? 'info',
    limits: limitsFrom(pick),
    auth,
    tokensFile,
    events: eventsFrom(pick, datasources),
    backup: backupFrom(pick),
    rateLimit: rateLimitFrom(pick),
    metrics: (pick.text('metrics') as Config['metrics'] | undefined) ?? 'authenticated',
    isUiEnabled: pick.isTrue('ui.enabled', true),
    oidc: oidcFrom(pick, auth),
    tls: tlsFrom(pick),
    sources: sourcesOf(settings),
  }
}

/** Sections are left out: the settings inside them are listed. */
function sourcesOf(settings: Settings): Config['sources'] {
  const given = [...settings].filter(([, { value }]) => !isObject(value) || Object.keys(value).length > 0)
  return Object.fromEntries(given.map(([path, { name }]) => [path, name]))
}

/** `bodyBytes` is set by `SMALT_LIMITS_BODY_BYTES`, and so on. */
export function limitVariable(name: string): string {
  return variableFor(`limits.${name}`)
}

const DEFAULT = 'default'

function flagValues(flags: Flags): FlagValues {
  const entries = Object.entries<ConfigOption>(CONFIG_OPTIONS).flatMap(([name, { path }]) => {
    const value = flags[name as keyof Flags]
    return path === undefined || value === undefined ? [] : [[path, { flag: dashed(name), value }] as const]
  })
  return new Map(entries)
}

/** Both settings give the location of the data; the one from the stronger layer applies. */
function isDataStronger(pick: Reader): boolean {
  const [data, store] = [pick.given('data'), pick.given('store')]
  if (!data || !store) return false
  if (data.layer === 'file' && store.layer === 'file')
    throw new ConfigError(`${data.name} and store both say where the data is; leave one of them out`)
  return LAYERS.indexOf(data.layer) < LAYERS.indexOf(store.layer)
}

/** Locations may contain passwords, so the messages do not repeat the given value. */
function storeFrom(pick: Reader): string | undefined {
  const store = pick.secret('store')
  if (store === undefined || parseLocation(store)) return store
  throw new ConfigError(`${pick.nameOf('store')} must be ${LOCATION_FORMS}`)
}

/** The file lists them by name; flags and variables use a list of NAME=LOCATION. */
function datasourcesFrom(pick: Reader): readonly NamedLocation[] {
  const given = pick.given('datasources')
  if (!given) return []
  const { name: setting, value } = given
  const pairs = isObject(value)
    ? Object.entries(value).map(
        ([name, location]) => [name, pick.reveal(`${setting}/${name}`, location)] as const,
      )
    : (value as readonly string[]).map((text) => splitDatasource(text))
  const named = pairs.map(([name, location]) => namedLocation(name, location, setting))
  const names = [DEFAULT, ...named.map(({ name }) => name)]
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice === undefined) return named
  const hint = twice === DEFAULT ? ': that is the name of the store itself' : ''
  throw new ConfigError(`${setting} names the datasource ${twice} twice${hint}`)
}

function splitDatasource(text: string): readonly [string, string] {
  const [, name = '', location = ''] = /^([^=]*)=(.+)$/s.exec(text) ?? []
  return [name, location]
}

function namedLocation(name: string, location: string, setting: string): NamedLocation {
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name))
    throw new ConfigError(`${setting} must be NAME=LOCATION, with a name of letters, digits, "_" and "-"`)
  if (parseLocation(location)) return { name, location }
  throw new ConfigError(`${setting}: the location of ${name} must be ${LOCATION_FORMS}`)
}

function workersFrom(pick: Reader, datasources: readonly NamedLocation[]): number {
  const workers = pick.number('workers') ?? 1
  const embedded = datasources.find(({ location }) => parseLocation(location)?.kind === 'sqlite')
  if (workers === 1 || !embedded) return workers
  throw new ConfigError(
    `${pick.nameOf('workers')} must be 1 while the datasource ${embedded.name} is SQLite, whose file one process ` +
      'owns; several processes need PostgreSQL',
  )
}

function limitsFrom(pick: Reader): Limits {
  const entries = Object.entries(DEFAULT_LIMITS).map(([name, usual]): [string, number] => [
    name,
    pick.number(`limits.${name}`) ?? (usual as number),
  ])
  return Object.fromEntries(entries) as unknown as Limits
}

function rateLimitFrom(pick: Reader): RateLimit | undefined {
  const perSecond = pick.number('rateLimit.perSecond')
  const burst = pick.number('rateLimit.burst')
  if (perSecond !== undefined) return { perSecond, burst: burst ?? perSecond }
  if (burst !== undefined)
    throw new ConfigError(`${pick.nameOf('rateLimit.burst')} needs rateLimit.perSecond`)
  return undefined
}

function backupFrom(pick: Reader): BackupSettings | undefined {
  const [directory, every, keep] = [
    pick.text('backup.directory'),
    pick.text('backup.every'),
    pick.number('backup.keep'),
  ]
  if (directory !== undefined) {
    return { directory, keep: keep ?? 7, ...(every !== undefined && { everyMs: periodFrom(every, pick) }) }
  }
  const given = every === undefined ? 'backup.keep' : 'backup.every'
  if (every === undefined && keep === undefined) return undefined
  throw new ConfigError(`${pick.nameOf(given)} needs backup.directory, where the backups are written`)
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function periodFrom(text: string, pick: Reader): number {
  const [, digits = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const ms = Number(digits) * (UNITS_MS[unit] ?? 0)
  // Timers have no longer periods.
  if (ms > 0 && ms <= MAX_PERIOD_MS) return ms
  throw new ConfigError(
    `${pick.nameOf('backup.every')} must be a number with s, m, h or d, such as 6h or 1d, and at most 365d`,
  )
}

const MAX_PERIOD_MS = 365 * 86_400_000

function tlsFrom(pick: Reader): TlsFiles | undefined {
  const [cert, key, ca] = [pick.text('tls.cert'), pick.text('tls.key'), pick.text('tls.ca')]
  if (cert !== undefined && key !== undefined) return { cert, key, ca }
  if (cert ?? key ?? ca) throw new ConfigError('tls needs both cert and key')
  return undefined
}
