#!/usr/bin/env node
/** The command line: finds out what is wanted and does it. Data goes to standard output, talk to standard error. */
import { enableCompileCache } from 'node:module'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { maskLocation } from '../base/location.ts'
import { OpenNetworkError } from '../auth/authentication.ts'
import { VERSION } from '../http/version.ts'
import { type Config, ConfigError, type Flags, limitVariable, readConfig } from './config.ts'
import { EXIT, Exit } from './exit.ts'
import { HELP } from './help.ts'
import type { MoveFlags } from './move.ts'
import { suggestion } from './suggest.ts'

/** What only `move` understands; it understands nothing else. */
const MOVE_OPTIONS = {
  from: { type: 'string' },
  to: { type: 'string' },
  check: { type: 'boolean' },
  restart: { type: 'boolean' },
  json: { type: 'boolean' },
} as const satisfies ParseArgsConfig['options']

const OPTIONS = {
  ...MOVE_OPTIONS,
  port: { type: 'string' },
  host: { type: 'string' },
  data: { type: 'string' },
  store: { type: 'string' },
  datasource: { type: 'string', multiple: true },
  workers: { type: 'string' },
  'log-level': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const satisfies ParseArgsConfig['options']

const COMMANDS = ['serve', 'config', 'move', 'help', 'version'] as const
type Command = (typeof COMMANDS)[number]

try {
  await run(process.argv.slice(2))
} catch (error) {
  if (error instanceof Exit) fail(error.code, error.message)
  else if (error instanceof ConfigError || error instanceof OpenNetworkError) fail(EXIT.config, error.message)
  else throw error
}

async function run(args: readonly string[]): Promise<void> {
  const { command, flags } = parse(args)
  switch (command) {
    case 'help':
      process.stdout.write(HELP)
      break
    case 'version':
      process.stdout.write(`${VERSION}\n`)
      break
    case 'config':
      process.stdout.write(`${JSON.stringify(shown(readConfig(flags, process.env)), undefined, 2)}\n`)
      break
    case 'move':
      await (await import('./move.ts')).runMove(flags)
      break
    case 'serve': {
      const config = readConfig(flags, process.env)
      // only this command needs the service, so the others need not wait for it to load; the next start finds it compiled
      enableCompileCache()
      if (config.workers > 1) await (await import('./workers.ts')).serveByWorkers(config)
      else await (await import('./serve.ts')).serve(config)
    }
  }
}

function parse(args: readonly string[]): { readonly command: Command; readonly flags: Flags & MoveFlags } {
  const { values, positionals, tokens } = lenient(args)
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const known = Object.entries(OPTIONS).find(([name]) => name === token.name)?.[1]
    if (!known)
      throw usage(`there is no option ${token.rawName}`, token.rawName, Object.keys(OPTIONS).map(dashed))
    if (known.type === 'string' && token.value === undefined) throw usage(`${token.rawName} needs a value`)
    if (known.type === 'boolean' && token.value !== undefined) throw usage(`${token.rawName} takes no value`)
  }
  const { help, version, ...flags } = values
  if (help === true) return { command: 'help', flags: {} }
  if (version === true) return { command: 'version', flags: {} }
  const [name = 'serve', ...rest] = positionals
  const command = COMMANDS.find((each) => each === name)
  if (!command) throw usage(`there is no command ${name}`, name, COMMANDS)
  if (rest.length > 0) throw usage(`${command} takes no further words, but got ${rest.join(' ')}`)
  const stray = Object.keys(flags).find((flag) => Object.hasOwn(MOVE_OPTIONS, flag) !== (command === 'move'))
  if (stray !== undefined) throw usage(`${command} takes no ${dashed(stray)}`)
  return { command, flags: flags as Flags & MoveFlags }
}

/** Strict parsing would throw sentences of its own; the checks are made here, with suggestions. */
function lenient(args: readonly string[]) {
  return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, strict: false, tokens: true })
}

/** Without passwords, and with the variable beside each limit, since nobody guesses it. */
function shown({ limits, datasources, ...config }: Config) {
  const masked = datasources.map(({ name, location }) => ({ name, location: maskLocation(location) }))
  const variables = Object.keys(limits).map((name) => [name, limitVariable(name)])
  const limitVariables = Object.fromEntries(variables) as Record<string, string>
  return { ...config, datasources: masked, limits, limitVariables }
}

function usage(problem: string, word?: string, known: readonly string[] = []): Exit {
  const near = word === undefined ? undefined : suggestion(word, known)
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  return new Exit(EXIT.usage, `${problem}${hint}\nsmalt --help lists what there is.`)
}

function dashed(name: string): string {
  return `--${name}`
}

function fail(code: number, message: string): void {
  process.stderr.write(`smalt: ${message}\n`)
  process.exitCode = code
}
