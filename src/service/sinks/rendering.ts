/** Renders events for sinks: those of large documents in another thread, where there is one. */
import type { Caller } from '../../access/caller.ts'
import { isUnavailable } from '../../base/errors.ts'
import { cloudEvent } from '../../sinks/cloud-event.ts'
import type { RenderEvent, RenderedEvent } from '../../sinks/delivery/sink-run.ts'
import type { StoredEvent } from '../../store/events.ts'
import { type Knowing, untilKnown } from '../events/known-entities.ts'
import { LARGE_BYTES, eventFor } from '../events/view.ts'
import type { JsonText } from '../response.ts'
import type { RenderForSink, SinkService } from '../sink-service.ts'

export interface SinkRendering extends Pick<SinkService, 'render' | 'renderLargeBy'> {
  /** For delivery. */
  readonly renderEvent: RenderEvent
}

export function createSinkRendering(knowing: Knowing): SinkRendering {
  let renderLarge: RenderForSink | undefined
  const render = (event: StoredEvent, caller: Caller): JsonText => {
    const seen = eventFor(knowing, event, caller)
    return seen ? JSON.stringify(cloudEvent(event, { ...seen })) : ''
  }
  return {
    render,
    renderLargeBy: (elsewhere) => (renderLarge = elsewhere),
    /**
     * Another process may just have defined an unknown entity or version, so delivery waits for metadata instead
     * of dropping the event.
     */
    async renderEvent(event, caller, signal) {
      const elsewhere = isLarge(event) ? renderLarge : undefined
      try {
        await untilKnown(knowing, [event])
        return renderedFrom(await (elsewhere ?? render)(event, caller, signal))
      } catch (error) {
        signal.throwIfAborted()
        // That metadata cannot be read, or that other threads are busy or end, is no fault of the event or its receiver.
        const hasEnded = elsewhere !== undefined && elsewhere !== renderLarge
        if (isUnavailable(error) || hasEnded) return 'postponed'
        throw error
      }
    },
  }
}

function renderedFrom(body: JsonText): RenderedEvent {
  return body === '' ? 'invisible' : { body }
}

/** Compares characters, because counting the bytes would mean to read both documents. */
function isLarge({ before, after }: StoredEvent): boolean {
  return (before?.length ?? 0) + (after?.length ?? 0) > LARGE_BYTES
}
