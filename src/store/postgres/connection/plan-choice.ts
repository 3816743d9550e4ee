/** Whether PostgreSQL plans a prepared statement for each set of values, which takes longer than executing many a small one. */
import type pg from 'pg'

/** `generic`: one plan serves all values. `auto`: PostgreSQL decides, and plans anew for values that may need it. */
export type PlanChoice = 'auto' | 'generic'

const SETTING: Readonly<Record<PlanChoice, string>> = {
  auto: 'reset plan_cache_mode',
  generic: 'set plan_cache_mode = force_generic_plan',
}

const current = new WeakMap<pg.PoolClient, PlanChoice | 'unknown'>()

/**
 * Makes a choice for the statements that follow on a connection, outside of transactions: a rollback would take it back. It
 * is sent with the next statement, and costs nothing where the connection has that choice already.
 */
export function choosePlans(client: pg.PoolClient, choice: PlanChoice): void {
  if ((current.get(client) ?? 'auto') === choice) return
  current.set(client, choice)
  // A cancellation may come at this moment. The next statement has the right result with either choice.
  client.query(SETTING[choice]).catch(() => void current.set(client, 'unknown'))
}
