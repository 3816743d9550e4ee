/**
 * What an ordered bulk that is repeated must not carry out: an entry that was refused in the first place, while a later write was
 * done. The writes would happen in another order than the bulk has, and the earlier one could undo the later one.
 */
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import { earlierAnswer, keyedRequestOf, partOf } from '../idempotency.ts'
import type { BulkEntry } from '../request/bulk-request.ts'
import { type KeyedBulkRunner, type RunningBulk, datasourceOf, isWrite } from './entries.ts'

/** The `seq` of such entries. */
export async function overtakenEntries(
  runner: KeyedBulkRunner,
  caller: Caller,
  bulk: RunningBulk,
): Promise<ReadonlySet<number>> {
  const overtaken = new Set<number>()
  if (!bulk.ordered) return overtaken
  let hasDoneLater = false
  // from the end, where the later ones are
  for (const entry of bulk.entries.toReversed()) {
    if (!isWrite(entry)) continue
    const isDone = await wasDone(entry, { runner, caller, bulk })
    if (hasDoneLater && !isDone) overtaken.add(entry.seq)
    hasDoneLater ||= isDone
  }
  return overtaken
}

/** The answer to such an entry if nothing else is wrong with it. */
export function overtakenError(): ServiceError {
  return new ServiceError(
    'crud:InvalidRequest',
    'this entry was not carried out before, and a later one of the ordered bulk is done, so it is not carried out any more; send it in a request with another Idempotency-Key if it is still right',
  )
}

interface Repeated {
  readonly runner: KeyedBulkRunner
  readonly caller: Caller
  readonly bulk: RunningBulk
}

async function wasDone(entry: BulkEntry, { runner, caller, bulk }: Repeated): Promise<boolean> {
  const datasource = datasourceOf(runner, entry)
  if (datasource === undefined) return false
  const part = partOf(bulk.context.idempotency!, entry.seq)
  const { storeIn, now } = runner
  const answer = await earlierAnswer(
    { store: storeIn(datasource), now },
    keyedRequestOf(part, caller, bulk.context),
  )
  return answer !== undefined
}
