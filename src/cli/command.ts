/** What a command of the command line is. A command is one record; parsing, suggestions and help read it. */
import type { Config } from './config/config.ts'
import type { Environment } from './config/settings.ts'
import type { OptionValues, Options } from './option.ts'

export interface Command<O extends Options = Options> {
  readonly name: string
  /** One line, in the imperative. */
  readonly summary: string
  /** Further sentences for the help of the command. */
  readonly details?: string
  /** The words that may follow the name; `run` checks them. Absent: none may. */
  readonly actions?: readonly Action[]
  /** Its own options, besides those of the configuration. */
  readonly options: O
  /** Whether the options of the configuration may be given: `ignored` accepts them without a use for them. */
  readonly configuration: 'used' | 'ignored' | 'refused'
  /** The most typical first: the general help shows it. */
  readonly examples: readonly Example[]
  /** Imports its implementation when it is called, so that no command waits for the modules of another. */
  run(invocation: Invocation<O>): Promise<void> | void
}

interface Action {
  /** In capitals what stands for a value, such as `revoke ID`. */
  readonly words: string
  readonly summary: string
}

interface Example {
  readonly command: string
  readonly summary: string
}

export interface Invocation<O extends Options> {
  /** The words after the name of the command. */
  readonly words: readonly string[]
  readonly flags: OptionValues<O>
  readonly environment: Environment
  /** Throws a ConfigError where the configuration cannot be used. */
  readonly readConfig: () => Config
  /** All commands, for help. */
  readonly commands: readonly Command[]
}

/** Infers the types of `flags` from the options. */
export function defineCommand<const O extends Options>(command: Command<O>): Command {
  return command
}
