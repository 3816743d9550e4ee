/** Applies changes of metadata together with the tables and indexes that they need. */
import type { CollectionDefinition } from '../../metadata-records.ts'
import type { Collections } from '../../tables/metadata.ts'
import { sessionOf } from '../engine.ts'
import { type Builder, FilledMeanwhile, buildAhead, discard, prepare } from './index-builds.ts'
import { lockMetadata } from './metadata-lock.ts'
import { type Transaction, inTransaction } from '../connection/transaction.ts'

export function collectionsOf(builder: Builder): Collections {
  return {
    change: (definition, work) =>
      carryOut(builder, definition, async (transaction) => {
        await lockMetadata(transaction, builder.schema)
        await work(sessionOf(transaction))
      }),
    reload: builder.reload,
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
    // The first documents arrived before the empty table had its indexes. The next attempt builds them ahead.
    if (error instanceof FilledMeanwhile) return await carryOut(builder, definition, change)
    throw error
  }
  // The change is committed. If this reload fails, the next statement that finds the cache outdated repeats
  // it.
  await builder.reload().catch(() => undefined)
}
