/** Whether this process knows the entities of events: others may have defined one a moment ago. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../../base/errors.ts'
import type { EventHead, EventStore } from '../../store/events.ts'
import type { Deps } from '../deps.ts'

export interface Knowing extends Pick<Deps, 'schemaOf'> {
  /** Whether the metadata in use are the newest there are. */
  readonly isInStep: () => Promise<boolean>
}

type Known = Pick<EventHead, 'entity' | 'details'>

/** For so long metadata that other processes changed are waited for. */
const STEP_MS = 200
const MAX_STEPS = 25

/** What is still not known then is gone, and its events are nobody's any more. */
export async function untilKnown({ schemaOf, isInStep }: Knowing, events: readonly Known[]): Promise<void> {
  const versions = new Map(events.map((event) => [`${event.entity}\n${versionText(event)}`, event]))
  for (const event of versions.values()) {
    for (let steps = 0; !isKnown(schemaOf, event) && !(await isInStep()); steps++) {
      if (steps === MAX_STEPS) throw new ServiceError('crud:Unavailable', 'metadata is being read')
      await sleep(STEP_MS)
    }
  }
}

/** The beginning of the details tells the version; what follows differs from event to event. */
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

/** The same events, told once their entities are known: an event that nobody can see yet would be passed by for good. */
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
