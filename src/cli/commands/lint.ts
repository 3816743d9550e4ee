/** `smalt lint`. */
import { defineCommand } from '../command.ts'

export const lint = defineCommand({
  name: 'lint',
  summary: 'report problems in the metadata of a store; warnings exit with 7',
  details:
    'It finds, for example, a field that one version hides and another shows. An SQLite store must not be in use; ' +
    'of a running service, GET /metadata/{entity}/lint returns the same.',
  options: {
    entity: { type: 'string', value: 'E', summary: 'check this entity only' },
    json: { type: 'boolean', summary: 'print JSON' },
  },
  configuration: 'used',
  effective: ['data', 'store', 'datasource', 'config'],
  examples: [
    { command: 'smalt lint --data /srv', summary: 'check all entities of the store in /srv' },
    { command: 'smalt lint --entity sandwich --json', summary: 'check one entity, for a script' },
  ],
  async run({ flags, readConfig }) {
    const { runLint } = await import('../run/lint.ts')
    await runLint(readConfig(), flags)
  },
})
