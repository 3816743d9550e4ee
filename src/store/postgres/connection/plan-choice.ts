/** How PostgreSQL plans prepared statements: to plan one for each set of values can take longer than to execute it. */
import type pg from 'pg'
import { memoized } from '../../../base/memo.ts'

/** `generic`: one plan serves all values. `auto`: PostgreSQL decides, and plans anew for values that may need it. */
export type PlanChoice = 'auto' | 'generic'

const SETTING: Readonly<Record<PlanChoice, string>> = {
  auto: 'reset plan_cache_mode',
  generic: 'set plan_cache_mode = force_generic_plan',
}

/** A plan made for a small table may be slow once the table has grown. Until it is analysed, only planning again helps. */
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
 * is sent with the next statement, and usually costs nothing where the connection has that choice already.
 */
export function choosePlans(client: pg.PoolClient, choice: PlanChoice): void {
  const state = chosen(client)
  const now = performance.now()
  if (choice === 'generic' && now - state.discardedMs > MAX_AGE_MS) {
    state.discardedMs = now
    send(client, 'discard plans')
  }
  if (state.choice === choice) return
  state.choice = choice
  send(client, SETTING[choice])
}

/** May be cancelled together with the statement before it. The next statement has the right result with either choice. */
function send(client: pg.PoolClient, text: string): void {
  client.query(text).catch(() => void (chosen(client).choice = 'unknown'))
}
