/**
 * The list of commands. A new command is a record in `commands`, its implementation in `run`, and a line
 * here.
 */
import type { Command } from './command.ts'
import { backup } from './commands/backup.ts'
import { compact } from './commands/compact.ts'
import { completion } from './commands/completion.ts'
import { config } from './commands/config.ts'
import { aggregate } from './commands/data/aggregate.ts'
import { deleteCommand } from './commands/data/delete.ts'
import { explain } from './commands/data/explain.ts'
import { find } from './commands/data/find.ts'
import { get } from './commands/data/get.ts'
import { insert } from './commands/data/insert.ts'
import { update } from './commands/data/update.ts'
import { demo } from './commands/demo.ts'
import { events } from './commands/events.ts'
import { exportCommand } from './commands/export.ts'
import { help } from './commands/help.ts'
import { importCommand } from './commands/import.ts'
import { init } from './commands/init.ts'
import { lint } from './commands/lint.ts'
import { metadata } from './commands/metadata.ts'
import { move } from './commands/move.ts'
import { ready } from './commands/ready.ts'
import { restore } from './commands/restore.ts'
import { serve } from './commands/serve.ts'
import { token } from './commands/token.ts'
import { version } from './commands/version.ts'

/** In the order of the help. The first runs when no command is named. */
export const COMMANDS: readonly [Command, ...Command[]] = [
  serve,
  demo,
  init,
  find,
  get,
  insert,
  update,
  deleteCommand,
  aggregate,
  explain,
  events,
  importCommand,
  exportCommand,
  metadata,
  config,
  ready,
  token,
  lint,
  backup,
  restore,
  move,
  compact,
  completion,
  help,
  version,
]
