/**
 * Executes write plans inside a transaction. Documents are written in batches, in the expectation that there
 * is no conflict. After a conflict (a repeated key, a document changed meanwhile), the batch is rolled back
 * and its documents are written one after the other, exactly as the plan defines.
 */
import { unreachable } from '../../../base/errors.ts'
import { type WritePlan, isFailure } from '../../../plan/plan.ts'
import type { Report } from '../../store.ts'
import { deleteAll } from './deletes.ts'
import { insertAll } from './inserts.ts'
import type { WriteContext } from './row-by-row.ts'
import { saveAll } from './saves.ts'
import { updateAll } from './updates.ts'

/** Returns whether the changes are to be committed. */
export async function carryOut(plan: WritePlan, context: WriteContext): Promise<boolean> {
  if (!plan.atomic) {
    await perform(plan, context)
    return true
  }
  let hasFailed = false
  const report: Report = (outcome, item) => {
    hasFailed ||= isFailure(outcome)
    context.report(outcome, item)
  }
  const isKept = await context.transaction.attempt(async () => {
    await perform(plan, { ...context, report })
    return hasFailed ? undefined : true
  })
  return isKept === true
}

function perform(plan: WritePlan, context: WriteContext): Promise<void> {
  switch (plan.kind) {
    case 'insert':
      return insertAll(plan, context)
    case 'update':
      return updateAll(plan, context)
    case 'save':
      return saveAll(plan, context)
    case 'delete':
      return deleteAll(plan, context)
    default:
      return unreachable(plan)
  }
}
