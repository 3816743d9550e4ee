/**
 * Trims events that are too old or too many, once a minute. Events that an enabled sink has not received yet
 * are never trimmed.
 */
import type { EventStore } from '../../store/events.ts'
import { ServiceError } from '../../base/errors.ts'

export interface EventKeeping {
  readonly keepDays: number
  readonly keepCount: number
  /** After this many days, events are trimmed even if a disabled sink has not received them; 30 if absent. */
  readonly abandonDays?: number
  /** Interval between rounds; once a minute if absent. */
  readonly roundMs?: number
}

export const DEFAULT_EVENT_KEEPING: EventKeeping = { keepDays: 7, keepCount: 1_000_000 }

/** The number up to which all sinks have received events; undefined without sinks. */
type DeliveredUpTo = (datasource: string) => Promise<number | undefined>

export const DEFAULT_ABANDON_DAYS = 30

interface Retention {
  readonly stores: ReadonlyMap<string, { readonly events: Pick<EventStore, 'trimEvents'> }>
  readonly keeping: EventKeeping
  readonly deliveredUpTo: DeliveredUpTo
  /**
   * The same for enabled sinks only. Disabled sinks delay trimming for `abandonDays` at most; if absent, they
   * delay it without limit.
   */
  readonly enabledDeliveredUpTo?: DeliveredUpTo
  readonly now: () => Date
  readonly onInternalError: (error: unknown) => void
}

const PERIOD_MS = 60_000
const DAY_MS = 24 * 60 * 60 * 1_000

export function keepEventsInBounds(retention: Retention): AsyncDisposable {
  let round = Promise.resolve()
  let isIdle = true
  const timer = setInterval(() => {
    if (!isIdle) return
    isIdle = false
    round = trimAll(retention).finally(() => void (isIdle = true))
  }, retention.keeping.roundMs ?? PERIOD_MS).unref()
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await round
    },
  }
}

/** One round. An unreachable store is tried again in the next round. */
export async function trimAll(retention: Retention): Promise<void> {
  const { stores, keeping, deliveredUpTo, now, onInternalError } = retention
  for (const [name, store] of stores) {
    try {
      const keptSince = now().getTime() - keeping.keepDays * DAY_MS
      const notAfter = (await deliveredUpTo(name)) ?? Number.MAX_SAFE_INTEGER
      await store.events.trimEvents({ keptSince, keepCount: keeping.keepCount, notAfter })
      await abandon(retention, name, notAfter)
    } catch (error) {
      if (!(error instanceof ServiceError)) onInternalError(error)
    }
  }
}

/** Trims events that only disabled sinks have not received, once they are old enough, and logs how many. */
async function abandon(retention: Retention, name: string, deliveredTo: number): Promise<void> {
  const { stores, keeping, enabledDeliveredUpTo, now, onInternalError } = retention
  if (!enabledDeliveredUpTo) return
  const notAfter = (await enabledDeliveredUpTo(name)) ?? Number.MAX_SAFE_INTEGER
  if (notAfter <= deliveredTo) return
  const days = Math.max(keeping.keepDays, keeping.abandonDays ?? DEFAULT_ABANDON_DAYS)
  const keptSince = now().getTime() - days * DAY_MS
  const gone = await stores
    .get(name)!
    .events.trimEvents({ keptSince, keepCount: Number.MAX_SAFE_INTEGER, notAfter })
  if (gone === 0) return
  const what = `${gone} events of the datasource ${name}, older than ${days} days`
  onInternalError(
    new ServiceError('crud:EventsGone', `${what}, were removed before disabled sinks received them`),
  )
}
