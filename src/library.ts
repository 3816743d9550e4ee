/** The library interface of Smalt: open the service on its datasources, then serve it over HTTP or call it directly. */
export { type Caller, PERMISSIONS, type Permission } from './access/caller.ts'
export { type Code, type ErrorObject, ServiceError } from './base/errors.ts'
export type { Json, JsonObject } from './base/json/json.ts'
export { DEFAULT_LIMITS, type Limits } from './base/limits.ts'
export { type Authentication, OpenNetworkError } from './auth/authentication.ts'
export { createAuthentication } from './auth/create.ts'
export type { PermissionRoles } from './auth/make-caller.ts'
export { openMode } from './auth/open.ts'
export type {
  AuthSettings,
  JwtSettings,
  ProxyHeaders,
  ProxySettings,
  TokenSettings,
} from './auth/settings.ts'
export { filterToQuery, queryToFilter } from './lang/text/spellings.ts'
export { type Log, type LogLevel, createLog, logTo } from './http/observe/log.ts'
export { type Metrics, type Snapshot, createMetrics } from './http/observe/metrics.ts'
export type { Overload } from './http/observe/overload.ts'
export type { RateLimit } from './http/rate-limit.ts'
export type { ServerOptions, Tls } from './http/listener.ts'
export { type RunningServer, startServer } from './http/server.ts'
export type { SinkMeter, SinkState } from './service/sinks/deliver.ts'
export type { GetSignal } from './service/deps.ts'
export type { EventKeeping } from './service/events/retention.ts'
export type { LockResult } from './service/locks.ts'
export { type ServiceOptions, openService } from './service/open.ts'
export { type Datasource, OpenError } from './service/open/stores.ts'
export { type DataError, type DataResponse, type JsonText, printResponse } from './service/response.ts'
export type {
  DataService,
  EventPage,
  EventService,
  FollowedEvents,
  Following,
  MetadataService,
  SearchTarget,
  Service,
  Target,
  Waiting,
} from './service/service.ts'
export type { SinkService } from './service/sink-service.ts'
export { type EventSettings, type PlacedSink, readSink } from './service/sinks/sink-settings.ts'
