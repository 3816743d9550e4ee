/** All operations of Smalt, as functions of a caller and a request; HTTP is one way to call them. */
import type { Caller } from '../access/caller.ts'
import type { Json, JsonObject } from '../base/json/json.ts'
import type { Work } from '../base/work/work.ts'
import type { GetSignal } from './deps.ts'
import type { Idempotency, OnceAnswer } from './idempotency.ts'
import type { LockResult } from './locks.ts'
import type { Loan } from '../base/work/loan.ts'
import type { DataResponse, JsonText, JsonTextParts } from './response.ts'
import type { SinkService } from './sink-service.ts'
import type { SlowRequest } from './slow/slow-request.ts'

/** The target of a data request, as its path names it, with the context of the request. */
export interface Target {
  readonly entity: string
  readonly version?: string
  readonly getSignal?: GetSignal | undefined
  /** Clock and budget of the request; created if absent. */
  readonly work?: Work | undefined
  /** The caller who is charged for shared resources, such as reader threads. */
  readonly chargedTo?: string | undefined
  /** Runs work that is too much for this thread in a worker thread; absent without worker threads and inside one. */
  readonly offload?: Offload | undefined
  /** Makes a write happen once, however often it is sent. */
  readonly idempotency?: Idempotency | undefined
}

/** Runs an operation from its start in a worker thread. */
export type Offload = (operation: string, target: Target, body: Json) => Promise<Offloaded>

interface Offloaded {
  /** HTTP status. */
  readonly status: number
  /** The response document as text. */
  readonly text: JsonText
  /** Whether the response exceeded its size limit. */
  readonly hasExceededResponse: boolean
}

/** The parts of a target that belong to the request as a whole, not to its content. */
export type RequestContext = Pick<Target, 'getSignal' | 'work' | 'chargedTo' | 'offload' | 'idempotency'>

export interface SearchTarget extends Target {
  /** Name of the saved search. */
  readonly name: string
}

export interface HistoryTarget extends Target {
  /** `_id` of the document, as text. */
  readonly id: string
}

export type DocumentTarget = HistoryTarget

type VersionTarget = Required<Pick<Target, 'entity' | 'version'>>

export interface Service extends AsyncDisposable {
  readonly data: DataService
  readonly documents: DocumentService
  readonly tickets: TicketService
  readonly metadata: MetadataService
  readonly events: EventService
  readonly sinks: SinkService
  readonly backups: BackupService
  readonly slow: SlowService
  /** What a change of metadata would answer and do; nothing is written. */
  readonly rehearseMetadata: (rehearsing: Rehearsing) => Promise<Json>
  /** Writes with an idempotency key. */
  readonly once: OnceService
  readonly store: { readonly kind: string; readonly description: string; readonly location: string }
  /** Resolves when stores and metadata are usable; otherwise fails with the reason. */
  ready(): Promise<void>
  /** Epoch of the metadata in use; increases with every change. */
  epoch(): number
  /** Reloads metadata unless it is at least as recent as this epoch; without an epoch always. */
  refresh(epoch?: number): Promise<void>
  /** Lends the right to write to an embedded datasource to another thread of this process. */
  lendWriter(datasource: string): Promise<Loan>
}

/** Writes that happen once for each idempotency key; a repetition gets the first answer again. */
export interface OnceService {
  /** The claims on which the rights of the caller depend, by path; those of a repetition must be the same. */
  decidingClaims(caller: Caller): JsonObject
  data(
    caller: Caller,
    write: { readonly operation: KeyedOperation; readonly target: Target; readonly body: Json | undefined },
    idempotency: Idempotency,
  ): Promise<OnceAnswer>
  /** The context has the key. */
  bulk(caller: Caller, body: Json | undefined, context: RequestContext): Promise<OnceAnswer>
  /** The same. */
  lock(caller: Caller, body: Json | undefined, context: RequestContext): Promise<OnceAnswer>
  document(
    caller: Caller,
    change: {
      readonly target: Target
      readonly write: (documents: DocumentService) => Promise<DocumentReply>
    },
    idempotency: Idempotency,
  ): Promise<DocumentReply & { readonly isRepeated: boolean }>
  metadata(
    caller: Caller,
    idempotency: Idempotency,
    change: (metadata: MetadataService) => Promise<Json>,
  ): Promise<OnceAnswer>
}

export interface Rehearsing {
  readonly caller: Caller
  readonly change: (metadata: MetadataService) => Promise<Json>
  readonly work?: Work
}

export type KeyedOperation = 'insert' | 'save' | 'update' | 'delete'

export type PrecheckedOperation = 'find' | 'aggregate' | 'explain' | 'insert' | 'save' | 'update' | 'delete'

/** Data operations never throw errors that a caller can cause: those are part of the response document. */
export interface DataService {
  find(caller: Caller, target: Target, body: Json | undefined): Promise<DataResponse>
  /** Groups of documents, or of elements of their arrays, with values computed for each group. */
  aggregate(caller: Caller, target: Target, body: Json | undefined): Promise<DataResponse>
  /** Lines of NDJSON with backpressure. A failure before the first document is an ordinary response. */
  stream(
    caller: Caller,
    target: Target,
    body: Json | undefined,
  ): Promise<AsyncIterable<JsonText> | DataResponse>
  /** Explains a find, or an aggregate if the body has `groupBy`, `values` or `having`. */
  explain(caller: Caller, target: Target, body: Json | undefined): Promise<DataResponse>
  insert(caller: Caller, target: Target, body: Json | undefined): Promise<DataResponse>
  save(caller: Caller, target: Target, body: Json | undefined): Promise<DataResponse>
  update(caller: Caller, target: Target, body: Json | undefined): Promise<DataResponse>
  delete(caller: Caller, target: Target, body: Json | undefined): Promise<DataResponse>
  /** The GET forms: `Q` or `filter`, `P`, `S`, `from`, `to`, `maxResults`, `asOf`. */
  simpleFind(caller: Caller, target: Target, parameters: URLSearchParams): Promise<DataResponse>
  simpleExplain(caller: Caller, target: Target, parameters: URLSearchParams): Promise<DataResponse>
  generate(caller: Caller, target: Target, field: string, n: string | undefined): Promise<DataResponse>
  /** The versions of a document, oldest first; by `from`, `to` and `maxResults`. */
  history(caller: Caller, target: HistoryTarget, parameters: URLSearchParams): Promise<DataResponse>
  /** Throws a ServiceError only if the bulk as a whole is invalid. */
  bulk(caller: Caller, body: Json | undefined, context?: RequestContext): Promise<JsonText>
  /** The same in parts, which are sent one after the other. */
  bulkInParts(caller: Caller, body: Json | undefined, context?: RequestContext): Promise<JsonTextParts>
  /**
   * Throws if no request of this kind can be allowed, whatever its body is. If the path names no version, the
   * body may name one, so all versions are checked.
   */
  precheck(caller: Caller, target: Target, operation: PrecheckedOperation): void
  /** One document of a find, as a line of its stream; empty if the document has been deleted. */
  line(caller: Caller, target: Target, body: Json | undefined): Promise<JsonText>
  /**
   * Runs a saved search. The body maps parameters to values; `overrides` may be `P`, `S`, `from`, `to`,
   * `maxResults`.
   */
  search(
    caller: Caller,
    target: SearchTarget,
    body: Json | undefined,
    overrides: URLSearchParams,
  ): Promise<DataResponse>
  /** The GET form: values and overrides together. */
  simpleSearch(caller: Caller, target: SearchTarget, parameters: URLSearchParams): Promise<DataResponse>
  searches(caller: Caller, target: Target, parameters: URLSearchParams): Promise<DataResponse>
  /** Throws ServiceErrors, because its result is one value and not a response document. */
  lock(caller: Caller, body: Json | undefined, context?: RequestContext): Promise<LockResult>
}

/** Headers by name. */
export type Credentials = Readonly<Record<string, string>>

export interface TicketService {
  /** The body names the path that the ticket is for; `canonical` returns the one spelling of it, or throws. */
  issue(body: Json | undefined, credentials: Credentials, canonical: (path: string) => string): string
  /** The credentials that a ticket stands for; undefined if it is for another path than this spelling, or has expired. */
  open(ticket: string, path: string): Credentials | undefined
}

/** What a request for plain documents says besides its path and its body. */
export interface DocumentOptions {
  readonly parameters: URLSearchParams
  readonly ifMatch?: string | undefined
  readonly ifNoneMatch?: string | undefined
  readonly prefer?: string | undefined
}

export interface DocumentReply {
  readonly status: number
  readonly text: JsonText
  /** Names and values in turn. */
  readonly headers: readonly string[]
}

/** Plain documents. Throws ServiceErrors; faults of the document itself are replies with their status. */
export interface DocumentService {
  list(caller: Caller, target: Target, options: DocumentOptions): Promise<DocumentReply>
  get(caller: Caller, target: DocumentTarget, options: DocumentOptions): Promise<DocumentReply>
  create(
    caller: Caller,
    target: Target,
    body: Json | undefined,
    options: DocumentOptions,
  ): Promise<DocumentReply>
  replace(
    caller: Caller,
    target: DocumentTarget,
    body: Json | undefined,
    options: DocumentOptions,
  ): Promise<DocumentReply>
  /** The body is a JSON Merge Patch. */
  patch(
    caller: Caller,
    target: DocumentTarget,
    body: Json | undefined,
    options: DocumentOptions,
  ): Promise<DocumentReply>
  remove(caller: Caller, target: DocumentTarget, options: DocumentOptions): Promise<DocumentReply>
}

export interface MetadataWriteOptions {
  /** Refuses keys without a meaning instead of keeping them. */
  readonly isStrict?: boolean
}

/** Metadata operations throw ServiceErrors; the caller receives the bare error object. */
export interface MetadataService {
  names(caller: Caller, statuses: string | undefined): Json
  versions(caller: Caller, entity: string): Json
  /** `version` may be `default`. */
  get(caller: Caller, entity: string, version: string): Json
  diff(caller: Caller, entity: string, versions: readonly [string, string]): Json
  roles(caller: Caller, entity?: string, version?: string): Json
  dependencies(caller: Caller, entity?: string, version?: string): Json
  /** Whether a caller with these roles may do an operation, and which access list decides. */
  explainAccess(caller: Caller, body: Json | undefined): Json
  /** A table of the roles that may do each operation on each field. */
  access(caller: Caller, entity: string, version?: string): Json
  lint(caller: Caller, entity: string): Json
  history(caller: Caller, entity: string): Promise<Json>
  create(
    caller: Caller,
    target: VersionTarget,
    body: Json | undefined,
    options?: MetadataWriteOptions,
  ): Promise<Json>
  /** The body is a list of metadata documents, which are created together or not at all. */
  createAll(caller: Caller, body: Json | undefined, options?: MetadataWriteOptions): Promise<Json>
  createSchema(
    caller: Caller,
    target: VersionTarget,
    body: Json | undefined,
    options?: MetadataWriteOptions,
  ): Promise<Json>
  updateInfo(
    caller: Caller,
    entity: string,
    body: Json | undefined,
    options?: MetadataWriteOptions,
  ): Promise<Json>
  setStatus(
    caller: Caller,
    target: VersionTarget,
    change: { readonly status: string; readonly comment?: string },
  ): Promise<Json>
  setDefault(caller: Caller, target: VersionTarget): Promise<Json>
  clearDefault(caller: Caller, entity: string): Promise<Json>
  remove(caller: Caller, entity: string, options?: RemoveOptions): Promise<Json>
}

export interface RemoveOptions {
  /** What becomes of the documents; absent: the removal fails if there are any. */
  readonly documents?: 'delete' | 'keep'
}

/** Backups of all datasources, into the configured directory. */
export interface BackupService {
  make(caller: Caller): Promise<Json>
}

/** Slow requests of this process. Throws ServiceErrors. */
export interface SlowService {
  /** The one that ended last comes first. */
  list(caller: Caller): Json
  /** Keeps one that a worker thread has noted. */
  readonly note: (slow: SlowRequest) => void
}

/** An event by its number, in the log of a datasource. */
export interface EventNumber {
  readonly datasource: string
  readonly seq: number
}

export interface RenderedEvent {
  /** As JSON; empty if nothing of it is visible to the caller. */
  readonly text: JsonText
  /** Of the metadata by which it was rendered. */
  readonly epoch: number
}

/** The signal is aborted when nobody waits for the event any more. */
export type RenderEvent = (event: EventNumber, caller: Caller, signal?: AbortSignal) => Promise<RenderedEvent>

/** Event operations throw ServiceErrors; the caller receives the bare error object. */
export interface EventService {
  /** One event as the caller sees it: what worker threads do for `renderLargeBy`. */
  readonly render: RenderEvent
  /** From now on, large events are rendered by `render`, so that this thread is not busy with them. */
  renderLargeBy(render: RenderEvent): void
  /** By `entity`, `hook`, `operation`, `since`, `limit`, `wait` and `datasource`. */
  read(caller: Caller, parameters: URLSearchParams, waiting?: Waiting): Promise<EventPage>
  /** Fails if the first read fails; a later failure is thrown by the iteration. */
  follow(caller: Caller, following: Following): Promise<AsyncIterable<FollowedEvents>>
}

/** Signals that end a wait early. */
export interface Waiting {
  /** Aborted when the caller disconnects. */
  readonly getSignal?: GetSignal
  /** Aborted when the server is about to stop: the wait then ends with the events found so far. */
  readonly ending?: AbortSignal
}

export interface EventPage {
  /** Oldest first. */
  readonly events: readonly JsonText[]
  /** The `since` of the next page. */
  readonly next: number
}

export interface Following {
  /** `entity`, `hook`, `operation`, `since` and `datasource`. */
  readonly parameters: URLSearchParams
  /** The last event that the caller received; overrides `since`. */
  readonly lastEventId: string | undefined
  /** Ends the iteration, also while it waits. */
  readonly ending: AbortSignal
}

export interface FollowedEvents {
  readonly events: readonly { readonly seq: number; readonly text: JsonText }[]
  /** Where to resume; possibly no event up to this number was visible to the caller. */
  readonly position: number
}
