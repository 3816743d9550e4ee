/** Lets go of events that are old or too many, once a minute; never of one that somebody still has to be told of. */
import type { EventStore } from '../../store/events.ts'
import { ServiceError } from '../../base/errors.ts'

export interface EventKeeping {
  readonly keepDays: number
  readonly keepCount: number
  /** A disabled sink holds nothing back that is older than so many days; 30 when absent. */
  readonly abandonDays?: number
  /** How often one looks; once a minute when absent. */
  readonly roundMs?: number
}

export const DEFAULT_EVENT_KEEPING: EventKeeping = { keepDays: 7, keepCount: 1_000_000 }

/** The number up to which all who are registered have been told; undefined where nobody is. */
export type DeliveredUpTo = (datasource: string) => Promise<number | undefined>

export const DEFAULT_ABANDON_DAYS = 30

interface Retention {
  readonly stores: ReadonlyMap<string, { readonly events: Pick<EventStore, 'trimEvents'> }>
  readonly keeping: EventKeeping
  readonly deliveredUpTo: DeliveredUpTo
  /** The same without those who are disabled, who are waited for no longer than some days; absent: nobody is. */
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

/** One round. A store out of reach has its turn in the next one. */
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

/** Whoever was disabled for long is not waited for any more; the log tells of it. */
async function abandon(retention: Retention, name: string, told: number): Promise<void> {
  const { stores, keeping, enabledDeliveredUpTo, now, onInternalError } = retention
  if (!enabledDeliveredUpTo) return
  const notAfter = (await enabledDeliveredUpTo(name)) ?? Number.MAX_SAFE_INTEGER
  if (notAfter <= told) return
  const days = Math.max(keeping.keepDays, keeping.abandonDays ?? DEFAULT_ABANDON_DAYS)
  const keptSince = now().getTime() - days * DAY_MS
  const gone = await stores
    .get(name)!
    .events.trimEvents({ keptSince, keepCount: Number.MAX_SAFE_INTEGER, notAfter })
  if (gone === 0) return
  const what = `${gone} events of the datasource ${name}, older than ${days} days`
  onInternalError(
    new ServiceError('crud:EventsGone', `${what}, are gone that disabled sinks were not told of`),
  )
}
