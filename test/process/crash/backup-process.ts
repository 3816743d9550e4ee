/** A service that makes a backup each day, and looks all the time whether one is due: DATA DIRECTORY. */
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { openService } from '../../../src/service/open.ts'

const [data, directory] = process.argv.slice(2)
await openService({
  datasources: [{ name: 'default', location: `sqlite:${data}` }],
  limits: DEFAULT_LIMITS,
  onInternalError: (error) => {
    throw error
  },
  backup: { directory: directory!, everyMs: 86_400_000, lookEveryMs: 20, keep: 3 },
})
// nothing else keeps the process alive
setInterval(() => undefined, 60_000)
