/** Opens the stores of the configured datasources. */
import { NoRoomError, messageForOperator } from '../../base/errors.ts'
import type { Limits } from '../../base/limits.ts'
import { maskLocation } from '../../base/location.ts'
import type { Loan } from '../../base/work/loan.ts'
import type { Database } from '../../store/database.ts'
import { openStore } from '../../store/open.ts'
import { LocationError } from '../../store/postgres/connection/location.ts'
import { withSequencesOf } from '../../store/shared-sequences.ts'
import { isDiskFull } from '../../store/sqlite/file/failures.ts'

export interface Datasource {
  /** The name by which metadata refers to it. */
  readonly name: string
  /** `sqlite:DIRECTORY` or `postgres://…`. */
  readonly location: string
}

export interface StoreOptions {
  /** The first is the default datasource, which stores the metadata. */
  readonly datasources: readonly Datasource[]
  readonly limits: Limits
  /** Receives internal errors that no response could carry. */
  readonly onInternalError: (error: unknown) => void
  /** Receives a sentence about a database whose settings break a promise of the service. */
  readonly onWarning?: (message: string) => void
  readonly onStoreTiming?: (operation: string, seconds: number) => void
  /**
   * Whether requests that are too much for this thread go to worker threads; operations may then throw
   * `TooMuchForThisThread`.
   */
  readonly offloads?: boolean
  /** Only in a worker thread: lends the write access of the thread that owns the embedded databases. */
  readonly borrow?: (datasource: string) => Promise<Loan>
}

/** The service cannot start on these datasources. */
export class OpenError extends Error {
  readonly reason: 'location' | 'locked' | 'no room' | 'failed'

  constructor(location: string, cause: unknown) {
    const { code } = cause as NodeJS.ErrnoException
    super(`the data in ${maskLocation(location)} cannot be opened: ${messageForOperator(cause as Error)}`, {
      cause,
    })
    this.reason = code === 'SMALT_LOCKED' ? 'locked' : reasonOf(cause)
  }
}

function reasonOf(cause: unknown): OpenError['reason'] {
  if (cause instanceof LocationError) return 'location'
  return isDiskFull(cause) || cause instanceof NoRoomError ? 'no room' : 'failed'
}

export async function openStores(
  { datasources, limits, onStoreTiming, onInternalError, onWarning, offloads = false, borrow }: StoreOptions,
  opened: AsyncDisposableStack,
): Promise<ReadonlyMap<string, Database>> {
  const stores = new Map<string, Database>()
  for (const { name, location } of datasources) {
    if (stores.has(name)) throw new TypeError(`there are two datasources "${name}"`)
    const store = await openStore(location, {
      onError: onInternalError,
      ...(onWarning && { onWarning: (message: string) => onWarning(`datasource "${name}": ${message}`) }),
      offloads,
      memory: limits,
      ...(onStoreTiming && { onTiming: onStoreTiming }),
      ...(borrow && { borrow: () => borrow(name) }),
    }).catch((error: unknown) => Promise.reject(new OpenError(location, error)))
    const [first] = stores.values()
    stores.set(name, opened.use(first ? withSequencesOf(first, store) : store))
  }
  if (stores.size === 0) throw new TypeError('a service needs a datasource')
  return stores
}
