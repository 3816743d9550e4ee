/** `smalt demo`: a service on a temporary store, filled with a music shop, and commands worth trying. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '../../http/observe/log.ts'
import { createMetrics } from '../../http/observe/metrics.ts'
import { createClient } from '../client/client.ts'
import { readConfig } from '../config/config.ts'
import { EXIT } from '../exit.ts'
import { listen } from '../serve/serve.ts'
import { shopDocuments } from './shop-documents.ts'
import { SHOP } from './shop-metadata.ts'

const BATCH = 1_000
const USUAL_PORT = 8080

/** Resolves when the demo is ready. It then runs until a signal arrives. */
export async function runDemo({ port = String(USUAL_PORT) }: { readonly port?: string }): Promise<void> {
  const began = performance.now()
  const directory = mkdtempSync(join(tmpdir(), 'smalt-demo-'))
  const remove = (): void => rmSync(directory, { recursive: true, force: true })
  try {
    // neither variables nor a file of the working directory apply: the demo is the same everywhere
    const config = readConfig({ port, data: directory, 'log-level': 'silent' }, {}, directory)
    const running = await listen(config, createLog(config.logLevel), createMetrics())
    endOnSignal(running.end, remove)
    const url = `http://127.0.0.1:${running.port}`
    const documents = await fill(url).catch(async (error: unknown) => {
      // otherwise the service would keep the process alive
      await running.end()
      throw error
    })
    process.stdout.write(welcome(url, running.port, documents, (performance.now() - began) / 1000))
  } catch (error) {
    remove()
    throw error
  }
}

/** Over HTTP, as any client does. */
async function fill(url: string): Promise<number> {
  // with a token, which the service ignores, no profile of the user is read
  const client = createClient({ url, token: 'none', role: ['manager'] }, {})
  await client.ask('PUT', '/metadata?strict=true', { body: SHOP })
  let count = 0
  for (const [entity, documents] of shopDocuments()) {
    for (let i = 0; i < documents.length; i += BATCH) {
      const data = documents.slice(i, i + BATCH)
      await client.ask('PUT', `/data/insert/${entity}`, { body: { data } })
      count += data.length
    }
  }
  return count
}

function endOnSignal(end: () => Promise<void>, remove: () => void): void {
  let isEnding = false
  const onSignal = (): void => {
    if (isEnding) {
      remove()
      process.exit(EXIT.interrupted)
    }
    isEnding = true
    void end().finally(() => {
      remove()
      process.exit(EXIT.ok)
    })
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
}

/** A command, and what it shows. */
export const EXAMPLES: readonly (readonly [command: string, summary: string])[] = [
  [
    'find album --sort -year --limit 5 --fields title,year,price,artist',
    'albums with their artists, which are another entity',
  ],
  [
    'find order --role customer --principal c7 --sort -date --fields date,state,total',
    'a customer sees only their own orders',
  ],
  [
    `find employee 'salary > 8000' --role clerk`,
    'refused: a clerk may not read salaries, and the number of matches would reveal them',
  ],
  [
    `update order '_id = "o7"' '{"$set":{"state":"sent"}}' --role clerk`,
    'changes one order, and keeps its history',
  ],
  ['events --entity order --operation update --role clerk', 'the event of that change'],
]

function welcome(url: string, port: number, documents: number, seconds: number): string {
  const program = process.env['npm_lifecycle_event'] === 'start' ? 'npm start --silent --' : 'smalt'
  const address = port === USUAL_PORT ? '' : `\n  export SMALT_URL=${url}\n`
  const commands = EXAMPLES.map(([command, summary]) => `  # ${summary}\n  ${program} ${command}\n`)
  return (
    `A music shop with ${documents.toLocaleString('en')} documents in ${SHOP.length} entities is ready at ${url} ` +
    `(${seconds.toFixed(1)} s).\nOpen it in a browser, or read the API documentation at ${url}/docs.\n\nTry, in another terminal:\n${address}\n${commands.join('\n')}\n` +
    'Ctrl-C ends the demo and removes its data.\n'
  )
}
