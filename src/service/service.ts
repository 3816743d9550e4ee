/** Everything Smalt can do, as functions of a caller and a request; HTTP is one way to reach it. */
import type { Caller } from '../access/caller.ts'
import type { Json } from '../base/json/json.ts'
import type { Work } from '../base/work/work.ts'
import type { GetSignal } from './deps.ts'
import type { LockResult } from './locks.ts'
import type { Loan } from '../base/work/loan.ts'
import type { DataResponse, JsonText } from './response.ts'

/** What the path of a data request names, and whether somebody still waits for the answer. */
export interface Target {
  readonly entity: string
  readonly version?: string
  readonly getSignal?: GetSignal
  /** The clock and the budget of the request; it gets its own when absent. */
  readonly work?: Work
  /** Who is charged for shared resources, such as reader threads. */
  readonly chargedTo?: string
  /** Has another thread do what is too much for this one; absent where there is none, or where this is that thread. */
  readonly offload?: Offload
}

/** Runs an operation from its start in another thread. */
export type Offload = (operation: string, target: Target, body: Json) => Promise<Offloaded>

export interface Offloaded {
  /** Of its response document. */
  readonly text: JsonText
  /** Whether its answer was too large for what it may have. */
  readonly hasExceededResponse: boolean
}

/** What belongs to a request rather than to what it asks for. */
export type RequestContext = Pick<Target, 'getSignal' | 'work' | 'chargedTo' | 'offload'>

export interface SearchTarget extends Target {
  /** Of the saved search. */
  readonly name: string
}

export interface HistoryTarget extends Target {
  /** `_id` of the document, as text. */
  readonly id: string
}

type VersionTarget = Required<Pick<Target, 'entity' | 'version'>>

export interface Service extends AsyncDisposable {
  readonly data: DataService
  readonly metadata: MetadataService
  readonly events: EventService
  readonly sinks: SinkService
  readonly store: { readonly kind: string; readonly description: string; readonly location: string }
  /** Resolves when stores and metadata are usable, and fails with the reason when not. */
  ready(): Promise<void>
  /** Of the metadata in use; rises with every change. */
  epoch(): number
  /** Reads metadata again unless it is at least this recent; always, without an epoch. */
  refresh(epoch?: number): Promise<void>
  /** Lends the right to write to an embedded datasource to another thread of this process. */
  lendWriter(datasource: string): Promise<Loan>
}

export type PrecheckedOperation = 'find' | 'explain' | 'insert' | 'save' | 'update' | 'delete'

/** Data operations never throw what a caller can cause: errors stand in the response document. */
export interface DataService {
  find(caller: Caller, target: Target, body: Json | undefined): Promise<DataResponse>
  /** Lines of NDJSON at the pace of the reader; what fails before the first document is an ordinary response. */
  stream(
    caller: Caller,
    target: Target,
    body: Json | undefined,
  ): Promise<AsyncIterable<JsonText> | DataResponse>
  explain(caller: Caller, target: Target, body: Json | undefined): Promise<DataResponse>
  insert(caller: Caller, target: Target, body: Json | undefined): Promise<DataResponse>
  save(caller: Caller, target: Target, body: Json | undefined): Promise<DataResponse>
  update(caller: Caller, target: Target, body: Json | undefined): Promise<DataResponse>
  delete(caller: Caller, target: Target, body: Json | undefined): Promise<DataResponse>
  /** The GET forms: `Q`, `P`, `S`, `from`, `to`, `maxResults`, `asOf`. */
  simpleFind(caller: Caller, target: Target, parameters: URLSearchParams): Promise<DataResponse>
  simpleExplain(caller: Caller, target: Target, parameters: URLSearchParams): Promise<DataResponse>
  generate(caller: Caller, target: Target, field: string, n: string | undefined): Promise<DataResponse>
  /** The versions of a document, oldest first; by `from`, `to` and `maxResults`. */
  history(caller: Caller, target: HistoryTarget, parameters: URLSearchParams): Promise<DataResponse>
  /** Throws a ServiceError only when the bulk as a whole is unusable. */
  bulk(caller: Caller, body: Json | undefined, context?: RequestContext): Promise<JsonText>
  /**
   * Throws where no request of this kind can be allowed, whatever its body says. Without a version in the path the body
   * may name one, so then all versions count.
   */
  precheck(caller: Caller, target: Target, operation: PrecheckedOperation): void
  /** One document of a find, as a line of its stream; empty when it is gone. */
  line(caller: Caller, target: Target, body: Json | undefined): Promise<JsonText>
  /** Runs a saved search; the body holds values by parameter, `overrides` may be `P`, `S`, `from`, `to`, `maxResults`. */
  search(
    caller: Caller,
    target: SearchTarget,
    body: Json | undefined,
    overrides: URLSearchParams,
  ): Promise<DataResponse>
  /** The GET form: values and overrides together. */
  simpleSearch(caller: Caller, target: SearchTarget, parameters: URLSearchParams): Promise<DataResponse>
  /** The saved searches of an entity. */
  searches(caller: Caller, target: Target, parameters: URLSearchParams): Promise<DataResponse>
  /** Throws ServiceErrors: the answer is one value and no response document. */
  lock(caller: Caller, body: Json | undefined): Promise<LockResult>
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
  /** Whether somebody with these roles may do something, and which list decides. */
  explainAccess(caller: Caller, body: Json | undefined): Json
  /** Who may do what to which field. */
  access(caller: Caller, entity: string, version?: string): Json
  lint(caller: Caller, entity: string): Json
  history(caller: Caller, entity: string): Promise<Json>
  create(caller: Caller, target: VersionTarget, body: Json | undefined): Promise<Json>
  createSchema(caller: Caller, target: VersionTarget, body: Json | undefined): Promise<Json>
  updateInfo(caller: Caller, entity: string, body: Json | undefined): Promise<Json>
  setStatus(
    caller: Caller,
    target: VersionTarget,
    change: { readonly status: string; readonly comment?: string },
  ): Promise<Json>
  setDefault(caller: Caller, target: VersionTarget): Promise<Json>
  clearDefault(caller: Caller, entity: string): Promise<Json>
  remove(caller: Caller, entity: string): Promise<Json>
}

/** Event operations throw ServiceErrors; the caller receives the bare error object. */
export interface EventService {
  /** By `entity`, `hook`, `operation`, `since`, `limit`, `wait` and `datasource`. */
  read(caller: Caller, parameters: URLSearchParams, waiting?: Waiting): Promise<EventPage>
  /** What fails before the first event fails here; an iteration that fails later throws. */
  follow(caller: Caller, following: Following): Promise<AsyncIterable<FollowedEvents>>
}

/** Operations of sinks throw ServiceErrors; the caller receives the bare error object. */
export interface SinkService {
  create(caller: Caller, body: Json | undefined): Promise<Json>
  list(caller: Caller): Promise<Json>
  get(caller: Caller, name: string): Promise<Json>
  replace(caller: Caller, name: string, body: Json | undefined): Promise<Json>
  remove(caller: Caller, name: string): Promise<Json>
  /** Dead letters, by `since` and `limit`. */
  dead(caller: Caller, name: string, parameters: URLSearchParams): Promise<Json>
  inspect(caller: Caller, name: string, eventId: string): Promise<Json>
  /** One, or all. */
  redrive(caller: Caller, name: string, eventId?: string): Promise<Json>
  discard(caller: Caller, name: string, eventId: string): Promise<Json>
}

/** What ends a wait early. */
export interface Waiting {
  /** Nobody waits any more. */
  readonly getSignal?: GetSignal
  /** The server is about to end: it answers with what there is. */
  readonly ending?: AbortSignal
}

export interface EventPage {
  /** Oldest first. */
  readonly events: readonly JsonText[]
  /** To be passed as `since`. */
  readonly next: number
}

export interface Following {
  /** `entity`, `hook`, `operation`, `since` and `datasource`. */
  readonly parameters: URLSearchParams
  /** Where the caller left off; counts more than `since`. */
  readonly lastEventId: string | undefined
  /** Ends the iteration, also while it waits. */
  readonly ending: AbortSignal
}

export interface FollowedEvents {
  readonly events: readonly { readonly seq: number; readonly text: JsonText }[]
  /** To go on from, though nothing up to there may have been for this caller. */
  readonly position: number
}
