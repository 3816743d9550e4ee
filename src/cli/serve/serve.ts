/** `smalt serve`: opens the stores, listens, and shuts down cleanly on a signal. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { AuthSettings } from '../../auth/settings.ts'
import { ServiceError, messageForOperator } from '../../base/errors.ts'
import { maskLocation, parseLocation } from '../../base/location.ts'
import { createAuthentication } from '../../auth/create.ts'
import { refuseOpenNetwork } from '../../auth/open.ts'
import { type Log, createLog } from '../../http/observe/log.ts'
import { type Metrics, createMetrics } from '../../http/observe/metrics.ts'
import type { Tls } from '../../http/listener.ts'
import { formFor } from '../../http/compatibility.ts'
import { startServer } from '../../http/server.ts'
import { VERSION } from '../../http/version.ts'
import { type ServiceOptions, openService } from '../../service/open.ts'
import { beneath } from '../../service/move/move-error.ts'
import { OpenError } from '../../service/open/stores.ts'
import type { Service } from '../../service/service.ts'
import type { Config, TlsFiles } from '../config/config.ts'
import { ConfigError } from '../config/config-error.ts'
import { EXIT, Exit, OPEN_EXITS } from '../exit.ts'

/** Resolves when the service listens. It then runs until a signal arrives. */
export async function serve(config: Config): Promise<void> {
  const log = createLog(config.logLevel)
  dieOnUncaught(log)
  const listening = await listen(config, log, createMetrics())
  endOnSignal(log, listening.end, () => undefined)
  announce(log, config, listening)
}

export interface Listening {
  readonly port: number
  /** A description of the store for people: engine and durability. */
  readonly store: string
  /** Completes requests that are under way and closes the stores. */
  readonly end: () => Promise<void>
}

export async function listen(config: Config, log: Log, metrics: Metrics): Promise<Listening> {
  const { host, port, limits, datasources, events, backup, rateLimit, compatibility } = config
  returnMemoryAtOnce()
  // the server checks this too, but only after the stores were opened, or created
  refuseOpenNetwork(config.auth, host)
  const tls = config.tls && readTls(config.tls)
  const auth = await createAuthentication(config.auth, (error) =>
    log.logger.error({ err: error }, 'what credentials are checked by cannot be had'),
  )
  const service = await open({
    datasources,
    limits,
    ...formFor(compatibility, (message) => log.logger.warn(message)),
    events,
    ...(backup && { backup }),
    offloads: true,
    onStoreTiming: metrics.observeStore,
    sinkMeter: metrics.sinks,
    onWarning: (message) => log.logger.warn(message),
    onInternalError: (error) => {
      if (error instanceof ServiceError) warnOf(log, error)
      else log.logger.error({ err: error }, 'unexpected error')
    },
  })
  try {
    const { origins } = config.auth
    const isMetricsPublic = config.metrics === 'public'
    const options = { service, limits, auth, log, metrics, host, port }
    const server = await startServer({
      ...options,
      compatibility,
      origins,
      rateLimit,
      isMetricsPublic,
      isUiEnabled: config.isUiEnabled,
      oidc: config.oidc,
      tls,
      threads: { datasources },
    })
    return {
      port: server.port,
      store: service.store.description,
      async end() {
        await server.close()
        await service[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await service[Symbol.asyncDispose]()
    throw listenProblem(error, config)
  }
}

/** An unavailable store is an expected error: the operator needs its cause, and the stacks only to debug. */
function warnOf({ logger }: Log, error: ServiceError): void {
  const message = messageForOperator(error)
  logger.warn(message === error.message ? `${message}${beneath(error)}` : message)
  logger.debug({ err: error }, 'the stacks of this warning')
}

async function open(options: ServiceOptions): Promise<Service> {
  try {
    return await openService(options)
  } catch (error) {
    if (!(error instanceof OpenError)) throw error
    if (error.reason === 'locked') throw new Exit(EXIT.conflict, (error.cause as Error).message)
    throw new Exit(OPEN_EXITS[error.reason], error.message)
  }
}

function readTls({ cert, key, ca }: TlsFiles): Tls {
  try {
    const [certText, keyText] = [readFileSync(cert, 'utf8'), readFileSync(key, 'utf8')]
    return { cert: certText, key: keyText, ca: ca === undefined ? undefined : readFileSync(ca, 'utf8') }
  } catch (error) {
    throw new ConfigError(`the files of tls cannot be read: ${(error as Error).message}`)
  }
}

function listenProblem(error: unknown, { host, port }: Config): Exit {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') {
    return new Exit(
      EXIT.conflict,
      `port ${port} on ${host} is in use; choose another with --port, or 0 for a free one`,
    )
  }
  return new Exit(EXIT.failed, `cannot listen on ${host} port ${port}: ${message}`)
}

/** On a terminal the message goes beside the log, otherwise into it. */
export function announce(
  log: Log,
  { host, datasources, workers, auth, tls, isUiEnabled }: Config,
  { port, store }: Omit<Listening, 'end'>,
): void {
  const api = `${tls ? 'https' : 'http'}://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`
  const [first, ...others] = datasources.map(({ name, location }) => ({
    name,
    data: shownLocation(location),
  }))
  const facts = { version: VERSION, api, docs: `${api}/docs`, data: first!.data, store }
  const page = isUiEnabled ? { page: `${api}/ui` } : {}
  const more = {
    ...page,
    ...(others.length > 0 && { datasources: others.map(({ name, data }) => `${name}=${data}`) }),
    ...(workers > 1 && { workers }),
  }
  if (!process.stdout.isTTY) {
    log.logger.info({ ...facts, ...more }, 'listening')
    log.flush()
    return
  }
  process.stderr.write(
    `Smalt ${VERSION}\n  API    ${api}\n${page.page === undefined ? '' : `  page   ${page.page}\n`}  docs   ${facts.docs}\n  data   ${facts.data}\n` +
      others.map(({ name, data }) => `         ${name}: ${data}\n`).join('') +
      `  store  ${store}\n  ${whoAsks(auth)}\n` +
      (workers > 1 ? `  works  in ${workers} processes\n` : ''),
  )
}

function whoAsks({ isOpen, tokens, jwt, proxy, hasCertificates }: AuthSettings): string {
  const modes = [
    ...(tokens ? ['tokens'] : []),
    ...(jwt ? ['jwt'] : []),
    ...(proxy ? ['proxy'] : []),
    ...(hasCertificates ? ['client certificates'] : []),
  ]
  const open = 'roles  from the header Smalt-Roles; this machine only'
  if (modes.length === 0) return open
  return `auth   ${modes.join(', ')}${isOpen ? `\n  ${open}` : ''}`
}

/** The absolute directory, or the URL without its password. */
function shownLocation(location: string): string {
  const parsed = parseLocation(location)
  return parsed?.kind === 'sqlite' ? resolve(parsed.directory) : maskLocation(location)
}

/** The first signal shuts down cleanly, the second exits at once. */
export function endOnSignal(log: Log, end: () => Promise<void>, abandon: () => void): void {
  let isEnding = false
  const onSignal = (signal: string) => {
    if (isEnding) {
      abandon()
      process.exit(EXIT.interrupted)
    }
    isEnding = true
    log.logger.info({ signal }, 'ending')
    log.flush()
    void end().then(
      () => leave(log),
      (error: unknown) => die(log, error),
    )
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
}

async function leave(log: Log): Promise<void> {
  log.logger.info('ended')
  await log.close()
  process.exit(EXIT.ok)
}

export function dieOnUncaught(log: Log): void {
  process.on('uncaughtException', (error) => die(log, error))
  process.on('unhandledRejection', (error) => die(log, error))
}

/**
 * After an unexpected error the state of the process cannot be trusted, so it exits; the log is flushed on
 * exit.
 */
export function die(log: Log, error: unknown): void {
  log.logger.fatal({ err: error }, 'fatal error')
  process.exit(EXIT.failed)
}

/**
 * V8 keeps pages that it has freed for eight seconds: tens of megabytes under a load with much garbage, such as an export.
 * `NODE_OPTIONS` does not accept the flag.
 */
function returnMemoryAtOnce(): void {
  // an older V8 has neither the pool nor the flag, and would complain
  if (Number(process.versions.node.split('.')[0]) >= 26) setFlagsFromString('--memory-pool-timeout=0')
}
