/** `smalt compact`. */
import { defineCommand } from '../command.ts'

export const compact = defineCommand({
  name: 'compact',
  summary: 'return the unused space of an SQLite store that is not in use',
  details:
    'Stores that this release creates do that by themselves, while the service runs. One that an earlier release ' +
    'created needs this command once. It needs free space for two more copies of the store: one among the temporary ' +
    'files, and one beside it.',
  options: { json: { type: 'boolean', summary: 'print the sizes as JSON' } },
  configuration: 'used',
  effective: ['data', 'store', 'datasource', 'config'],
  examples: [{ command: 'smalt compact --data /srv', summary: 'compact the store in /srv' }],
  async run({ flags, readConfig }) {
    const { runCompact } = await import('../run/compact.ts')
    await runCompact(readConfig(), flags)
  },
})
