/** `smalt demo`. */
import { enableCompileCache } from 'node:module'
import { defineCommand } from '../command.ts'

export const demo = defineCommand({
  name: 'demo',
  summary: 'start a service with a music shop in a temporary store, and print commands worth trying',
  details: 'Everything is removed when the demo ends.',
  options: { port: { type: 'string', value: 'N', summary: 'port to listen on (8080); 0 picks a free one' } },
  configuration: 'refused',
  examples: [{ command: 'smalt demo', summary: 'look around in a music shop' }],
  async run({ flags }) {
    enableCompileCache()
    const { runDemo } = await import('../demo/run-demo.ts')
    await runDemo(flags)
  },
})
