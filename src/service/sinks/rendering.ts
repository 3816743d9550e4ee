/** Renders events for sinks: those of large documents in another thread, where there is one. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import { cloudEvent } from '../../sinks/cloud-event.ts'
import type { RenderEvent } from '../../sinks/delivery/sink-run.ts'
import type { StoredEvent } from '../../store/events.ts'
import { type Knowing, untilKnown } from '../events/known-entities.ts'
import { LARGE_BYTES, eventFor } from '../events/view.ts'
import type { JsonText } from '../response.ts'
import type { RenderForSink, SinkService } from '../sink-service.ts'

export interface SinkRendering extends Pick<SinkService, 'render' | 'renderLargeBy'> {
  /** For delivery. */
  readonly renderEvent: RenderEvent
}

/** How long delivery waits while other threads have too much to do. */
const BUSY_MS = 1_000

export function createSinkRendering(knowing: Knowing): SinkRendering {
  let renderLarge: RenderForSink | undefined
  const render = (event: StoredEvent, caller: Caller): JsonText => {
    const seen = eventFor(knowing, event, caller)
    return seen ? JSON.stringify(cloudEvent(event, { ...seen })) : ''
  }
  /** That other threads are busy or end is no failure of the event, so it counts as no attempt to deliver it. */
  const renderElsewhere: RenderForSink = async (event, caller, signal) => {
    for (;;) {
      const elsewhere = renderLarge
      if (!elsewhere) return render(event, caller)
      try {
        return await elsewhere(event, caller, signal)
      } catch (error) {
        signal.throwIfAborted()
        if (elsewhere !== renderLarge) continue
        if (!isBusy(error)) throw error
        await sleep(BUSY_MS, undefined, { signal })
      }
    }
  }
  return {
    render,
    renderLargeBy: (elsewhere) => (renderLarge = elsewhere),
    /**
     * Another process may just have defined an unknown entity or version, so delivery waits for metadata instead
     * of dropping the event.
     */
    async renderEvent(event, caller, signal) {
      await untilKnown(knowing, [event])
      const text = isLarge(event) ? await renderElsewhere(event, caller, signal) : render(event, caller)
      return text === '' ? undefined : text
    },
  }
}

function isLarge({ before, after }: StoredEvent): boolean {
  return (before?.length ?? 0) + (after?.length ?? 0) > LARGE_BYTES
}

function isBusy(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'crud:Unavailable'
}
