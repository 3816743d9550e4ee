/** What a row of the route table is, and what its handler is given and gives back. */
import type { Shape } from '../../base/json/shape.ts'
import type { Caller, Permission } from '../../access/caller.ts'
import type { Code } from '../../base/errors.ts'
import type { Json } from '../../base/json/json.ts'
import type { Work } from '../../base/work/work.ts'
import { type DataResponse, httpStatusOf, printResponse } from '../../service/response.ts'
import type { GetSignal } from '../../service/deps.ts'
import type { FollowedEvents, Offload, RequestContext, Service, Target } from '../../service/service.ts'

export const METHODS = ['GET', 'PUT', 'POST', 'DELETE'] as const
export type Method = (typeof METHODS)[number]

/** Who may ask: anybody, callers who say who they are, or of these only those with a permission. */
export type Access = 'public' | 'authenticated' | Permission

export interface Route {
  readonly method: Method
  /** A template such as `/data/find/{entity}/{version}`; a leading `/rest` and a trailing slash go without saying. */
  readonly path: string
  readonly operationId: string
  /** Begins the context of errors; `operationId` when absent. */
  readonly operation?: string
  readonly tag: 'data' | 'metadata' | 'events' | 'service'
  /** Held before anything else is done; what a caller may do to which document is decided by the service. */
  readonly access: Access
  readonly summary: string
  readonly description?: string
  readonly deprecated?: boolean
  readonly query?: readonly QueryParameter[]
  /** Headers that it reads besides those that all routes read. */
  readonly headers?: readonly QueryParameter[]
  /** Absent: a body that comes nevertheless is ignored. */
  readonly body?: Content
  readonly reply: Content
  /** The same in another type, to whoever asks for that. */
  readonly otherReply?: Content & { readonly type: string }
  readonly errors?: readonly Code[]
  /** Whether it changes nothing though its method is not GET, so that it can be refused after it was worked out. */
  readonly isRead?: boolean
  /** Which of the shared places the request takes for as long as its answer lasts. */
  readonly occupies?: (call: Pick<Call, 'accept' | 'search'>) => SharedPlace | undefined
  /** Refuses what path and caller suffice to refuse; called before a body is read that may be large. */
  readonly precheck?: (call: Prechecked) => void
  /** How many requests it counts as where their rate is limited; one when absent. */
  readonly cost?: (body: Json | undefined) => number
  readonly handle: (call: Call) => AnyReply | Promise<AnyReply>
}

export type SharedPlace = 'streams' | 'followers'

export type Prechecked = Pick<Call, 'app' | 'caller' | 'params'>

export interface QueryParameter {
  readonly name: string
  readonly description: string
  readonly example?: string
}

export interface Content {
  readonly shape: Shape
  /** Name of the shape among the components of the OpenAPI document. */
  readonly name?: string
  readonly type?: string
  readonly example?: Json
  /** Of the body of a request: whether there must be one; true when absent. */
  readonly required?: boolean
}

/** What handlers share for the life of a server. */
export interface App {
  readonly service: Service
  readonly isReady: () => Promise<Readiness>
  readonly metricsText: () => Promise<string>
  readonly openapiText: () => string
  readonly docsPage: () => Page
}

export interface Readiness {
  readonly isReady: boolean
  readonly reason: string
}

export interface Page {
  readonly html: string
  readonly contentSecurityPolicy: string
}

export interface Call {
  readonly app: App
  readonly caller: Caller
  readonly params: Params
  /** What follows the question mark, undecoded; most routes never look at it. */
  readonly search: string
  readonly body: Json | undefined
  /** What the caller would like the answer to be in. */
  readonly accept: string
  readonly getSignal: GetSignal
  /** The clock and the budget of the request. */
  readonly work: Work
  /** Who is charged for shared resources. */
  readonly chargedTo?: string
  /** Has another thread do a part of the request that is too much for this one. */
  readonly offload?: Offload
  /** Aborted when the server is about to end. */
  readonly ending: AbortSignal
  /** The number of the event that the caller had last. */
  readonly lastEventId: string | undefined
}

export type Params = Readonly<Record<string, string | undefined>>

export interface Reply {
  readonly status: number
  /** Text, or the same as UTF-8 bytes. */
  readonly text: string | Uint8Array
  readonly type?: string
  /** What a browser may do with it; nothing at all when absent. */
  readonly contentSecurityPolicy?: string
  /** Names and values in turn, as `writeHead` takes them. */
  readonly headers?: readonly string[]
}

/** An answer that is sent as it comes into being, a line at a time. */
export interface StreamReply {
  readonly lines: AsyncIterable<string>
}

/** An answer without an end: events as they come, until the signal is aborted. */
export interface EventsReply {
  readonly follow: (ending: AbortSignal) => Promise<AsyncIterable<FollowedEvents>>
}

export type AnyReply = Reply | StreamReply | EventsReply

export const STREAM_TYPE = 'application/x-ndjson'
export const EVENTS_TYPE = 'text/event-stream'
export const JSON_TYPE = 'application/json; charset=utf-8'

export function dataReply(response: DataResponse): Reply {
  return { status: httpStatusOf(response), text: printResponse(response) }
}

export function jsonReply(value: Json): Reply {
  return { status: 200, text: JSON.stringify(value) }
}

export function targetOf(call: Pick<Call, 'params'> & ContextOfCall): Target {
  const { entity = '', version } = call.params
  const context = contextOf(call)
  return version === undefined ? { entity, ...context } : { entity, version, ...context }
}

type ContextOfCall = Pick<Call, 'getSignal' | 'work' | 'chargedTo' | 'offload'>

/** What belongs to the request rather than to what it asks for. */
export function contextOf({ getSignal, work, chargedTo, offload }: ContextOfCall): RequestContext {
  return { getSignal, work, ...(chargedTo !== undefined && { chargedTo }), ...(offload && { offload }) }
}
