/** Formats the log for a terminal. */
import type { DestinationStream } from 'pino'

/** Formats each JSON line like `12:34:56.789 info  POST /data/find/{entity} country 200 1.2ms`. */
export function terminal(print: (line: string) => void): DestinationStream {
  return {
    write(line) {
      const { time, level, msg, ...rest } = JSON.parse(line) as Record<string, unknown>
      const what = typeof rest.route === 'string' ? request(rest) : `${textOf(msg ?? '')}${details(rest)}`
      print(`${textOf(time).slice(11, 23)} ${textOf(level).padEnd(5)} ${what}\n`)
    },
  }
}

function request(line: Readonly<Record<string, unknown>>): string {
  const { method, route, status, ms, entity, version, roles, bytes, requestId } = line
  const target = [entity, version].flatMap((name) => (name === undefined ? [] : [textOf(name)])).join(':')
  const numbers = `${textOf(status)} ${textOf(ms)}ms ${textOf(bytes)}B roles=${textOf(roles)}`
  return [textOf(method), textOf(route), target, numbers, textOf(requestId)]
    .filter((part) => part !== '')
    .join(' ')
}

function details({ err, ...rest }: Readonly<Record<string, unknown>>): string {
  const stack = (err as { stack?: unknown } | undefined)?.stack
  const pairs = Object.entries(rest).map(([key, value]) => ` ${key}=${textOf(value)}`)
  return pairs.join('') + (typeof stack === 'string' ? `\n${stack}` : '')
}

/** Replaces control characters: names are user input, and must not send escape sequences to the terminal. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll(/\p{Cc}/gu, '?') : JSON.stringify(value)
}
