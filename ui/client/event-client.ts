/** Events: pages, the live stream, sinks and their dead letters. */
import { asList, asObject } from './data-client.ts'
import { RequestFailure, asProblem } from './failure.ts'
import { type Json, type JsonObject, parseJson } from './json.ts'
import type { Transport } from './transport.ts'
import type { Sink, SmaltEvent } from './types.ts'

export interface EventFilter {
  readonly entity?: string | undefined
  readonly hook?: string | undefined
  readonly operation?: string | undefined
}

export interface EventClient {
  readonly events: (filter: EventFilter & { since?: string; limit?: string }) => Promise<EventPage>
  /** Calls back with each event until the signal is aborted or the stream ends. */
  readonly follow: (following: Following) => Promise<void>
  readonly sinks: () => Promise<readonly Sink[]>
  readonly createSink: (sink: JsonObject) => Promise<Json>
  readonly removeSink: (name: string) => Promise<Json>
  /** The oldest ones, at most `DEAD_LETTERS_READ`. */
  readonly deadLetters: (sink: string) => Promise<readonly JsonObject[]>
  /** One of them, with its event. */
  readonly deadLetter: (sink: string, eventId: string) => Promise<Json>
  readonly redrive: (sink: string, eventId?: string) => Promise<Json>
  readonly discard: (sink: string, eventId: string) => Promise<Json>
}

export interface EventPage {
  readonly events: readonly SmaltEvent[]
  readonly next: number
}

export interface Following {
  readonly filter: EventFilter
  /** Begins after this position; now when absent. */
  readonly since?: string | undefined
  readonly signal: AbortSignal
  readonly onOpen: () => void
  readonly onEvent: (event: SmaltEvent) => void
  /** From where to go on, after everything before it. */
  readonly onPosition: (position: string) => void
}

export const DEAD_LETTERS_READ = 100

export function eventClient(transport: Transport): EventClient {
  const at = (...segments: readonly string[]): string =>
    ['', 'events', 'sinks', ...segments].map(encodeURIComponent).join('/')
  return {
    events: async (filter) =>
      (await transport.send('GET', '/events', { query: { ...filter } })) as unknown as EventPage,
    async follow({ filter, since, signal, onOpen, onEvent, onPosition }) {
      const body = await transport.open('/events/stream', { query: { ...filter, since }, signal })
      onOpen()
      for await (const { id, event, data } of messagesIn(body)) {
        const value = data === undefined ? undefined : parseJson(data)
        if (value !== undefined && event === 'end') throw new RequestFailure(0, [asProblem(value)])
        if (value !== undefined) onEvent(value as unknown as SmaltEvent)
        if (id !== undefined) onPosition(id)
      }
    },
    sinks: async () => {
      const answer = await transport.send('GET', at())
      return asList(asObject(answer)['sinks']) as unknown as readonly Sink[]
    },
    createSink: (body) => transport.send('POST', at(), { body }),
    removeSink: (name) => transport.send('DELETE', at(name)),
    deadLetters: async (sink) => {
      const query = { limit: String(DEAD_LETTERS_READ) }
      const answer = await transport.send('GET', at(sink, 'dead'), { query })
      return asList(asObject(answer)['dead']).map(asObject)
    },
    deadLetter: (sink, eventId) => transport.send('GET', at(sink, 'dead', eventId)),
    redrive: (sink, eventId) =>
      transport.send('POST', eventId === undefined ? at(sink, 'dead', 'redrive') : at(sink, 'dead', eventId)),
    discard: (sink, eventId) => transport.send('DELETE', at(sink, 'dead', eventId)),
  }
}

interface Message {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: string | undefined
}

/** Server-sent events, and positions without data. `EventSource` cannot send the headers that identify the caller. */
async function* messagesIn(body: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const lines = block.split('\n')
      const valueOf = (name: string): string | undefined =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
      yield { id: valueOf('id'), event: valueOf('event'), data: valueOf('data') }
    }
  }
}
