/**
 * The list of commands. A new command is a record in `commands`, its implementation in `run`, and a line
 * here.
 */
import type { Command } from './command.ts'
import { config } from './commands/config.ts'
import { events } from './commands/events.ts'
import { help } from './commands/help.ts'
import { lint } from './commands/lint.ts'
import { move } from './commands/move.ts'
import { serve } from './commands/serve.ts'
import { token } from './commands/token.ts'
import { version } from './commands/version.ts'

/** In the order of the help. The first runs when no command is named. */
export const COMMANDS: readonly [Command, ...Command[]] = [
  serve,
  config,
  token,
  lint,
  events,
  move,
  help,
  version,
]
