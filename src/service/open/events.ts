/** Opens everything that concerns events: reading, retention, and delivery to sinks. */
import { ServiceError } from '../../base/errors.ts'
import { eventService } from '../events/events.ts'
import { type Knowing, knowingEvents } from '../events/known-entities.ts'
import { DEFAULT_EVENT_KEEPING, keepEventsInBounds } from '../events/retention.ts'
import type { EventDeps } from '../events/source.ts'
import type { Service } from '../service.ts'
import { type DeliveryDeps, type SinkMeter, deliveredUpTo, startDelivery } from '../sinks/deliver.ts'
import { type SinkRendering, createSinkRendering } from '../sinks/rendering.ts'
import { createSinkDatasources } from '../sinks/sink-datasources.ts'
import type { EventSettings } from '../sinks/sink-settings.ts'
import { sinkService } from '../sinks/sinks.ts'

type OpeningEvents = Omit<EventDeps, 'stores'> & Pick<DeliveryDeps, 'stores'> & Knowing

interface EventOptions {
  readonly events?: EventSettings
  readonly sinkMeter?: SinkMeter
}

/** Of the service that owns the data. */
export function openEvents(
  deps: OpeningEvents,
  { events: settings = DEFAULT_EVENT_KEEPING, sinkMeter }: EventOptions,
  opened: AsyncDisposableStack,
): Pick<Service, 'events' | 'sinks'> {
  const deliveredIn = (name: string, areDisabledCounted: boolean): Promise<number | undefined> =>
    deliveredUpTo(deps.stores.get(name)!, { areDisabledCounted })
  opened.use(
    keepEventsInBounds({
      ...deps,
      keeping: settings,
      deliveredUpTo: (name) => deliveredIn(name, true),
      enabledDeliveredUpTo: (name) => deliveredIn(name, false),
    }),
  )
  const rendering = createSinkRendering(deps)
  opened.use(
    startDelivery({
      ...deps,
      rendering,
      places: createSinkDatasources(deps),
      settings,
      ...(sinkMeter && { sinkMeter }),
    }),
  )
  return openEventReading({ ...deps, rendering }, settings, opened)
}

/** Without delivery and retention, which the service that owns the data does. */
export function openThreadEvents(
  deps: OpeningEvents,
  opened: AsyncDisposableStack,
): Pick<Service, 'events' | 'sinks'> {
  return openEventReading({ ...deps, rendering: createSinkRendering(deps) }, DEFAULT_EVENT_KEEPING, opened)
}

function openEventReading(
  deps: OpeningEvents & { readonly rendering: SinkRendering },
  settings: EventSettings,
  opened: AsyncDisposableStack,
): Pick<Service, 'events' | 'sinks'> {
  const places = createSinkDatasources(deps)
  const { schemaOf, datasourceOf, limits, now, rendering } = deps
  const hasEntity = (name: string): boolean => {
    try {
      datasourceOf(name)
      return true
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'metadata:MissingEntityInfo') return false
      throw error
    }
  }
  const stores = new Map([...deps.stores].map(([name, store]) => [name, knowingEvents(store.events, deps)]))
  return {
    events: opened.use(eventService({ ...deps, stores })),
    sinks: sinkService({ places, settings, schemaOf, hasEntity, limits, now, rendering }),
  }
}
