/** Reasons why a store cannot be the target of a move. */
import type { Engine, EngineSession } from '../engine.ts'
import { join, raw, sql } from '../sql/fragment.ts'
import type { Obstacle } from '../transfer.ts'
import { hasImportMarker } from './import-marker.ts'

export async function obstacleIn(engine: Engine, session: EngineSession): Promise<Obstacle | undefined> {
  if (await hasImportMarker(engine, session)) return 'unfinished'
  const hasRows = FILLED.map((table) => sql`exists (select 1 from ${raw(table)})`)
  const rows = await session.query(sql`select 1 where ${join(hasRows, ' or ')}`)
  return rows.length > 0 ? 'filled' : undefined
}

/** A store with data has rows in at least one of these tables. */
export const FILLED = [
  'smalt_collection',
  'smalt_entity',
  'smalt_schema',
  'smalt_history',
  'smalt_sequence',
] as const
