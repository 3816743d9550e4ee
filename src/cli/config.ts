/** The configuration: flags win over the environment, which wins over the defaults. */
import { DEFAULT_LIMITS, type Limits } from '../base/limits.ts'
import { LOCATION_FORMS, parseLocation } from '../base/location.ts'
import { LOG_LEVELS, type LogLevel } from '../http/log.ts'

export interface Config {
  readonly host: string
  readonly port: number
  /** The first is the store, named `default`. */
  readonly datasources: readonly NamedLocation[]
  /** How many processes share the port. */
  readonly workers: number
  readonly logLevel: LogLevel
  readonly limits: Limits
}

export interface NamedLocation {
  readonly name: string
  /** May hold a password. */
  readonly location: string
}

type Flag = 'port' | 'host' | 'data' | 'store' | 'workers' | 'log-level'
export type Flags = Readonly<Partial<Record<Flag, string>>> & { readonly datasource?: readonly string[] }
export type Environment = Readonly<Partial<Record<string, string>>>

/** A value that cannot be used; the message names the setting and what it takes. */
export class ConfigError extends Error {}

export function readConfig(flags: Flags, environment: Environment): Config {
  const pick = (flag: Flag, variable: string): Setting | undefined =>
    settingOf(`--${flag}`, flags[flag]) ?? settingOf(variable, environment[variable])
  if (flags.store !== undefined && flags.data !== undefined)
    throw new ConfigError('--data and --store both say where the data is; leave one of them out')
  const dataDirectory = textFrom(pick('data', 'SMALT_DATA')) ?? './data'
  const store = storeFrom(flags.data === undefined ? pick('store', 'SMALT_STORE') : undefined)
  const datasources = [
    { name: DEFAULT, location: store ?? `sqlite:${dataDirectory}` },
    ...datasourcesFrom(flags, environment),
  ]
  return {
    host: textFrom(pick('host', 'SMALT_HOST')) ?? '127.0.0.1',
    port: wholeNumber(pick('port', 'SMALT_PORT'), 0, 65_535) ?? 8080,
    datasources,
    workers: workersFrom(pick('workers', 'SMALT_WORKERS'), datasources),
    logLevel: levelFrom(pick('log-level', 'SMALT_LOG_LEVEL')) ?? 'info',
    limits: limitsFrom(environment),
  }
}

/** `bodyBytes` is set by `SMALT_LIMITS_BODY_BYTES`, and so on. */
export function limitVariable(name: string): string {
  return `SMALT_LIMITS_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

interface Setting {
  /** The flag or variable it came from. */
  readonly name: string
  readonly text: string
}

function settingOf(name: string, text: string | undefined): Setting | undefined {
  return text === undefined ? undefined : { name, text }
}

function textFrom(setting: Setting | undefined): string | undefined {
  if (setting?.text.trim() === '') throw new ConfigError(`${setting.name} must not be empty`)
  return setting?.text
}

function wholeNumber(setting: Setting | undefined, least: number, most: number): number | undefined {
  if (!setting) return undefined
  const value = /^\d{1,15}$/.test(setting.text) ? Number(setting.text) : Number.NaN
  if (value >= least && value <= most) return value
  throw new ConfigError(
    `${setting.name} must be a whole number from ${least} to ${most}, not ${quoted(setting)}`,
  )
}

/** Locations may hold passwords, so none of these messages repeats what was given. */
function storeFrom(setting: Setting | undefined): string | undefined {
  if (!setting) return undefined
  if (parseLocation(setting.text)) return setting.text
  throw new ConfigError(`${setting.name} must be ${LOCATION_FORMS}`)
}

/** Named on the command line, or all in one variable, with commas or spaces between them. */
function datasourcesFrom(flags: Flags, environment: Environment): readonly NamedLocation[] {
  const [setting, texts] = flags.datasource
    ? ['--datasource', flags.datasource]
    : [
        'SMALT_DATASOURCES',
        (environment['SMALT_DATASOURCES'] ?? '').split(/[\s,]+/).filter((text) => text !== ''),
      ]
  const named = texts.map((text) => namedLocation(text, setting))
  const names = [DEFAULT, ...named.map(({ name }) => name)]
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice === undefined) return named
  const hint = twice === DEFAULT ? ': that is the name of the store itself' : ''
  throw new ConfigError(`${setting} names the datasource ${twice} twice${hint}`)
}

function namedLocation(text: string, setting: string): NamedLocation {
  const [, name, location] = /^([A-Za-z_][A-Za-z0-9_-]*)=(.+)$/s.exec(text) ?? []
  if (name === undefined || location === undefined)
    throw new ConfigError(`${setting} must be NAME=LOCATION, with a name of letters, digits, "_" and "-"`)
  if (parseLocation(location)) return { name, location }
  throw new ConfigError(`${setting}: the location of ${name} must be ${LOCATION_FORMS}`)
}

const DEFAULT = 'default'

function workersFrom(setting: Setting | undefined, datasources: readonly NamedLocation[]): number {
  const workers = wholeNumber(setting, 1, MAX_WORKERS) ?? 1
  const embedded = datasources.find(({ location }) => parseLocation(location)?.kind === 'sqlite')
  if (workers === 1 || !embedded) return workers
  throw new ConfigError(
    `${setting!.name} must be 1 while the datasource ${embedded.name} is SQLite, whose file one process owns; ` +
      'several processes need PostgreSQL',
  )
}

const MAX_WORKERS = 64

function levelFrom(setting: Setting | undefined): LogLevel | undefined {
  if (!setting) return undefined
  const level = LOG_LEVELS.find((each) => each === setting.text)
  if (level) return level
  throw new ConfigError(`${setting.name} must be one of ${LOG_LEVELS.join(', ')}, not ${quoted(setting)}`)
}

function limitsFrom(environment: Environment): Limits {
  const known = Object.keys(DEFAULT_LIMITS).map(limitVariable)
  const stray = Object.keys(environment).find(
    (name) => name.startsWith('SMALT_LIMITS_') && !known.includes(name),
  )
  if (stray !== undefined) throw new ConfigError(`${stray} sets no limit; there are ${known.join(', ')}`)
  const entries = Object.entries(DEFAULT_LIMITS).map(([name, usual]): [string, number] => {
    const variable = limitVariable(name)
    return [name, wholeNumber(settingOf(variable, environment[variable]), 1, MAX_LIMIT) ?? (usual as number)]
  })
  return Object.fromEntries(entries) as unknown as Limits
}

const MAX_LIMIT = 2 ** 40

function quoted({ text }: Setting): string {
  return JSON.stringify(text)
}
