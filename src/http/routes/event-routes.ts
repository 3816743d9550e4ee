/** Routes of `/events`. */
import type { JsonObject } from '../../base/json/json.ts'
import { Type } from '../../base/json/shape.ts'
import { accepts } from './accept.ts'
import { EventPageShape, EventShape } from '../../service/events/event-shapes.ts'
import { type Call, EVENTS_TYPE, type QueryParameter, type Reply, type Route, STREAM_TYPE } from './route.ts'

const SELECTION: readonly QueryParameter[] = [
  { name: 'entity', description: 'Events of this entity only.', example: 'sandwich' },
  { name: 'hook', description: 'Events of hooks of this name only.', example: 'toppings' },
  { name: 'operation', description: '`insert`, `update` or `delete` only.', example: 'update' },
]

const DATASOURCE: QueryParameter = {
  name: 'datasource',
  description:
    'Which events, where there are several datasources; that of `entity`, or the default one, when absent.',
}

export const EVENT_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/events',
    operationId: 'events',
    tag: 'events',
    access: 'authenticated',
    summary: 'Read events',
    description:
      'Oldest first, as far as the caller may see them. With `Accept: application/x-ndjson` one event per line, and `next` in the last line.',
    query: [
      ...SELECTION,
      {
        name: 'since',
        description: '`next` of the answer before; absent: from the oldest one.',
        // a number beyond the newest event is refused
        example: '0',
      },
      { name: 'limit', description: 'At most so many: 100 when absent, 1,000 at most.', example: '100' },
      {
        name: 'wait',
        description: 'Seconds to wait for an event where there is none yet, 60 at most.',
        example: '0',
      },
      DATASOURCE,
    ],
    reply: { shape: EventPageShape, name: 'EventPage', example: { events: [event()], next: 42 } },
    otherReply: {
      type: STREAM_TYPE,
      shape: Type.String({ description: 'Lines of JSON: one for each event, last `next`.' }),
      example: `${JSON.stringify(event())}\n{"next":42}\n`,
    },
    errors: ['crud:EventsGone', 'metadata:MissingEntityInfo'],
    handle: read,
  },
  {
    method: 'GET',
    path: '/events/stream',
    operationId: 'eventStream',
    tag: 'events',
    access: 'authenticated',
    summary: 'Follow events',
    description:
      'Server-sent events without an end: `id` is `seq`, `data` an event. Begins after `Last-Event-ID`, else after `since`, else now.',
    query: [
      ...SELECTION,
      { name: 'since', description: 'Begins after the event of this number.', example: '0' },
      DATASOURCE,
    ],
    headers: [
      {
        name: 'Last-Event-ID',
        description: 'The `id` that the caller had last; counts more than `since`.',
        example: '41',
      },
    ],
    reply: { shape: EventShape, type: EVENTS_TYPE },
    errors: ['crud:EventsGone', 'metadata:MissingEntityInfo'],
    occupies: () => 'followers',
    handle: ({ app, caller, search, lastEventId }) => ({
      follow: (ending) =>
        app.service.events.follow(caller, { parameters: new URLSearchParams(search), lastEventId, ending }),
    }),
  },
]

async function read({ app, caller, search, accept, getSignal, ending }: Call): Promise<Reply> {
  const waiting = { getSignal, ending }
  const { events, next } = await app.service.events.read(caller, new URLSearchParams(search), waiting)
  if (!accepts(accept, STREAM_TYPE))
    return { status: 200, text: `{"events":[${events.join(',')}],"next":${next}}` }
  const lines = [...events, `{"next":${next}}`]
  return { status: 200, text: `${lines.join('\n')}\n`, type: STREAM_TYPE }
}

function event(): JsonObject {
  return {
    id: '6b1f0c4e-7a0e-4a53-9f5e-0d2f4a1b8c33',
    seq: 42,
    hook: 'toppings',
    entity: 'sandwich',
    entityVersion: '1.0.0',
    operation: 'update',
    documentId: 'club',
    principal: 'ann',
    date: '2026-01-02T03:04:05.678Z',
    changed: ['toppings.1'],
    removed: [],
    before: { toppings: ['bacon'] },
    after: { toppings: ['bacon', 'egg'] },
    include: { name: 'Club sandwich' },
  }
}
