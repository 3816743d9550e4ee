/** `smalt init`. */
import { defineCommand } from '../command.ts'

export const init = defineCommand({
  name: 'init',
  summary: 'write a small project: configuration, and one entity as files',
  actions: [{ words: '[DIR]', summary: 'write it into this directory; the working directory when absent' }],
  options: {},
  configuration: 'refused',
  examples: [{ command: 'smalt init notes', summary: 'write a project into ./notes' }],
  async run({ words }) {
    const { runInit } = await import('../demo/run-init.ts')
    runInit(words)
  },
})
