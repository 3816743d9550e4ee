/** Types of the route table: a route, the call that its handler gets, and the reply that it returns. */
import type { Shape } from '../../base/json/shape.ts'
import type { Caller, Permission } from '../../access/caller.ts'
import type { OidcSettings } from '../../auth/settings.ts'
import type { Code } from '../../base/errors.ts'
import type { Json } from '../../base/json/json.ts'
import type { OffloadRecord } from './import-record.ts'
import type { Work } from '../../base/work/work.ts'
import { type DataResponse, type JsonTextParts, httpStatusOf, printResponse } from '../../service/response.ts'
import type { GetSignal } from '../../service/deps.ts'
import type { Idempotency, OnceAnswer } from '../../service/idempotency.ts'
import type { FollowedEvents, Offload, RequestContext, Service, Target } from '../../service/service.ts'

export const METHODS = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]

/** The callers that may use a route: all, identified ones, or identified ones with a permission. */
export type Access = 'public' | 'authenticated' | Permission

export interface Route {
  readonly method: Method
  /** A template such as `/data/find/{entity}/{version}`. It also matches with a leading `/rest` and a trailing slash. */
  readonly path: string
  readonly operationId: string
  /** The operation in the context of errors; `operationId` when absent. */
  readonly operation?: string
  readonly tag: 'data' | 'documents' | 'metadata' | 'events' | 'service'
  /** Checked before the body is read. The service decides about access to entities and documents. */
  readonly access: Access
  readonly summary: string
  readonly description?: string
  readonly deprecated?: boolean
  /** Examples for parameters of the path where those of other routes do not fit. */
  readonly pathExamples?: Params
  /** All query parameters that it knows; a request with another one is refused. */
  readonly query?: readonly QueryParameter[]
  /** Whether its handler decides about parameters that `query` does not name. */
  readonly takesOtherParameters?: boolean
  /** Headers that it reads in addition to those of all routes. */
  readonly headers?: readonly QueryParameter[]
  /** When absent, a body is ignored, and refused with GET. */
  readonly body?: Content
  /** The same body in another media type. */
  readonly otherBody?: Content
  /** Bytes of a body that the main thread parses; 1 MiB when absent. */
  readonly maxBodyBytes?: number
  /** Whether its handler reads the body while it arrives, as `upload`. */
  readonly takesUpload?: boolean
  readonly reply: Content
  /** The status of success; 200 when absent. */
  readonly status?: number
  /** Other statuses without an error, with their descriptions. */
  readonly otherStatuses?: Readonly<Record<number, string>>
  /** The same reply in another media type, on request of the caller. */
  readonly otherReply?: Content & { readonly type: string }
  readonly errors?: readonly Code[]
  /** The shape of its own answer with 503, beside that of an error. */
  readonly unavailable?: Shape
  /** Whether it is a read although its method is not GET: its response may still be replaced by 503. */
  readonly isRead?: boolean
  /** Why a request with the header `Idempotency-Key` is refused: a repetition would have another result. */
  readonly refusesKey?: string
  /** The shared limit in which the request counts until its response ends. */
  readonly occupies?: (call: Pick<Call, 'accept' | 'search'>) => SharedPlace | undefined
  /** Throws where path and caller suffice to reject the request. Called before a potentially large body is read. */
  readonly precheck?: (call: Prechecked) => void
  /** The number of requests that it counts as in the rate limit; one when absent. */
  readonly cost?: (body: Json | undefined) => number
  readonly handle: (call: Call) => AnyReply | Promise<AnyReply>
}

type SharedPlace = 'streams' | 'followers'

type Prechecked = Pick<Call, 'app' | 'caller' | 'params'>

export interface QueryParameter {
  readonly name: string
  readonly description: string
  readonly example?: string
}

export interface Content {
  readonly shape: Shape
  /** Name of the shape in the components of the OpenAPI document. */
  readonly name?: string
  readonly type?: string
  readonly example?: Json
  /** Whether a request needs the body; true when absent. */
  readonly required?: boolean
}

/** State with the lifetime of the server that handlers share. */
export interface App {
  readonly service: Service
  /** The one spelling of a path; undefined if no route of GET has it. */
  readonly pathOfGet: (path: string) => string | undefined
  readonly isReady: () => Promise<Readiness>
  readonly metricsText: () => Promise<string>
  readonly openapiText: () => string
  readonly docsPage: () => Page
  /** The files of the page by name; undefined where it is turned off or was not built. */
  readonly ui: () => ReadonlyMap<string, UiFile> | undefined
  /** How users of the page sign in, where that is configured. */
  readonly oidc: OidcSettings | undefined
}

/** One built file of the page. */
export interface UiFile {
  readonly bytes: Uint8Array
  /** Absent for files that are compressed already. */
  readonly gzip: Uint8Array | undefined
  readonly etag: string
  readonly type: string
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
  /** The undecoded query string; most routes never parse it. */
  readonly search: string
  readonly body: Json | undefined
  /** Present in routes that read their body as it arrives. */
  readonly upload?: Upload | undefined
  /** The `Accept` header. */
  readonly accept: string
  /** The headers that the route declares, by name in lower case. */
  readonly headers: Params
  readonly getSignal: GetSignal
  /** The budget of the request. */
  readonly work: Work
  /** The account for shared resources. */
  readonly chargedTo?: string | undefined
  /** Runs a part of the request in a worker thread, where it is too much for the main thread. */
  readonly offload?: Offload | undefined
  /** The same for a record of an import. */
  readonly offloadRecord?: OffloadRecord | undefined
  /** The `Idempotency-Key` header of a write. */
  readonly idempotency?: Idempotency | undefined
  /** Aborted when the server shuts down. */
  readonly ending: AbortSignal
  /** The `Last-Event-ID` header: the number of the last event that the caller received. */
  readonly lastEventId: string | undefined
}

/** A body of any size, read as it arrives. */
export interface Upload {
  /** The media type, in lower case and without parameters; empty if the caller sent none. */
  readonly type: string
  readonly chunks: AsyncIterable<Uint8Array>
  /** Levels of nesting in one document. */
  readonly maxDepth: number
  /** The budget for one part of the body, as if it were a request of its own. */
  readonly startWork: () => Work
}

export type Params = Readonly<Record<string, string | undefined>>

export interface Reply {
  readonly status: number
  /** Text, text encoded as UTF-8, or parts of a text. */
  readonly text: string | Uint8Array | JsonTextParts
  readonly type?: string
  /** The policy for browsers; when absent, they may do nothing with it. */
  readonly contentSecurityPolicy?: string
  /** When absent, nobody may keep it. */
  readonly cacheControl?: string
  /** Names and values in turn, in the form of `writeHead`. */
  readonly headers?: readonly string[]
}

/** A response that is sent line by line as it is produced. */
export interface StreamReply {
  readonly lines: AsyncIterable<string>
  /** Whether reading the lines writes documents. */
  readonly isWrite?: boolean
}

/** A response without an end: events as they occur, until the signal is aborted. */
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

/** The first answer to a write with an idempotency key, or its repetition. */
export function onceReply({ status, text, isRepeated }: OnceAnswer): Reply {
  return isRepeated ? { status, text, headers: REPLAYED } : { status, text }
}

export const REPLAYED: readonly string[] = ['Idempotency-Replayed', 'true']

/** Whether a request changes something, so that an idempotency key has a meaning. */
export function isWrite({ method, isRead = false }: Pick<Route, 'method' | 'isRead'>): boolean {
  return method !== 'GET' && !isRead
}

export function targetOf(call: Pick<Call, 'params'> & ContextOfCall): Target {
  const { entity = '', version } = call.params
  const context = contextOf(call)
  return version === undefined ? { ...context, entity } : { ...context, entity, version }
}

type ContextOfCall = Pick<Call, 'getSignal' | 'work' | 'chargedTo' | 'offload' | 'idempotency'>

/** The part of a call that is independent of its operation. */
export function contextOf(call: ContextOfCall): RequestContext {
  const { getSignal, work, chargedTo, offload, idempotency } = call
  return { getSignal, work, chargedTo, offload, idempotency }
}

/** Whether errors of a path have the envelope of data responses; those of other paths are plain error objects. */
export function isDataPath(path: string): boolean {
  return path.startsWith('/data/')
}
