/** The log: JSON lines for machines, short lines for a person at a terminal. It never holds a body or a query. */
import { type DestinationStream, type Logger, destination, pino, stdTimeFunctions } from 'pino'

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface Log {
  readonly logger: Logger
  /** Writes out what is held back, and stops doing so by itself. */
  readonly close: () => void
}

/** One answered request. */
export interface RequestLine {
  readonly requestId: string
  readonly method: string
  readonly route: string
  readonly entity: string | undefined
  readonly version: string | undefined
  readonly roles: number
  readonly status: number
  readonly ms: number
  readonly bytes: number
}

/** To standard output: at once on a terminal, in batches elsewhere. */
export function createLog(level: LogLevel, isTerminal: boolean = process.stdout.isTTY): Log {
  if (isTerminal) {
    return {
      logger: loggerTo(
        terminal((line) => process.stdout.write(line)),
        level,
      ),
      close: () => undefined,
    }
  }
  const out = destination({ fd: 1, sync: false, minLength: 4_096 })
  const timer = setInterval(() => out.flush(), 1_000).unref()
  return {
    logger: loggerTo(out, level),
    close() {
      clearInterval(timer)
      out.flushSync()
    },
  }
}

export function loggerTo(stream: DestinationStream, level: LogLevel): Logger {
  const formatters = { level: (label: string) => ({ level: label }) }
  return pino({ level, base: null, timestamp: stdTimeFunctions.isoTime, formatters }, stream)
}

/** Turns each JSON line into `12:34:56.789 info  POST /data/find/{entity} 200 1.2ms country …`. */
export function terminal(print: (line: string) => void): DestinationStream {
  return {
    write(line) {
      const { time, level, msg, ...rest } = JSON.parse(line) as Record<string, unknown>
      print(`${textOf(time).slice(11, 23)} ${textOf(level).padEnd(5)} ${textOf(msg ?? '')}${details(rest)}\n`)
    },
  }
}

function details(rest: Readonly<Record<string, unknown>>): string {
  if (typeof rest.route === 'string') return ` ${requestDetails(rest)}`
  const { err, ...others } = rest
  const stack = (err as { stack?: unknown } | undefined)?.stack
  const pairs = Object.entries(others).map(([key, value]) => ` ${key}=${textOf(value)}`)
  return pairs.join('') + (typeof stack === 'string' ? `\n${stack}` : '')
}

function requestDetails(line: Readonly<Record<string, unknown>>): string {
  const { method, route, status, ms, entity, version, roles, bytes, requestId } = line
  const target =
    entity === undefined ? '' : ` ${textOf(entity)}${version === undefined ? '' : `:${textOf(version)}`}`
  const numbers = `${textOf(status)} ${textOf(ms)}ms ${textOf(bytes)}B roles=${textOf(roles)}`
  return `${textOf(method)} ${textOf(route)}${target} ${numbers} ${textOf(requestId)}`
}

/** Names come from outside: control characters must not reach the terminal. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll(/\p{Cc}/gu, '?') : JSON.stringify(value)
}
