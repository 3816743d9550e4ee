/** Changes of metadata, with the tables and indexes they call for. */
import type { CollectionDefinition } from '../../metadata-records.ts'
import type { Store } from '../../store.ts'
import { type Builder, FilledMeanwhile, buildAhead, discard, prepare } from './index-builds.ts'
import { applyChange, lockMetadata } from './metadata.ts'
import { type Transaction, inTransaction } from '../connection/transaction.ts'

type Run = <T>(operation: string, work: () => Promise<T>) => Promise<T>

export function changesOf(builder: Builder, run: Run): Pick<Store, 'changeMetadata' | 'prepareCollection'> {
  return {
    changeMetadata: (change) =>
      run('metadata', () =>
        carryOut(builder, change.prepare, (transaction) => applyChange(transaction, change, builder.schema)),
      ),
    prepareCollection: (definition) =>
      run('metadata', () =>
        carryOut(builder, definition, (transaction) => lockMetadata(transaction, builder.schema)),
      ),
  }
}

async function carryOut(
  builder: Builder,
  definition: CollectionDefinition | undefined,
  change: (transaction: Transaction) => Promise<void>,
): Promise<void> {
  const built = definition ? await buildAhead(definition, builder) : []
  try {
    await inTransaction(builder.connections, async (transaction) => {
      await change(transaction)
      if (definition) await prepare(transaction, definition, { built, now: builder.now })
    })
  } catch (error) {
    await discard(built, builder)
    // The first documents came while the empty table got its indexes.
    if (error instanceof FilledMeanwhile) return await carryOut(builder, definition, change)
    throw error
  }
  // The change is made; whoever finds the catalogue outdated reads it again.
  await builder.reload().catch(() => undefined)
}
