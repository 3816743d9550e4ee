/** The log: JSON lines, or short lines on a terminal. It never contains a body or a query. */
import { type DestinationStream, type Logger, pino } from 'pino'
import { outputTo } from './log-output.ts'
import { terminal } from './terminal.ts'

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface Log {
  readonly logger: Logger
  /** Logs one completed request, at level `info`. */
  readonly request: (line: RequestLine) => void
  /** Writes buffered lines. */
  readonly flush: () => void
  /** Resolves when all lines are written, as far as they are read. */
  readonly close: () => Promise<void>
}

interface RequestLine {
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

/** Logs to standard output: immediately on a terminal, elsewhere in batches of at most a second. */
export function createLog(level: LogLevel, isTerminal: boolean = process.stdout.isTTY): Log {
  if (isTerminal)
    return logTo(
      terminal((line) => process.stdout.write(line)),
      level,
    )
  const out = outputTo(1)
  let held = ''
  const flush = () => {
    if (held !== '') out.write(held)
    held = ''
  }
  const batched = {
    write(line: string) {
      held += line
      if (held.length > BATCH) flush()
    },
  }
  const timer = setInterval(flush, 1_000).unref()
  const close = () => {
    clearInterval(timer)
    flush()
    return out.drained()
  }
  process.once('exit', () => {
    flush()
    out.flushSync()
  })
  return { ...logTo(batched, level), flush, close }
}

export function logTo(stream: DestinationStream, level: LogLevel): Log {
  const formatters = { level: (label: string) => ({ level: label }) }
  const logger = pino({ level, base: null, timestamp: () => `,"time":"${clock()}"`, formatters }, stream)
  return {
    logger,
    request(line) {
      if (logger.isLevelEnabled('info')) stream.write(printLine(line))
    },
    flush: () => undefined,
    close: () => Promise.resolve(),
  }
}

const BATCH = 64 * 1_024

/** Formats the line by hand, because every request pays for it: pino's serialization costs several times as much. */
function printLine(line: RequestLine): string {
  const { entity, version } = line
  const target =
    (entity === undefined ? '' : `,"entity":${JSON.stringify(entity)}`) +
    (version === undefined ? '' : `,"version":${JSON.stringify(version)}`)
  return (
    `{"level":"info","time":"${clock()}","requestId":"${line.requestId}","method":"${line.method}",` +
    `"route":"${line.route}"${target},"roles":${line.roles},"status":${line.status},` +
    `"ms":${Math.round(line.ms * 100) / 100},"bytes":${line.bytes}}\n`
  )
}

let clockSecond = 0
let clockText = ''

/** The current time as ISO text. Everything but the milliseconds is formatted once a second. */
function clock(): string {
  const now = Date.now()
  const ms = now % 1_000
  if (now - ms !== clockSecond) {
    clockSecond = now - ms
    clockText = new Date(now).toISOString().slice(0, -4)
  }
  return `${clockText}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`
}
