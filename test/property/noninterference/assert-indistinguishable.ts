/** Asserts that random requests to all routes cannot distinguish the two sides, and that enough of them succeed. */
import assert from 'node:assert/strict'
import { ROUTES } from '../../../src/http/routes/routes.ts'
import { type Rounds, runRounds } from './rounds.ts'

/** Routes that are not asked, and why. */
const EXCUSED: Readonly<Record<string, string>> = {
  importDefault: 'inserts or saves each record as the data routes do, which are asked',
  import: 'the same',
  backup: 'for operators; the answer names files and sizes',
  uiAsset: 'is a file of the build; its name changes with each one',
  metrics: 'counts and times the requests of everybody',
  slowRequests: 'for operators; lists the requests of everybody, with their durations',
  eventStream: 'has no end; it makes events as the route of events does',
}

export async function assertIndistinguishable(options: Rounds): Promise<void> {
  const { asked, answered } = await runRounds(options)
  const total = [...asked.values()].reduce((sum, count) => sum + count, 0)
  assert.equal(total, options.pairs)
  assert.ok(answered > total / 2, 'most requests are answered')
  const missed = ROUTES.map(({ operationId }) => operationId).filter(
    (route) => !asked.has(route) && !Object.hasOwn(EXCUSED, route),
  )
  assert.deepEqual(missed, [], 'every route is asked, or is excused')
}
