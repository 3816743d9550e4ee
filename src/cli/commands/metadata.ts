/** `smalt metadata`. */
import { CONNECTION_OPTIONS } from '../client/connection.ts'
import { defineCommand } from '../command.ts'

export const metadata = defineCommand({
  name: 'metadata',
  summary: 'keep the metadata of a running service as files, for example in git',
  details:
    'DIR has a directory for each entity, with entity.json (entity info) and VERSION.json (one schema each). Parts that ' +
    'the service adds by itself are left out. Apply refuses keys without a meaning, unless --lenient is given, and asks before it ' +
    'removes anything.',
  actions: [
    { words: 'pull DIR', summary: 'write the metadata of the service into files' },
    { words: 'diff DIR', summary: 'print what apply would change; differences exit with 7' },
    { words: 'apply DIR', summary: 'change the service so that it has what the files say' },
  ],
  options: {
    'dry-run': { type: 'boolean', summary: 'apply: print what would happen, change nothing' },
    prune: {
      type: 'boolean',
      summary:
        'apply, diff: remove entities that have no files; pull: remove files that the service does not have',
    },
    'delete-documents': {
      type: 'boolean',
      summary: 'apply --prune: also remove entities that have documents',
    },
    lenient: { type: 'boolean', summary: 'apply: keep keys without a meaning, with a warning' },
    yes: { type: 'boolean', summary: 'apply: do not ask before removing' },
    json: { type: 'boolean', summary: 'print the changes as JSON' },
    ...CONNECTION_OPTIONS,
  },
  configuration: 'refused',
  examples: [
    { command: 'smalt metadata pull metadata', summary: 'write all metadata into ./metadata' },
    { command: 'smalt metadata diff metadata', summary: 'compare the files with the service' },
    { command: 'smalt metadata apply metadata --dry-run', summary: 'see what applying them would do' },
  ],
  async run({ words, flags, environment }) {
    const { runMetadata } = await import('../metadata/run-metadata.ts')
    await runMetadata(words, flags, environment)
  },
})
