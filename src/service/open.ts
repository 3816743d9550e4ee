/** Opens the whole service on its datasources: stores, metadata, operations, events and backups, wired once. */
import { ServiceError } from '../base/errors.ts'
import { type BackupSettings, backupService } from './backup/backups.ts'
import { trimAnswers } from './idempotency.ts'
import { refreshMetadata } from './open/metadata-refresh.ts'
import { type CoreOptions, openCore } from './open/core.ts'
import { openEvents, openThreadEvents } from './open/events.ts'
import { OpenError } from './open/stores.ts'
import type { BackupService, Service } from './service.ts'
import type { SinkMeter } from './sinks/deliver.ts'
import type { EventSettings } from './sinks/sink-settings.ts'

export interface ServiceOptions extends Omit<CoreOptions, 'borrow' | 'onSlow'> {
  /** Retention of events, and configuration of sinks. */
  readonly events?: EventSettings
  /** Where and when the service makes backups; absent: it makes none. */
  readonly backup?: BackupSettings
  readonly sinkMeter?: SinkMeter
}

/** A second copy of the service, in a worker thread beside the thread that owns the embedded databases. */
interface ThreadServiceOptions extends Omit<CoreOptions, 'onWarning' | 'now' | 'offloads'> {
  readonly borrow: NonNullable<CoreOptions['borrow']>
  /** The main thread keeps slow requests. */
  readonly onSlow: NonNullable<CoreOptions['onSlow']>
}

/**
 * Serves requests for data and metadata only. Delivery and retention of events belong to the service that
 * owns the data.
 */
export async function openThreadService(options: ThreadServiceOptions): Promise<Service> {
  await using opened = new AsyncDisposableStack()
  const core = await openCore(options, opened)
  await core.registry.reload()
  const events = openThreadEvents(core.eventDeps, opened)
  const owned = opened.move()
  return {
    ...core.service,
    ...events,
    backups: NO_BACKUPS,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** The thread that owns the data makes them. */
const NO_BACKUPS: BackupService = {
  make: () => Promise.reject(new Error('a worker thread makes no backups')),
}

/** An unreachable database does not prevent opening: the service is not ready until the database responds. */
export async function openService(options: ServiceOptions): Promise<Service> {
  await using opened = new AsyncDisposableStack()
  const { service, stores, registry, eventDeps } = await openCore(options, opened)
  const { onInternalError, datasources } = options
  const isShared = [...stores.values()].some((each) => each.isShared)
  const [store] = stores.values()
  const refresh = opened.use(refreshMetadata({ store: store!, registry, isShared, onInternalError }))
  const { location } = datasources[0]!
  await refresh.begun.catch((error: unknown) => Promise.reject(new OpenError(location, error)))
  const events = openEvents(eventDeps, options, opened)
  opened.use(trimAnswers({ ...eventDeps, stores }))
  const backups = opened.use(
    backupService({
      settings: options.backup,
      datasources,
      store: store!,
      now: eventDeps.now,
      onInternalError,
    }),
  )
  const owned = opened.move()
  return {
    ...service,
    ...events,
    backups,
    ready: () =>
      presentably(onInternalError, async () => {
        refresh.requireLoaded()
        await service.ready()
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Readiness is public, so errors that were not written for callers go to the log only. */
async function presentably(
  onInternalError: (error: unknown) => void,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof ServiceError) throw error
    onInternalError(error)
    throw new ServiceError('crud:Unavailable', 'the store cannot be used; the log tells more')
  }
}
