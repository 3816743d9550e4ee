/** Waits until this process has loaded the entities of events, because another process may just have defined them. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../../base/errors.ts'
import type { EventHead, EventStore } from '../../store/events.ts'
import type { Deps } from '../deps.ts'

export interface Knowing extends Pick<Deps, 'schemaOf'> {
  /** Whether the metadata in use is the newest. */
  readonly isInStep: () => Promise<boolean>
}

type Known = Pick<EventHead, 'entity' | 'details'>

/** How long to wait for metadata that other processes changed: up to MAX_STEPS times STEP_MS. */
const STEP_MS = 200
const MAX_STEPS = 25

/** An entity that is unknown even with the newest metadata was removed, and its events are visible to no reader. */
export async function untilKnown({ schemaOf, isInStep }: Knowing, events: readonly Known[]): Promise<void> {
  const versions = new Map(events.map((event) => [`${event.entity}\n${versionText(event)}`, event]))
  for (const event of versions.values()) {
    for (let steps = 0; !isKnown(schemaOf, event) && !(await isInStep()); steps++) {
      if (steps === MAX_STEPS) throw new ServiceError('crud:Unavailable', 'metadata is being read')
      await sleep(STEP_MS)
    }
  }
}

/** Details begin with the version; the rest differs from event to event. */
function versionText({ details }: Known): string {
  return details.slice(0, details.indexOf(','))
}

function isKnown(schemaOf: Deps['schemaOf'], { entity, details }: Known): boolean {
  try {
    const { entityVersion } = JSON.parse(details) as { readonly entityVersion?: string }
    schemaOf(entity, entityVersion)
    return true
  } catch (error) {
    if (error instanceof ServiceError) return false
    throw error
  }
}

/**
 * Delays events until their entities are loaded. A reader would otherwise skip an event that it cannot see
 * yet, for good.
 */
export function knowingEvents(store: EventStore, knowing: Knowing): EventStore {
  return {
    async readEvents(request, bounds) {
      const read = await store.readEvents(request, bounds)
      await untilKnown(knowing, read.events)
      return read
    },
    async readHeads(range, bounds) {
      const heads = await store.readHeads(range, bounds)
      await untilKnown(knowing, heads)
      return heads
    },
    readStates: (holders, bounds) => store.readStates(holders, bounds),
    eventBounds: () => store.eventBounds(),
    onEvents: (listener) => store.onEvents(listener),
    trimEvents: (limits) => store.trimEvents(limits),
  }
}
