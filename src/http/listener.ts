/** State that all requests share: the service, routes, worker threads, and limits per caller. */
import { setMaxListeners } from 'node:events'
import type { Authentication } from '../auth/authentication.ts'
import type { OidcSettings } from '../auth/settings.ts'
import type { Limits } from '../base/limits.ts'
import { parseLocation } from '../base/location.ts'
import { once } from '../base/memo.ts'
import type { Dialect } from '../service/dialect.ts'
import type { Service } from '../service/service.ts'
import type { Gate } from './admission.ts'
import { type Compatibility, dialectFor, ignoresBodyOfGet, routesFor } from './compatibility.ts'
import { allowOrigins } from './cors.ts'
import { docsPage } from './routes/docs-page.ts'
import type { Bound } from './exchange.ts'
import type { Log } from './observe/log.ts'
import type { Meter, Metrics } from './observe/metrics.ts'
import { openapiDocument } from './routes/openapi.ts'
import { type Overload, watchEventLoop } from './observe/overload.ts'
import { type RateLimit, limitRate } from './rate-limit.ts'
import { cachedReadiness } from './readiness.ts'
import type { App, Route } from './routes/route.ts'
import { canonicalPath, createRouter } from './routes/router.ts'
import { UI_ROUTES } from './routes/ui-routes.ts'
import { Share } from './share.ts'
import { offloadEvents, offloadSinkEvents } from './threads/offloading.ts'
import { type ThreadOptions, type Threads, createThreads } from './threads/pool.ts'
import { readBuiltFiles } from './ui/built-files.ts'

export interface ServerOptions {
  readonly service: Service
  readonly limits: Limits
  readonly auth: Authentication
  readonly log: Log
  readonly metrics: Metrics
  readonly host: string
  /** 0 selects a free port. */
  readonly port: number
  readonly overload?: Overload
  /** Our own form and routes when absent. */
  readonly compatibility?: Compatibility | undefined
  /** Origins whose pages may send requests; none when absent. */
  readonly origins?: readonly string[]
  /** No limit when absent. */
  readonly rateLimit?: RateLimit | undefined
  /** Whether metrics are readable without authentication. */
  readonly isMetricsPublic?: boolean
  /** Whether the page is served; true when absent. */
  readonly isUiEnabled?: boolean
  /** How users of the page sign in; by pasting a token only when absent. */
  readonly oidc?: OidcSettings | undefined
  /** Plain HTTP when absent. */
  readonly tls?: Tls | undefined
  /** Datasources that worker threads open for their copy of the service; no worker threads when absent. */
  readonly threads?: (Pick<ThreadOptions, 'datasources' | 'idleMs'> & InlineBodies) | undefined
}

interface InlineBodies {
  /** Worker threads process larger bodies; the limit depends on the route when absent. */
  readonly inlineBodyBytes?: number
}

/** PEM texts. */
export interface Tls {
  readonly cert: string
  readonly key: string
  /** The certificate authority of client certificates; none are requested when absent. */
  readonly ca?: string | undefined
}

/** State with the lifetime of the server that requests use. */
export interface Listener extends Gate {
  readonly app: App
  readonly dialect: Dialect
  readonly limits: Limits
  readonly log: Log
  readonly unmatched: Meter
  readonly threads: Threads | undefined
  readonly inlineBodyBytes: number | undefined
  readonly shares: Shares
  /** Idempotency keys of requests in progress, with the callers' names. */
  readonly runningKeys: Set<string>
  /** Resolves once in each iteration of the event loop, so that several large bodies are not parsed in one. */
  readonly ownIteration: () => Promise<void>
  /** Aborted at shutdown, to end responses without an end of their own. */
  readonly ending: AbortController
  isDraining: boolean
}

/** Limits that callers share for the duration of their requests. */
type Shares = Readonly<Record<'unsent' | 'uploads' | 'streams' | 'followers', Share>>

export function createListener(options: ServerOptions): Listener {
  const { service, limits, auth, log, metrics, overload, rateLimit } = options
  const { isUiEnabled = true } = options
  const routes = routesFor(options.compatibility).filter((route) => isUiEnabled || !UI_ROUTES.includes(route))
  const bind = (route: Route): Bound => ({ route, meter: metrics.meterOf(route.method, route.path) })
  const router = createRouter(routes, bind)
  const app: App = {
    service,
    pathOfGet: (path) => {
      const match = router(path)
      return match?.resource.byMethod['GET'] && canonicalPath(match.resource.template, match.params)
    },
    isReady: cachedReadiness(service),
    metricsText: metrics.text,
    openapiText: once(() => JSON.stringify(openapiDocument(routes))),
    docsPage: once(() => docsPage(routes)),
    ui: once(() => (isUiEnabled ? readBuiltFiles() : undefined)),
    oidc: options.oidc,
  }
  const threads = options.threads && createThreads(threadOptions(options, options.threads))
  if (threads) {
    service.events.renderLargeBy(offloadEvents(threads, limits))
    service.sinks.renderLargeBy(offloadSinkEvents(threads, limits))
  }
  return {
    app,
    dialect: dialectFor(options.compatibility, (message) => log.logger.warn(message)),
    auth,
    limits,
    log,
    overload: overload ?? watchEventLoop(),
    router,
    cors: allowOrigins(options.origins ?? []),
    take: rateLimit && limitRate(rateLimit),
    isMetricsPublic: options.isMetricsPublic ?? false,
    tickets: service.tickets,
    ignoresBodyOfGet: ignoresBodyOfGet(options.compatibility),
    unmatched: metrics.meterOf('', UNMATCHED),
    inlineBodyBytes: options.threads?.inlineBodyBytes,
    threads,
    shares: {
      unsent: new Share(limits.unsentBytes),
      uploads: new Share(limits.uploadBytes),
      streams: new Share(limits.streams),
      followers: new Share(limits.followers),
    },
    runningKeys: new Set(),
    ownIteration: iterations(),
    ending: endingSignal(),
    isDraining: false,
  }
}

function iterations(): () => Promise<void> {
  let last = Promise.resolve()
  return () => (last = last.then(() => new Promise((resolve) => setImmediate(resolve))))
}

function threadOptions(
  { service, limits, log, metrics, compatibility }: ServerOptions,
  threads: NonNullable<ServerOptions['threads']>,
): ThreadOptions {
  return {
    ...threads,
    limits,
    compatibility,
    isEmbedded: threads.datasources.every(({ location }) => parseLocation(location)?.kind === 'sqlite'),
    epoch: () => service.epoch(),
    lend: (datasource) => service.lendWriter(datasource),
    onInternalError: (error) => log.logger.error({ err: error }, 'unexpected error'),
    onWarning: (message) => log.logger.warn(message),
    onStoreTiming: metrics.observeStore,
    onSlow: (slow) => service.slow.note(slow),
  }
}

/** Every waiting request may add a listener, so their number is not limited. */
function endingSignal(): AbortController {
  const ending = new AbortController()
  setMaxListeners(0, ending.signal)
  return ending
}

export const UNMATCHED = '(none)'
