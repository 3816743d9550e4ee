/**
 * Dead letters: events that a sink did not accept after all retries. They can be listed, inspected, redriven
 * and discarded.
 */
import { callerWith } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import type { Work } from '../../base/work/work.ts'
import { parseDefinition } from '../../sinks/definition.ts'
import type { StoredEvent } from '../../store/events.ts'
import type { DeadHead, DeadLetter } from '../../store/sinks.ts'
import type { Deps } from '../deps.ts'
import { readDeadPage } from '../events/events-request.ts'
import { LARGE_BYTES, eventFor } from '../events/view.ts'
import type { FoundSink } from './sink-datasources.ts'

export type DeadLetterDeps = Pick<Deps, 'schemaOf'>

export interface DeadLetters {
  list(sink: FoundSink, parameters: URLSearchParams, work?: Work): Promise<Json>
  inspect(sink: FoundSink, eventId: string, work?: Work): Promise<Json>
  /** Redrives all dead letters if none is named. */
  redrive(sink: FoundSink, eventId?: string): Promise<Json>
  discard(sink: FoundSink, eventId: string): Promise<Json>
}

export function deadLetters(deps: DeadLetterDeps): DeadLetters {
  return {
    async list({ store, record: { name } }, parameters, work) {
      const page = readDeadPage(parameters)
      leaveIfLarge(await store.sinks.measureDead(name, page), work)
      const letters = await store.sinks.listDead(name, page)
      const dead: Json[] = []
      for (const letter of letters) {
        const { begin, id } = letter
        const what = kindFrom(begin) ?? eventOf(await store.sinks.readDead(name, id))
        // Others may have redriven or discarded it meanwhile.
        if (what) dead.push(headOf(letter, what))
      }
      return { dead, next: letters.at(-1)?.seq ?? page.since }
    },
    async inspect({ store, record }, eventId, work) {
      leaveIfLarge(await store.sinks.measureDead(record.name, { id: eventId }), work)
      const letter = await store.sinks.readDead(record.name, eventId)
      const kept = eventOf(letter)
      if (!letter || !kept) throw unknown()
      const caller = callerWith(parseDefinition(record.definition).roles)
      const event = eventFor(deps, kept, caller)
      // Absent if the sink may no longer see anything of the event.
      return { ...headOf(letter, kept), ...(event && { event: { ...event } }) }
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

/** Reading events and rendering them cannot be interrupted. */
function leaveIfLarge(bytes: number, work: Work | undefined): void {
  if (bytes > LARGE_BYTES) work?.requireAnotherThread()
}

function eventOf(letter: DeadLetter | undefined): StoredEvent | undefined {
  return letter && (JSON.parse(letter.event) as StoredEvent)
}

type EventKind = Pick<StoredEvent, 'entity' | 'hook' | 'operation'>

/** Undefined if the excerpt ends before the document begins. */
function kindFrom(begin: string): EventKind | undefined {
  const end = begin.indexOf(DOCUMENT)
  return end < 0 ? undefined : (JSON.parse(`${begin.slice(0, end)}}`) as EventKind)
}

/** The member after these. It cannot occur in the texts before it, because quotes are escaped there. */
const DOCUMENT = ',"document":'

/** Contains nothing of the document. */
function headOf(letter: DeadHead | DeadLetter, { entity, hook, operation }: EventKind): JsonObject {
  const { id, seq, at, attempts, error, held } = letter
  return { id, seq, entity, hook, operation, date: new Date(at).toISOString(), attempts, error, held }
}

function unknown(): ServiceError {
  return new ServiceError('crud:UnknownDeadLetter', 'the sink has no dead letter of this id')
}
