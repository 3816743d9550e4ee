/** `smalt restore`. */
import { defineCommand } from '../command.ts'

export const restore = defineCommand({
  name: 'restore',
  summary: 'load a backup into an empty store, and verify it',
  details:
    'The backup is checked before anything is written. Until all of it is there and checked, no service can use the store. ' +
    'An interrupted restore removes what it loaded.',
  actions: [{ words: 'FILE', summary: 'file that "smalt backup" has made' }],
  options: {
    restart: { type: 'boolean', summary: 'first remove what an unfinished restore left in the store' },
    json: { type: 'boolean', summary: 'print the summary as JSON' },
  },
  configuration: 'used',
  effective: ['data', 'store', 'config'],
  examples: [
    { command: 'smalt restore monday.jsonl.gz --data ./restored', summary: 'load it into a new directory' },
    {
      command: 'smalt restore monday.jsonl.gz --store postgres://user:password@host/database',
      summary: 'load it into an empty PostgreSQL store',
    },
  ],
  async run({ words, flags, readConfig }) {
    const { runRestore } = await import('../run/backup.ts')
    await runRestore(words, readConfig(), flags)
  },
})
