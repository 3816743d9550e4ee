/** `smalt ready`. */
import { defineCommand } from '../command.ts'

export const ready = defineCommand({
  name: 'ready',
  summary: 'ask the service on this machine whether it can serve requests',
  details:
    'For health checks of containers: it asks /ready of the service that has this configuration, over TLS if there is a ' +
    'certificate, and ends with 4 unless the service is ready. Give it the variables or the file of the service.',
  options: {},
  configuration: 'used',
  effective: ['port', 'host', 'config'],
  examples: [{ command: 'smalt ready --port 9000', summary: 'end with 0 if the service is ready' }],
  async run({ readConfig }) {
    const { runReady } = await import('../run/ready.ts')
    await runReady(readConfig())
  },
})
