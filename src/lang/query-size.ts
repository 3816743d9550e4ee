/**
 * Counts what a request asks of every document once its references and row rules are part of it. `queryNodes` limits what
 * the caller writes; each reference that a condition crosses repeats the conditions of that reference and the row rules of
 * its documents, so that a short request may become a very long statement.
 */
import { ServiceError } from '../base/errors.ts'
import { spend } from '../base/work/work.ts'
import { type Query, nodesOf } from './query.ts'

/** So few that the values of all conditions fit into a statement of SQLite. */
export const MAX_CONDITIONS = 10_000

/** For resolving and authorizing a node, and for writing its SQL, which happens where nothing is charged any more. */
const STEPS_PER_NODE = 40
/** A node that leads to other documents becomes a subselect, and all levels around it copy its text. */
const STEPS_PER_REFERENCE = 400

/** Adds the nodes of one more query. */
export type CountConditions = (query: Query<unknown>) => void

export function createConditionCount(): CountConditions {
  let nodes = 0
  return (query) => {
    for (const node of nodesOf(query)) {
      spend(stepsOf(node))
      if (++nodes > MAX_CONDITIONS) throw tooManyConditions()
    }
  }
}

/** To be called when a query has been made, for instance from a row rule. */
export function spendOnNodes(query: Query<unknown>): void {
  for (const node of nodesOf(query)) spend(stepsOf(node))
}

function stepsOf({ kind }: Query<unknown>): number {
  return kind === 'related' ? STEPS_PER_REFERENCE : STEPS_PER_NODE
}

function tooManyConditions(): ServiceError {
  const message = `the conditions of a request, with those of its references and row rules, may have at most ${MAX_CONDITIONS} parts together; ask with fewer conditions, through fewer references, or as a caller with fewer roles`
  return new ServiceError('crud:LimitExceeded', message)
}
