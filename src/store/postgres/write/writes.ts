/**
 * Plans for writing, carried out inside a transaction. Documents are written many at a time in the expectation that
 * nobody is in the way; where somebody is (a repeated key, a document changed meanwhile), that batch is taken back and
 * its documents are written one after the other, exactly as the plan says.
 */
import { unreachable } from '../../../base/errors.ts'
import { type WritePlan, isFailure } from '../../../plan/plan.ts'
import type { Report } from '../../store.ts'
import { deleteAll } from './deletes.ts'
import { insertAll } from './inserts.ts'
import type { WriteContext } from './row-by-row.ts'
import { saveAll } from './saves.ts'
import { updateAll } from './updates.ts'

/** Tells whether the work is to stay. */
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
