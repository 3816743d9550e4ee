/** `smalt serve`, and `smalt` alone. */
import { enableCompileCache } from 'node:module'
import { defineCommand } from '../command.ts'

export const serve = defineCommand({
  name: 'serve',
  summary: 'start the service; smalt without a command does this',
  options: {},
  configuration: 'used',
  examples: [
    { command: 'smalt', summary: 'start on http://127.0.0.1:8080 with the data in ./data' },
    { command: 'smalt --port 9000 --data /srv', summary: 'use another port and another directory' },
    {
      command: 'smalt --store postgres://user:password@host/database --workers 4',
      summary: 'keep the data in PostgreSQL and serve it with four processes',
    },
  ],
  async run({ readConfig }) {
    const config = readConfig()
    // the service loads more modules than any other command; the cache makes the next start faster
    enableCompileCache()
    if (config.workers > 1) await (await import('../serve/workers.ts')).serveByWorkers(config)
    else await (await import('../serve/serve.ts')).serve(config)
  },
})
