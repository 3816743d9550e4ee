/** The sequence numbers of events, given after the commit, and the range of numbers that readers may read. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Engine } from '../../engine.ts'
import { param, raw, sql } from '../../sql/fragment.ts'
import type { OutboxTable } from '../../tables/outbox-heads.ts'
import type { SqlSession } from '../connection/connection.ts'

/**
 * The highest number ever reserved, the one up to which every event can be read, and the one up to which all
 * events were removed.
 */
interface EventState {
  readonly reserved: number
  readonly published: number
  readonly trimmed: number
}

export async function readEventState(session: SqlSession): Promise<EventState> {
  const text = 'select reserved, published, trimmed from smalt_event_state where one = 1'
  const [row] = await session.query({ text, values: [] })
  return { reserved: Number(row![0]), published: Number(row![1]), trimmed: Number(row![2]) }
}

interface Numbering {
  /** Connections that slow statements never use. */
  readonly quick: SqlSession
  /** Starts the numbering of events in this process. */
  readonly watch: () => void
}

export function outboxTable(engine: Engine, { quick, watch }: Numbering): OutboxTable {
  return {
    name: raw('smalt_outbox'),
    holderKey: 'id',
    documentColumns: ['doc', 'document'],
    // A crash may leave numbers without an event, so the oldest event does not show how far the outbox was
    // trimmed.
    bounds: sql`select trimmed + 1, published from smalt_event_state where one = 1`,
    setBounds: ({ first, last }) => [
      ...(last === undefined
        ? []
        : [
            sql`update smalt_event_state set reserved = ${param(last)}, published = ${param(last)}, trimmed = 0
              where one = 1`,
          ]),
      ...(first === undefined
        ? []
        : [
            sql`update smalt_event_state set trimmed = ${param(first - 1)}
              where one = 1 and trimmed < ${param(first - 1)}`,
          ]),
    ],
    async untilNumbered() {
      watch()
      for (const deadline = performance.now() + NUMBERING_MS; ; await pause(20)) {
        // The order matters: an event without a number reserves one later, so that the state must be read
        // after it.
        const isNumbered = !(await hasUnnumbered(engine))
        const { reserved, published } = await readEventState(quick)
        if (isNumbered && reserved === published) return
        if (performance.now() > deadline) throw new Error('events get no numbers')
      }
    },
  }
}

const NUMBERING_MS = 60_000

async function hasUnnumbered({ query }: Engine): Promise<boolean> {
  const [row] = await query(sql`select count(*) from smalt_outbox where seq is null`)
  return Number(row![0]) > 0
}
