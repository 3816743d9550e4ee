/** Parses the command line and runs a command. Data goes to standard output, messages to standard error. */
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { OpenNetworkError } from '../auth/authentication.ts'
import type { Command } from './command.ts'
import { COMMANDS } from './commands.ts'
import { help } from './commands/help.ts'
import { version } from './commands/version.ts'
import { readConfig } from './config/config.ts'
import { ConfigError } from './config/config-error.ts'
import { CONFIG_OPTIONS } from './config/flags.ts'
import { EXIT, Exit } from './exit.ts'
import { type Option, type OptionValues, type Options, dashed } from './option.ts'
import { ALIASES, UsageError, usageError } from './usage-error.ts'

/** Sets the exit code of the process; throws unexpected errors. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  watchOutput()
  try {
    await run(args)
  } catch (error) {
    if (error instanceof UsageError) fail(error.code, `${error.message}\n${helpFor(args)}`)
    else if (error instanceof Exit) fail(error.code, error.message)
    else if (error instanceof ConfigError || error instanceof OpenNetworkError)
      fail(EXIT.config, error.message)
    else if (isSystemError(error)) fail(EXIT.failed, error.message)
    else throw error
  }
}

/**
 * Without a listener, an error of standard output or standard error would end the command in the middle of its work. A
 * reader such as `head` may leave before the end, which is no failure; a full disk is one.
 */
function watchOutput(): void {
  const { stdout, stderr } = process
  // tests have outputs of their own
  if (typeof stdout.on !== 'function') return
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') fail(EXIT.failed, `the output cannot be written: ${error.message}`)
  })
  stderr.on('error', () => undefined)
}

/** Such as a file that cannot be written: no mistake of the program, and the message names the call. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string'
}

function helpFor(args: readonly string[]): string {
  const command = commandIn(lenient(args, OPTIONS).positionals)
  return command && command !== help
    ? `smalt ${command.name} --help explains it.`
    : 'smalt --help lists what there is.'
}

function fail(code: number, message: string): void {
  process.stderr.write(`smalt: ${message}\n`)
  process.exitCode = code
}

async function run(args: readonly string[]): Promise<void> {
  const { command, flags, words } = parse(args)
  // files created from here on contain data or tokens, so other users of the machine must not be able to read
  // them
  process.umask(0o077)
  await command.run({
    words,
    flags,
    environment: process.env,
    readConfig: () => readConfig(configFlags(command, flags), process.env),
    commands: COMMANDS,
  })
}

/** An option of the command hides the option of the configuration that has the same name. */
function configFlags({ options }: Command, flags: Values): Values {
  return Object.fromEntries(Object.entries(flags).filter(([name]) => !Object.hasOwn(options, name)))
}

const ANYWHERE = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const satisfies ParseArgsConfig['options']

/** The options of all commands, because options may stand before the command. */
const OPTIONS: Known = {
  ...Object.assign({}, ...COMMANDS.map(({ options }) => options)),
  ...CONFIG_OPTIONS,
  ...ANYWHERE,
}

interface Parsed {
  readonly command: Command
  readonly flags: Values
  /** The words after the command. */
  readonly words: readonly string[]
}

type Values = OptionValues<Options>

/** The command decides what its options mean, such as `--version` of a command that takes a version of an entity. */
function parse(args: readonly string[]): Parsed {
  const named = commandIn(lenient(args, OPTIONS).positionals)
  const known = named ? { ...OPTIONS, ...named.options } : OPTIONS
  const { values, positionals, tokens } = lenient(args, known)
  for (const token of tokens) {
    if (token.kind === 'option') checkOption(token, positionals, known)
  }
  const { help: isHelp, ...given } = values as Values
  if (isHelp === true) return { command: help, flags: {}, words: helpTopic(positionals) }
  const { version: isVersion, ...others } = given
  if (isVersion === true) return { command: version, flags: {}, words: [] }
  const flags = isVersion === undefined ? others : given
  const [name = COMMANDS[0].name, ...words] = positionals
  const command = commandIn([name])
  if (!command) throw usageError(`there is no command ${name}`, { word: name, known: [...NAMES, ...ALIASES] })
  if (words.length > 0 && !command.actions)
    throw usageError(`${name} takes no further words, but got ${words.join(' ')}`)
  const stray = Object.keys(flags).find((flag) => !Object.hasOwn(optionsOf(command), flag))
  if (stray !== undefined) throw usageError(`${name} takes no ${dashed(stray)}`)
  return { command, flags, words }
}

const NAMES: readonly string[] = COMMANDS.map(({ name }) => name)

function commandIn([name]: readonly string[]): Command | undefined {
  return COMMANDS.find((each) => each.name === name)
}

type Known = Readonly<Record<string, Pick<Option, 'type' | 'multiple'>>>

/** Strict parsing would throw messages of its own. The checks here give suggestions instead. */
function lenient(args: readonly string[], options: Known) {
  return parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true })
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
}

function checkOption({ name, rawName, value }: OptionToken, words: readonly string[], options: Known): void {
  const known = Object.hasOwn(options, name) ? options[name] : undefined
  if (!known) {
    // the value of an unknown option may stand before the command
    const command = COMMANDS.find((each) => words.includes(each.name)) ?? COMMANDS[0]
    const names = Object.keys({ ...optionsOf(command), ...ANYWHERE })
    throw usageError(`there is no option ${rawName}`, { word: rawName, known: names.map(dashed) })
  }
  if (known.type === 'string' && value === undefined) throw usageError(`${rawName} needs a value`)
  if (known.type === 'boolean' && value !== undefined) throw usageError(`${rawName} takes no value`)
}

function optionsOf({ options, configuration }: Command): Options {
  return configuration === 'refused' ? options : { ...options, ...CONFIG_OPTIONS }
}

/** The command whose help is requested; empty for the general help. */
function helpTopic(words: readonly string[]): readonly string[] {
  return NAMES.filter((name) => name !== help.name && words[0] === name)
}
