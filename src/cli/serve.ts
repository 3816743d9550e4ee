/** `smalt serve`: opens the data, listens, and ends cleanly when told to. */
import { resolve } from 'node:path'
import { openMode, refuseOpenNetwork } from '../http/credentials.ts'
import { type Log, createLog } from '../http/log.ts'
import { createMetrics } from '../http/metrics.ts'
import { type RunningServer, startServer } from '../http/server.ts'
import { VERSION } from '../http/version.ts'
import { type ServiceOptions, openService } from '../service/open.ts'
import type { Service } from '../service/service.ts'
import type { Config } from './config.ts'
import { EXIT, Exit } from './exit.ts'

/** Resolves when the service listens; from then on signals decide. */
export async function serve(config: Config): Promise<void> {
  const log = createLog(config.logLevel)
  dieOnUncaught(log)
  const auth = openMode()
  const { host, port, limits } = config
  // the server refuses this too, but only after the data has been opened, or made where there was none
  refuseOpenNetwork(auth, host)
  const metrics = createMetrics()
  const service = await open({
    dataDirectory: config.dataDirectory,
    limits,
    onStoreTiming: metrics.observeStore,
    onInternalError: (error) => log.logger.error({ err: error }, 'unexpected error'),
  })
  try {
    const server = await startServer({ service, limits, auth, log, metrics, host, port })
    endOnSignal(log, async () => {
      await server.close()
      await service[Symbol.asyncDispose]()
    })
    announce(log, config, { server, service })
  } catch (error) {
    await service[Symbol.asyncDispose]()
    throw listenProblem(error, config)
  }
}

async function open(options: ServiceOptions): Promise<Service> {
  try {
    return await openService(options)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'SMALT_LOCKED') throw new Exit(EXIT.conflict, message)
    throw new Exit(EXIT.unreachable, `the data in ${options.dataDirectory} cannot be opened: ${message}`)
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

interface Started {
  readonly server: RunningServer
  readonly service: Service
}

/** A person reads it beside the log, a machine in it. */
function announce(log: Log, { host, dataDirectory }: Config, { server, service }: Started): void {
  const api = `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${server.port}`
  const { description: store } = service.store
  const facts = { version: VERSION, api, docs: `${api}/docs`, data: resolve(dataDirectory), store }
  if (!process.stdout.isTTY) {
    log.logger.info(facts, 'listening')
    log.flush()
    return
  }
  process.stderr.write(
    `Smalt ${VERSION}\n  API    ${api}\n  docs   ${facts.docs}\n  data   ${facts.data}\n` +
      `  store  ${store}\n  roles  from the header Smalt-Roles; this machine only\n`,
  )
}

/** The first signal ends things well, the second at once. */
function endOnSignal(log: Log, end: () => Promise<void>): void {
  let isEnding = false
  const onSignal = (signal: string) => {
    if (isEnding) process.exit(EXIT.interrupted)
    isEnding = true
    log.logger.info({ signal }, 'ending')
    log.flush()
    void end().then(
      () => {
        log.logger.info('ended')
        log.close()
        process.exit(EXIT.ok)
      },
      (error: unknown) => die(log, error),
    )
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
}

function dieOnUncaught(log: Log): void {
  process.on('uncaughtException', (error) => die(log, error))
  process.on('unhandledRejection', (error) => die(log, error))
}

/** After an error nobody foresaw nothing can be trusted any more. */
function die(log: Log, error: unknown): void {
  log.logger.fatal({ err: error }, 'fatal error')
  log.close()
  process.exit(EXIT.failed)
}
