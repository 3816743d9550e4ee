/** How PostgreSQL plans prepared statements: to plan one for each set of values can take longer than to execute it. */
import type pg from 'pg'
import { memoized } from '../../../base/memo.ts'

/** `generic`: one plan serves all values. `auto`: PostgreSQL decides, and plans anew for values that may need it. */
export type PlanChoice = 'auto' | 'generic'

const SETTING: Readonly<Record<PlanChoice, string>> = {
  auto: 'reset plan_cache_mode',
  generic: 'set plan_cache_mode = force_generic_plan',
}

/** A plan that was best for a small table is used until then when the table has grown and nobody has analysed it yet. */
const MAX_AGE_MS = 10_000

interface Chosen {
  choice: PlanChoice | 'unknown'
  discardedMs: number
}

const chosen = memoized((_client: pg.PoolClient): Chosen => ({
  choice: 'auto',
  discardedMs: performance.now(),
}))

/**
 * Makes a choice for the statements that follow on a connection, outside of transactions: a rollback would take it back. It
 * is sent with the next statement, and costs nothing where the connection has that choice already.
 */
export function choosePlans(client: pg.PoolClient, choice: PlanChoice): void {
  const before = chosen(client)
  const isOld = choice === 'generic' && performance.now() - before.discardedMs > MAX_AGE_MS
  if (isOld) {
    before.discardedMs = performance.now()
    send(client, 'discard plans')
  }
  if (before.choice === choice) return
  before.choice = choice
  send(client, SETTING[choice])
}

/** A cancellation may come at this moment. The next statement has the right result with either choice. */
function send(client: pg.PoolClient, text: string): void {
  client.query(text).catch(() => void (chosen(client).choice = 'unknown'))
}
