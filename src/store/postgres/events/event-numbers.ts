/** The numbers of events, which a process gives them once they are committed, and how far readers may read. */
import type { Engine } from '../../engine.ts'
import { param, raw, sql } from '../../sql/fragment.ts'
import type { OutboxTable } from '../../tables/outbox-heads.ts'
import type { Session } from '../connection/connections.ts'

/** Numbers that were ever taken, those up to which every event can be read, and those up to which none is kept. */
export interface EventState {
  readonly reserved: number
  readonly published: number
  readonly trimmed: number
}

export async function readEventState(session: Session): Promise<EventState> {
  const text = 'select reserved, published, trimmed from smalt_event_state where one = 1'
  const [row] = await session.query({ text, values: [] })
  return { reserved: Number(row![0]), published: Number(row![1]), trimmed: Number(row![2]) }
}

/** `quick` has connections that slow statements never have. */
export function outboxTable(engine: Engine, quick: Session): OutboxTable {
  return {
    name: raw('smalt_outbox'),
    holderKey: 'id',
    documentColumns: ['doc', 'document'],
    // A crash may leave numbers that no event has, so the oldest event does not tell what was trimmed.
    async bounds() {
      const { published, trimmed } = await readEventState(quick)
      return { first: trimmed + 1, last: published }
    },
    async markTrimmed(upTo) {
      await engine.batch([
        sql`update smalt_event_state set trimmed = ${param(upTo)} where one = 1 and trimmed < ${param(upTo)}`,
      ])
    },
  }
}
