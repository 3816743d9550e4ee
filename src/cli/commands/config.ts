/** `smalt config`. */
import { defineCommand } from '../command.ts'

export const config = defineCommand({
  name: 'config',
  summary: 'print the effective configuration as JSON, without secrets',
  details: 'The member "sources" names the flag, variable or place in the file that each value came from.',
  actions: [{ words: 'schema', summary: 'print the JSON Schema of smalt.json' }],
  options: {},
  configuration: 'used',
  examples: [
    { command: 'smalt config', summary: 'print the effective configuration' },
    { command: 'smalt config schema > smalt.schema.json', summary: 'save the schema for an editor' },
  ],
  async run({ words, readConfig }) {
    const { runConfig } = await import('../run/config.ts')
    runConfig(words, readConfig)
  },
})
