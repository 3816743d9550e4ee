/** The operations of the store that write documents: in one statement where that is enough, else in a transaction. */
import type { Database } from '../database.ts'
import type { Engine } from '../engine.ts'
import { createSequences, peekingOn } from '../tables/sequences.ts'
import type { Connections } from './connection/connections.ts'
import { type Transaction, inTransaction } from './connection/transaction.ts'
import { capturing, notifyAfterCapture } from './events/outbox.ts'
import type { Runner } from './runner.ts'
import {
  type SessionContext,
  inOneSnapshot,
  requireTable,
  sequenceDrawsOn,
  sessionIn,
  stampFor,
} from './session.ts'
import { type Shared, writeAtOnce } from './write/single-statement.ts'

interface WriteParts {
  readonly connections: Connections
  readonly shared: Shared
  readonly runner: Runner
  readonly engine: Engine
  readonly context: SessionContext
  readonly schema: string
  /** Called after a commit with outbox entries. */
  readonly onCaptured: () => void
}

export function writeOperations({
  connections,
  shared,
  runner: { run },
  engine,
  context,
  schema,
  onCaptured,
}: WriteParts): Pick<Database, 'write' | 'transact'> {
  return {
    write: (given, begin, bounds) =>
      run(given.kind, () =>
        notifyAfterCapture(onCaptured, async (note) => {
          connections.noteCaller(bounds.caller)
          const plan = note(given)
          const table = requireTable(context.tableOf(plan.collection), plan.collection)
          const stamp = stampFor(plan, context.version(table))
          const draw = sequenceDrawsOn(engine, bounds)
          const isDone = await writeAtOnce(plan, { connections, table, stamp, draw, begin, bounds, shared })
          // Undefined: one statement is not enough, or there was a conflict.
          if (isDone !== undefined) return isDone
          const work = async (transaction: Transaction): Promise<boolean> => {
            const isKept = await sessionIn(transaction, context).write(plan, begin, bounds)
            if (!isKept) transaction.undo()
            return isKept
          }
          const kind = `${plan.kind} in ${table.name}`
          const { isDistributed } = table
          return await inTransaction(connections, work, { holder: bounds, kind, isDistributed })
        }),
      ),
    transact: (work, { isDryRun = false, seesLatest = false, caller, bounds } = {}) =>
      run('transact', () =>
        notifyAfterCapture(onCaptured, (note) =>
          inTransaction(
            connections,
            async (transaction) => {
              if (!isDryRun)
                return await work(capturing(sessionIn(transaction, inOneSnapshot(context)), note))
              const next = peekingOn(createSequences(engine))
              const result = await work(sessionIn(transaction, { ...inOneSnapshot(context), next }))
              transaction.undo()
              return result
            },
            {
              isSnapshot: !seesLatest,
              queue: `transactions of ${schema}`,
              holder: bounds ?? { caller },
              bounds,
              isDistributed: context.isCluster(),
            },
          ),
        ),
      ),
  }
}
