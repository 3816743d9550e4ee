/** Everything Smalt can do, as functions of a caller and a request; HTTP is one way to reach it. */
import type { Caller } from '../access/caller.ts'
import type { Json } from '../base/json.ts'
import type { HangUp } from './deps.ts'
import type { LockResult } from './locks.ts'
import type { DataResponse, JsonText } from './response.ts'

/** What the path of a data request names, and whether somebody still waits for the answer. */
export interface Target {
  readonly entity: string
  readonly version?: string
  readonly hangUp?: HangUp
}

export interface SearchTarget extends Target {
  /** Of the saved search. */
  readonly name: string
}

type VersionTarget = Required<Pick<Target, 'entity' | 'version'>>

export interface Service extends AsyncDisposable {
  readonly data: DataService
  readonly metadata: MetadataService
  readonly store: { readonly kind: string; readonly description: string; readonly location: string }
  /** Resolves when stores and metadata are usable, and fails with the reason when not. */
  ready(): Promise<void>
}

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
  /** The GET forms: `Q`, `P`, `S`, `from`, `to`, `maxResults`. */
  simpleFind(caller: Caller, target: Target, parameters: URLSearchParams): Promise<DataResponse>
  simpleExplain(caller: Caller, target: Target, parameters: URLSearchParams): Promise<DataResponse>
  generate(caller: Caller, target: Target, field: string, n: string | undefined): Promise<DataResponse>
  /** Throws a ServiceError only when the bulk as a whole is unusable. */
  bulk(caller: Caller, body: Json | undefined, hangUp?: HangUp): Promise<JsonText>
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
