/** `smalt help`; the option `--help` does the same. */
import { defineCommand } from '../command.ts'
import { commandHelp, overview } from '../help.ts'
import { usageError } from '../usage-error.ts'

export const help = defineCommand({
  name: 'help',
  summary: 'print this help, or that of a command',
  actions: [{ words: 'COMMAND', summary: 'print the help of a command' }],
  options: {},
  configuration: 'ignored',
  examples: [],
  run({ words: [name, ...rest], commands }) {
    if (rest.length > 0) throw usageError(`help takes one command, but got ${[name, ...rest].join(' ')}`)
    const command = commands.find((each) => each.name === name)
    if (name !== undefined && !command) {
      const names = commands.map((each) => each.name)
      throw usageError(`there is no command ${name}`, { word: name, known: names })
    }
    process.stdout.write(command ? commandHelp(command) : overview(commands))
  },
})
