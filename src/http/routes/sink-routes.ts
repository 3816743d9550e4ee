/** Routes of sinks and their dead letters. */
import type { Code } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import {
  DeadLetterShape,
  DeadLettersShape,
  DiscardedShape,
  RedrivenShape,
  RemovedShape,
  SinkListShape,
  SinkReplyShape,
  SinkRequestShape,
} from '../../service/sinks/sink-shapes.ts'
import type { SinkOperations } from '../../service/sink-service.ts'
import { type Call, type Content, type Route, jsonReply, onceReply } from './route.ts'

const SINKS = '/events/sinks'
const SINK = `${SINKS}/{sink}`
const DEAD = `${SINK}/dead`
const LETTER = `${DEAD}/{eventId}`

const UNKNOWN: readonly Code[] = ['crud:NoAccess', 'crud:UnknownSink']
const UNCHANGEABLE: readonly Code[] = [...UNKNOWN, 'crud:ConfiguredSink']
const NO_LETTER: readonly Code[] = [...UNKNOWN, 'crud:UnknownDeadLetter']

const BODY: Content = { shape: SinkRequestShape, name: 'SinkRequest', example: given() }
const REPLY: Content = { shape: SinkReplyShape, name: 'Sink', example: sink() }

export const SINK_ROUTES: readonly Route[] = [
  {
    ...route('createSink', 'Make a sink', (sinks, { caller, body }) => sinks.create(caller, body)),
    method: 'POST',
    path: SINKS,
    description: 'It is sent all events from now on that its roles may see and its filter admits.',
    body: BODY,
    reply: REPLY,
    errors: ['crud:NoAccess', 'crud:DuplicateSink', 'metadata:MissingEntityInfo'],
  },
  {
    ...route('sinks', 'List sinks', (sinks, { caller }) => sinks.list(caller)),
    method: 'GET',
    path: SINKS,
    reply: { shape: SinkListShape, name: 'Sinks', example: { sinks: [sink()] } },
    errors: ['crud:NoAccess'],
  },
  {
    ...route('sink', 'Read a sink', (sinks, { caller, params }) => sinks.get(caller, params['sink'] ?? '')),
    method: 'GET',
    path: SINK,
    reply: REPLY,
    errors: UNKNOWN,
  },
  {
    ...route('replaceSink', 'Replace a sink', (sinks, { caller, params, body }) =>
      sinks.replace(caller, params['sink'] ?? '', body),
    ),
    method: 'PUT',
    path: SINK,
    description: 'It keeps its place, and its secret where none is given. One that was disabled is enabled.',
    body: BODY,
    reply: REPLY,
    errors: [...UNCHANGEABLE, 'metadata:MissingEntityInfo', 'store-crud:ConcurrentUpdate'],
  },
  {
    ...route('removeSink', 'Remove a sink', (sinks, { caller, params }) =>
      sinks.remove(caller, params['sink'] ?? ''),
    ),
    method: 'DELETE',
    path: SINK,
    description: 'With its dead letters.',
    reply: { shape: RemovedShape, example: { removed: true } },
    errors: UNCHANGEABLE,
  },
  {
    ...route('deadLetters', 'List dead letters', (sinks, { caller, params, search, work }) =>
      sinks.dead(caller, params['sink'] ?? '', { parameters: new URLSearchParams(search), work }),
    ),
    method: 'GET',
    path: DEAD,
    description: 'Events that the sink did not take in 12 attempts.',
    query: [
      { name: 'since', description: '`next` of the answer before.', example: '0' },
      { name: 'limit', description: 'At most so many: 100 when absent, 1,000 at most.', example: '100' },
    ],
    reply: { shape: DeadLettersShape, name: 'DeadLetters', example: { dead: [letter()], next: 42 } },
    errors: UNKNOWN,
  },
  {
    ...route('redriveDeadLetters', 'Try all dead letters again', (sinks, { caller, params }) =>
      sinks.redrive(caller, params['sink'] ?? ''),
    ),
    method: 'POST',
    path: `${DEAD}/redrive`,
    reply: { shape: RedrivenShape, example: { redriven: 3 } },
    errors: UNKNOWN,
  },
  {
    ...route('deadLetter', 'Read a dead letter', (sinks, { caller, params, work }) =>
      sinks.inspect(caller, params['sink'] ?? '', { eventId: params['eventId'] ?? '', work }),
    ),
    method: 'GET',
    path: LETTER,
    description: 'With the event as the sink would receive it now.',
    reply: { shape: DeadLetterShape, name: 'DeadLetter' },
    errors: NO_LETTER,
  },
  {
    ...route('redriveDeadLetter', 'Try a dead letter again', (sinks, { caller, params }) =>
      sinks.redrive(caller, params['sink'] ?? '', params['eventId'] ?? ''),
    ),
    method: 'POST',
    path: LETTER,
    reply: { shape: RedrivenShape, example: { redriven: 1 } },
    errors: NO_LETTER,
  },
  {
    ...route('discardDeadLetter', 'Give up a dead letter', (sinks, { caller, params }) =>
      sinks.discard(caller, params['sink'] ?? '', params['eventId'] ?? ''),
    ),
    method: 'DELETE',
    path: LETTER,
    description: 'The sink never receives it; later events of the document are delivered.',
    reply: { shape: DiscardedShape, example: { discarded: true } },
    errors: NO_LETTER,
  },
]

type Named = Pick<Route, 'operationId' | 'tag' | 'access' | 'summary' | 'handle'>

function route(
  operationId: string,
  summary: string,
  work: (sinks: SinkOperations, call: Call) => Promise<Json>,
): Named {
  const handle: Route['handle'] = async (call) => {
    const { app, caller, params, body, idempotency } = call
    const { sinks } = app.service
    if (!idempotency) return jsonReply(await work(sinks, call))
    const name = params['sink']
    const about = name === undefined ? { body } : { name }
    return onceReply(await sinks.once(caller, { about, run: (own) => work(own, call) }, idempotency))
  }
  return { operationId, tag: 'events', access: 'events.manage', summary, handle }
}

function given(): JsonObject {
  return {
    name: 'kitchen',
    url: 'https://kitchen.example.com/events',
    secret: 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=',
    roles: ['cook'],
    filter: { entity: 'sandwich' },
  }
}

function sink(): JsonObject {
  const { secret: _secret, ...rest } = given()
  const state = { configured: false, status: 'active', position: 42, failures: 0 }
  return { ...rest, kind: 'webhook', secret: 'whsec_***', datasource: 'default', ...state }
}

function letter(): JsonObject {
  return {
    id: '6b1f0c4e-7a0e-4a53-9f5e-0d2f4a1b8c33',
    seq: 42,
    entity: 'sandwich',
    hook: 'toppings',
    operation: 'update',
    date: '2026-01-02T03:04:05.678Z',
    attempts: 12,
    error: 'status 500',
    held: 0,
  }
}
