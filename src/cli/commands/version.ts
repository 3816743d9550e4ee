/** `smalt version`; the option `--version` does the same. */
import { VERSION } from '../../http/version.ts'
import { defineCommand } from '../command.ts'

export const version = defineCommand({
  name: 'version',
  summary: 'print the version',
  options: {},
  configuration: 'ignored',
  examples: [],
  run() {
    process.stdout.write(`${VERSION}\n`)
  },
})
