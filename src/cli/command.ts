/** A command of the command line is one record of this type. Parsing, suggestions and help read it. */
import type { Config } from './config/config.ts'
import type { CONFIG_OPTIONS } from './config/flags.ts'
import type { Environment } from './config/settings.ts'
import type { OptionValues, Options } from './option.ts'

export interface Command<O extends Options = Options> {
  readonly name: string
  /** One line, in the imperative. */
  readonly summary: string
  /** Further sentences for the help of the command. */
  readonly details?: string
  /** The words that may follow the name; `run` checks them. Absent: no words are allowed. */
  readonly actions?: readonly Action[]
  /** The command's own options, besides those of the configuration. */
  readonly options: O
  /** Whether configuration options are allowed: `ignored` accepts them and does not use them. */
  readonly configuration: 'used' | 'ignored' | 'refused'
  /** The configuration options that the help lists; absent: all. The others are accepted, but have no effect. */
  readonly effective?: readonly (keyof typeof CONFIG_OPTIONS)[]
  /** The most typical one first: the general help shows it. */
  readonly examples: readonly Example[]
  /** Imports its implementation when it is called, so that a command does not load the modules of others. */
  run(invocation: Invocation<O>): Promise<void> | void
}

interface Action {
  /** Placeholders for values are in capitals, such as `revoke ID`. */
  readonly words: string
  readonly summary: string
}

interface Example {
  readonly command: string
  readonly summary: string
}

interface Invocation<O extends Options> {
  /** The words after the name of the command. */
  readonly words: readonly string[]
  readonly flags: OptionValues<O>
  readonly environment: Environment
  /** Throws a ConfigError when the configuration is invalid. */
  readonly readConfig: () => Config
  /** All commands, for help. */
  readonly commands: readonly Command[]
}

/** Infers the types of `flags` from the options. */
export function defineCommand<const O extends Options>(command: Command<O>): Command {
  return command
}
