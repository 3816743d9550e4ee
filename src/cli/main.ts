#!/usr/bin/env node
/** The command line: finds out what is wanted and does it. Data goes to standard output, talk to standard error. */
import { enableCompileCache } from 'node:module'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { OpenNetworkError } from '../auth/authentication.ts'
import { VERSION } from '../http/version.ts'
import { type Flags, readConfig } from './config/config.ts'
import { ConfigError } from './config/config-error.ts'
import type { EventsFlags } from './commands/events.ts'
import { EXIT, Exit } from './exit.ts'
import { HELP } from './help.ts'
import type { LintFlags } from './commands/lint.ts'
import type { MoveFlags } from './commands/move.ts'
import { suggestion } from './suggest.ts'
import type { TokenFlags } from './commands/token.ts'

/** What only `move` understands; it understands nothing else. */
const MOVE_OPTIONS = {
  from: { type: 'string' },
  to: { type: 'string' },
  check: { type: 'boolean' },
  restart: { type: 'boolean' },
  json: { type: 'boolean' },
} as const satisfies ParseArgsConfig['options']

/** What only `token` understands, besides where the tokens are. */
const TOKEN_OPTIONS = {
  principal: { type: 'string' },
  role: { type: 'string', multiple: true },
  permission: { type: 'string', multiple: true },
  claim: { type: 'string', multiple: true },
  expires: { type: 'string' },
  json: { type: 'boolean' },
} as const satisfies ParseArgsConfig['options']

/** What only `lint` understands, besides where the store is. */
const LINT_OPTIONS = {
  entity: { type: 'string' },
  json: { type: 'boolean' },
} as const satisfies ParseArgsConfig['options']

/** What only `events` understands; it understands nothing else. */
const EVENTS_OPTIONS = {
  sink: { type: 'string' },
  event: { type: 'string' },
  url: { type: 'string' },
  token: { type: 'string' },
  json: { type: 'boolean' },
} as const satisfies ParseArgsConfig['options']

const OPTIONS = {
  ...MOVE_OPTIONS,
  ...TOKEN_OPTIONS,
  ...LINT_OPTIONS,
  ...EVENTS_OPTIONS,
  config: { type: 'string' },
  auth: { type: 'string' },
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

const COMMANDS = ['serve', 'config', 'token', 'lint', 'events', 'move', 'help', 'version'] as const
type Command = (typeof COMMANDS)[number]

/** Words that somebody may try as a command → what there is for it. */
const MEANT: Readonly<Record<string, string>> = { start: 'serve', schema: 'config schema' }

const ANYWHERE = ['help', 'version']

const OWN_OPTIONS: Readonly<Partial<Record<Command, object>>> = {
  move: MOVE_OPTIONS,
  token: TOKEN_OPTIONS,
  lint: LINT_OPTIONS,
  events: EVENTS_OPTIONS,
}

/** They need no configuration. */
const UNCONFIGURED: readonly Command[] = ['move', 'events']

try {
  await run(process.argv.slice(2))
} catch (error) {
  if (error instanceof Exit) fail(error.code, error.message)
  else if (error instanceof ConfigError || error instanceof OpenNetworkError) fail(EXIT.config, error.message)
  else throw error
}

async function run(args: readonly string[]): Promise<void> {
  const { command, flags, words } = parse(args)
  // whatever is made from here on holds data or tokens, which are for nobody else on the machine
  process.umask(0o077)
  switch (command) {
    case 'help':
      process.stdout.write(HELP)
      break
    case 'version':
      process.stdout.write(`${VERSION}\n`)
      break
    case 'config': {
      const { showConfig } = await import('./commands/show-config.ts')
      showConfig(words, () => readConfig(flags, process.env))
      break
    }
    case 'token':
      await (await import('./commands/token.ts')).runToken(words, flags, readConfig(flags, process.env))
      break
    case 'lint':
      await (await import('./commands/lint.ts')).runLint(readConfig(flags, process.env), flags)
      break
    case 'events':
      await (await import('./commands/events.ts')).runEvents(words, flags, process.env)
      break
    case 'move':
      await (await import('./commands/move.ts')).runMove(flags)
      break
    case 'serve': {
      const config = readConfig(flags, process.env)
      // only this command needs the service, so the others need not wait for it to load; the next start finds it compiled
      enableCompileCache()
      if (config.workers > 1) await (await import('./serve/workers.ts')).serveByWorkers(config)
      else await (await import('./serve/serve.ts')).serve(config)
    }
  }
}

interface Parsed {
  readonly command: Command
  readonly flags: Flags & MoveFlags & TokenFlags & LintFlags & EventsFlags
  /** What follows the command. */
  readonly words: readonly string[]
}

function parse(args: readonly string[]): Parsed {
  const { values, positionals, tokens } = lenient(args)
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const known = Object.entries(OPTIONS).find(([name]) => name === token.name)?.[1]
    if (!known) throw usage(`there is no option ${token.rawName}`, token.rawName, optionsFor(positionals))
    if (known.type === 'string' && token.value === undefined) throw usage(`${token.rawName} needs a value`)
    if (known.type === 'boolean' && token.value !== undefined) throw usage(`${token.rawName} takes no value`)
  }
  const { help, version, ...flags } = values
  if (help === true) return { command: 'help', flags: {}, words: [] }
  if (version === true) return { command: 'version', flags: {}, words: [] }
  const [name = 'serve', ...rest] = positionals
  const command = COMMANDS.find((each) => each === name)
  if (!command) throw usage(`there is no command ${name}`, name, [...COMMANDS, ...Object.keys(MEANT)])
  const takesWords =
    command === 'token' || command === 'events' || (command === 'config' && rest.join(' ') === 'schema')
  if (rest.length > 0 && !takesWords) {
    const problem = `${command} takes no further words, but got ${rest.join(' ')}`
    throw command === 'config' ? usage(problem, rest.join(' '), ['schema']) : usage(problem)
  }
  const stray = Object.keys(flags).find((flag) => !understands(command, flag))
  if (stray !== undefined) throw usage(`${command} takes no ${dashed(stray)}`)
  return { command, flags: flags as Parsed['flags'], words: rest }
}

/** Those of the command that is among the words: the value of an unknown option may stand before it. */
function optionsFor(words: readonly string[]): readonly string[] {
  const command = COMMANDS.find((each) => words.includes(each)) ?? 'serve'
  const names = Object.keys(OPTIONS).filter((name) => ANYWHERE.includes(name) || understands(command, name))
  return names.map(dashed)
}

function understands(command: Command, flag: string): boolean {
  if (Object.hasOwn(OWN_OPTIONS[command] ?? {}, flag)) return true
  const isOfOthers = Object.values(OWN_OPTIONS).some((options) => Object.hasOwn(options, flag))
  return !isOfOthers && !UNCONFIGURED.includes(command)
}

/** Strict parsing would throw sentences of its own; the checks are made here, with suggestions. */
function lenient(args: readonly string[]) {
  return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, strict: false, tokens: true })
}

function usage(problem: string, word?: string, known: readonly string[] = []): Exit {
  const near = word === undefined ? undefined : suggestion(word, known)
  const hint = near === undefined ? '' : `; did you mean ${MEANT[near] ?? near}?`
  return new Exit(EXIT.usage, `${problem}${hint}\nsmalt --help lists what there is.`)
}

function dashed(name: string): string {
  return `--${name}`
}

function fail(code: number, message: string): void {
  process.stderr.write(`smalt: ${message}\n`)
  process.exitCode = code
}
