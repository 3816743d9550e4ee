/** The configuration: flags win over the environment, which wins over the defaults. */
import { DEFAULT_LIMITS, type Limits } from '../base/limits.ts'
import { LOG_LEVELS, type LogLevel } from '../http/log.ts'

export interface Config {
  readonly host: string
  readonly port: number
  readonly dataDirectory: string
  readonly logLevel: LogLevel
  readonly limits: Limits
}

export type Flags = Readonly<Partial<Record<'port' | 'host' | 'data' | 'log-level', string>>>
export type Environment = Readonly<Partial<Record<string, string>>>

/** A value that cannot be used; the message names the setting and what it takes. */
export class ConfigError extends Error {}

export function readConfig(flags: Flags, environment: Environment): Config {
  const pick = (flag: keyof Flags, variable: string): Setting | undefined =>
    settingOf(`--${flag}`, flags[flag]) ?? settingOf(variable, environment[variable])
  return {
    host: textFrom(pick('host', 'SMALT_HOST')) ?? '127.0.0.1',
    port: wholeNumber(pick('port', 'SMALT_PORT'), 0, 65_535) ?? 8080,
    dataDirectory: textFrom(pick('data', 'SMALT_DATA')) ?? './data',
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
