/** `smalt backup`. */
import { defineCommand } from '../command.ts'

export const backup = defineCommand({
  name: 'backup',
  summary: 'write everything in a store into one file, while a service uses it',
  details:
    'The file holds one moment, is compressed, and was read back before it gets its name. It contains secrets of the ' +
    'store. "smalt restore" loads it into an empty store of either kind. Each further datasource needs a backup of its ' +
    'own: name it with --store.',
  actions: [{ words: 'FILE', summary: 'file to create, such as smalt.jsonl.gz' }],
  options: { json: { type: 'boolean', summary: 'print the summary as JSON' } },
  configuration: 'used',
  effective: ['data', 'store', 'config'],
  examples: [
    { command: 'smalt backup monday.jsonl.gz', summary: 'back up the store of this directory' },
    {
      command: 'smalt backup monday.jsonl.gz --store postgres://user:password@host/database',
      summary: 'back up a PostgreSQL store',
    },
  ],
  async run({ words, flags, readConfig }) {
    const { runBackup } = await import('../run/backup.ts')
    await runBackup(words, readConfig(), flags)
  },
})
