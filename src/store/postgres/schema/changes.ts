/** Applies changes of metadata together with the tables and indexes that they need. */
import type { CollectionDefinition } from '../../metadata-records.ts'
import type { Collection } from '../../../schema/schema.ts'
import type { EngineSession } from '../../engine.ts'
import { param, raw, sql } from '../../sql/fragment.ts'
import {
  type CollectionRecord,
  type IndexRecord,
  claimsName,
  historyTableName,
  tableName,
} from './catalogue.ts'
import type { Collections } from '../../tables/metadata.ts'
import { sessionOf } from '../engine.ts'
import type { Builder } from './builder.ts'
import { FilledMeanwhile, buildAhead, discardAfterFailure, prepare } from './index-builds.ts'
import { parseLayout } from './columns.ts'
import { lockMetadata } from './metadata-lock.ts'
import { type Transaction, inTransaction } from '../connection/transaction.ts'

export function collectionsOf(builder: Builder): Collections {
  return {
    change: (definitions, work) =>
      carryOut(builder, definitions, async (transaction) => {
        await lockMetadata(transaction, builder.schema)
        await work(sessionOf(transaction))
      }),
    async hasDocuments({ query }, collection) {
      const record = await recordOf(query, collection)
      if (!record) return false
      return (await query(sql`select 1 from ${raw(tableName(record))} limit 1`)).length > 0
    },
    async drop({ query }, collection) {
      const record = await recordOf(query, collection)
      if (!record) return
      for (const name of [tableName(record), claimsName(record), historyTableName(record)])
        await query(sql`drop table if exists ${raw(name)}`)
      await query(sql`delete from smalt_fill where collection = ${param(record.no)}`)
      await query(sql`delete from smalt_index where collection = ${param(record.no)}`)
      await query(sql`delete from smalt_collection where no = ${param(record.no)}`)
    },
    reload: builder.reload,
  }
}

async function recordOf(
  query: EngineSession['query'],
  { name, entity }: Collection,
): Promise<Pick<CollectionRecord, 'no' | 'generation' | 'layout'> | undefined> {
  const [row] = await query(
    sql`select no, generation, layout from smalt_collection where name = ${param(name)} and entity = ${param(entity)}`,
  )
  return (
    row && {
      no: Number(row[0]),
      generation: Number(row[1]),
      layout: parseLayout(row[2] as string | null),
    }
  )
}

async function carryOut(
  builder: Builder,
  definitions: readonly CollectionDefinition[],
  change: (transaction: Transaction) => Promise<void>,
): Promise<void> {
  const ahead: Ahead[] = []
  try {
    for (const definition of definitions) {
      ahead.push({ definition, built: await buildAhead(definition, builder) })
    }
    await inTransaction(builder.connections, async (transaction) => {
      await change(transaction)
      for (const { definition, built } of ahead) {
        await prepare(transaction, definition, { built, now: builder.now })
      }
    })
  } catch (error) {
    await discardAfterFailure(
      ahead.flatMap(({ built }) => built),
      builder,
    )
    // The first documents arrived before the empty table had its indexes. The next attempt builds them ahead.
    if (error instanceof FilledMeanwhile) return await carryOut(builder, definitions, change)
    throw error
  }
  // The change is committed. If this reload fails, the next statement that finds the cache outdated repeats
  // it.
  await builder.reload().catch(() => undefined)
}

/** A collection, and the indexes that were built before the transaction. */
interface Ahead {
  readonly definition: CollectionDefinition
  readonly built: readonly IndexRecord[]
}
