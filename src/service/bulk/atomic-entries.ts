/** Runs the entries of a bulk in one transaction: the first one that fails rolls back all of them. */
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import { boundsIn } from '../deps.ts'
import { type DataResponse, failed } from '../response.ts'
import {
  type BulkRunner,
  type Operations,
  type RunningBulk,
  datasourceOf,
  isWrite,
  runEntry,
} from './entries.ts'

/** Thrown to roll back the transaction; carries the responses of the entries. */
export class RolledBack extends Error {
  readonly responses: readonly DataResponse[]

  constructor(responses: readonly DataResponse[]) {
    super('an entry of an atomic bulk failed')
    this.responses = responses
  }
}

/** Work that is too much for this thread rolls back the transaction; a worker thread then runs the whole bulk. */
export async function runAtomically(
  runner: BulkRunner,
  caller: Caller,
  { entries, context, isDryRun }: RunningBulk,
): Promise<readonly DataResponse[]> {
  const datasources = entries.map((entry) => datasourceOf(runner, entry))
  const datasource = datasources.find((each) => each !== undefined)
  const allBut = (i: number, response: DataResponse): readonly DataResponse[] =>
    entries.map((_, k) => (k === i ? response : rolledBack()))
  // One transaction cannot span two databases, so the bulk fails before it begins.
  const stray = datasources.findIndex((each) => each !== undefined && each !== datasource)
  if (stray >= 0) return allBut(stray, failed(otherDatasource().within('bulk')))
  try {
    const isReadOnly = !entries.some(isWrite)
    const { chargedTo } = context
    const transaction = { datasource, isReadOnly, isDryRun, chargedTo, bounds: boundsIn(context) }
    const run = context.work.repeatable(async (operations: Operations) => {
      const responses: DataResponse[] = []
      for (const [i, entry] of entries.entries()) {
        const response = await context.work.duringEntry(() =>
          runEntry(entry, operations, { caller, context }),
        )
        if (response.status !== 'COMPLETE') throw new RolledBack(allBut(i, withoutEffect(response)))
        responses.push(response)
      }
      return responses
    })
    return await runner.transact(transaction, run)
  } catch (error) {
    if (error instanceof RolledBack) return error.responses
    throw error
  }
}

export function otherDatasource(): ServiceError {
  const message =
    'an atomic bulk must stay within one datasource, and this entry needs documents of another one'
  return new ServiceError('crud:InvalidRequest', message)
}

/** The entry that failed keeps its status and its errors; its documents that did not fail are not stored either. */
function withoutEffect(response: DataResponse): DataResponse {
  const { dryRun: _, ...rest } = response
  return {
    ...rest,
    modifiedCount: 0,
    ...(response.processed && { processed: [] }),
    ...(response.resultMetadata && { resultMetadata: [] }),
  }
}

function rolledBack(): DataResponse {
  const message = 'rolled back, or not started, because another entry of the bulk failed'
  return failed(new ServiceError('crud:Rolledback', message, { context: 'bulk' }))
}
