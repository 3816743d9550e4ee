/**
 * Dead letters: events that a sink did not accept after all retries. They can be listed, inspected, redriven
 * and discarded.
 */
import { callerWith } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import { parseDefinition } from '../../sinks/definition.ts'
import type { StoredEvent } from '../../store/events.ts'
import type { DeadLetter } from '../../store/sinks.ts'
import type { Deps } from '../deps.ts'
import { readDeadPage } from '../events/events-request.ts'
import { eventFor } from '../events/view.ts'
import type { FoundSink } from './sink-datasources.ts'

export type DeadLetterDeps = Pick<Deps, 'schemaOf'>

export interface DeadLetters {
  list(sink: FoundSink, parameters: URLSearchParams): Promise<Json>
  inspect(sink: FoundSink, eventId: string): Promise<Json>
  /** Redrives all dead letters if none is named. */
  redrive(sink: FoundSink, eventId?: string): Promise<Json>
  discard(sink: FoundSink, eventId: string): Promise<Json>
}

export function deadLetters(deps: DeadLetterDeps): DeadLetters {
  return {
    async list({ store, record: { name } }, parameters) {
      const { since, limit } = readDeadPage(parameters)
      const letters = await store.sinks.listDead(name, { since, limit })
      return { dead: letters.map(headOf), next: letters.at(-1)?.seq ?? since }
    },
    async inspect({ store, record }, eventId) {
      const letter = await store.sinks.readDead(record.name, eventId)
      if (!letter) throw unknown()
      const caller = callerWith(parseDefinition(record.definition).roles)
      const event = eventFor(deps, eventOf(letter), caller)
      // Absent if the sink may no longer see anything of the event.
      return { ...headOf(letter), ...(event && { event: { ...event } }) }
    },
    async redrive({ store, record: { name } }, eventId) {
      const redriven = await store.sinks.redrive(name, eventId)
      if (eventId !== undefined && redriven === 0) throw unknown()
      return { redriven }
    },
    async discard({ store, record: { name } }, eventId) {
      if (!(await store.sinks.discard(name, eventId))) throw unknown()
      return { discarded: true }
    },
  }
}

function eventOf({ event }: DeadLetter): StoredEvent {
  return JSON.parse(event) as StoredEvent
}

/** Contains nothing of the document. */
function headOf(letter: DeadLetter): JsonObject {
  const { entity, hook, operation } = eventOf(letter)
  const { id, seq, at, attempts, error, held } = letter
  return { id, seq, entity, hook, operation, date: new Date(at).toISOString(), attempts, error, held }
}

function unknown(): ServiceError {
  return new ServiceError('crud:UnknownDeadLetter', 'the sink has no dead letter of this id')
}
