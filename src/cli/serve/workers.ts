/**
 * Several processes behind one port: the primary starts the workers, replaces crashed ones, and ends them
 * together.
 */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { refuseOpenNetwork } from '../../auth/open.ts'
import { type Log, logTo, createLog } from '../../http/observe/log.ts'
import type { Snapshot } from '../../http/observe/metrics.ts'
import type { Config } from '../config/config.ts'
import { EXIT } from '../exit.ts'
import { type Listening, announce, dieOnUncaught, endOnSignal } from './serve.ts'
import { forwardLines } from './forward-lines.ts'
import { type FromWorker, type ToWorker, createPending } from './worker-messages.ts'
import { work } from './worker.ts'

/** Resolves when the service listens. It then runs until a signal arrives. */
export async function serveByWorkers(config: Config): Promise<void> {
  if (cluster.isWorker) await work(config)
  else await runPrimary(config)
}

async function runPrimary(config: Config): Promise<void> {
  refuseOpenNetwork(config.auth, config.host)
  const { isTTY } = process.stdout
  // the primary writes the lines of all processes, so that lines do not mix
  const log = isTTY ? createLog(config.logLevel) : logTo(process.stdout, config.logLevel)
  dieOnUncaught(log)
  const port = config.port === 0 ? await freePort(config.host) : config.port
  cluster.setupPrimary({
    // the last --port overrides earlier ones
    args: [...process.argv.slice(2), '--port', String(port)],
    stdio: ['inherit', isTTY ? 'inherit' : 'pipe', 'inherit', 'ipc'],
  })
  const pool = createWorkerPool(config.workers, log)
  endOnSignal(log, pool.end, pool.kill)
  announce(log, config, await pool.begin())
}

/** The primary chooses the port: if workers did, it would change whenever all of them had been restarted. */
async function freePort(host: string): Promise<number> {
  const server = createServer().listen({ host: host.replaceAll(/[[\]]/g, ''), port: 0 })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

type Facts = Omit<Listening, 'end'>

interface WorkerPool {
  /**
   * Resolves when the first worker listens; if that worker exits instead, this process exits with the same
   * code.
   */
  begin(): Promise<Facts>
  /** Lets the workers complete the requests under way. */
  readonly end: () => Promise<void>
  readonly kill: () => void
}

const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 5_000
/** A worker that ran this long did not fail because of its start, so the restart delay is reset. */
const STABLE_MS = 10_000
/** Longer than a worker needs to complete the requests under way. */
const END_MS = 20_000
const MEASURE_MS = 2_000

function createWorkerPool(size: number, log: Log): WorkerPool {
  const running = new Set<Worker>()
  const begun = Promise.withResolvers<Facts>()
  const over = Promise.withResolvers<void>()
  const gather = gathering(running)
  let isBegun = false
  let isEnding = false

  function start(delayMs: number): void {
    const worker = cluster.fork()
    const startedAt = performance.now()
    running.add(worker)
    log.logger.info({ pid: worker.process.pid }, 'worker started')
    if (worker.process.stdout) forwardLines(worker.process.stdout, process.stdout)
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'listening') onListening(message)
      else gather(worker, message)
    })
    worker.process.once('close', (code: number | null, signal: string | null) => {
      running.delete(worker)
      const isStable = performance.now() - startedAt > STABLE_MS
      onEnd({ pid: worker.process.pid, code, signal, restartInMs: isStable ? FIRST_DELAY_MS : delayMs })
    })
  }

  function onListening(facts: Facts): void {
    if (isBegun) return
    isBegun = true
    begun.resolve(facts)
    // only after the first worker listens, so that a start that cannot succeed fails once and not once per
    // worker
    for (let i = 1; i < size; i++) start(FIRST_DELAY_MS)
  }

  function onEnd(end: End): void {
    if (isEnding) {
      if (running.size === 0) over.resolve()
      return
    }
    // the worker has printed the reason
    if (!isBegun) process.exit(end.code ?? EXIT.failed)
    log.logger.warn(end, 'worker ended; another one is started')
    const { restartInMs } = end
    setTimeout(() => {
      if (!isEnding) start(Math.min(2 * restartInMs, LONGEST_DELAY_MS))
    }, restartInMs)
  }

  const kill = (): void => {
    for (const worker of running) worker.process.kill('SIGKILL')
  }
  return {
    kill,
    begin() {
      start(FIRST_DELAY_MS)
      return begun.promise
    },
    async end() {
      isEnding = true
      if (running.size === 0) return
      for (const worker of running) send(worker, { kind: 'end' })
      const timer = setTimeout(kill, END_MS)
      await over.promise
      clearTimeout(timer)
    },
  }
}

interface End {
  readonly pid: number | undefined
  readonly code: number | null
  readonly signal: string | null
  readonly restartInMs: number
}

/**
 * Collects the measurements of all workers on request of one of them; workers without a timely response are
 * left out.
 */
function gathering(running: ReadonlySet<Worker>) {
  const measured = createPending<Snapshot>()
  const measure = (worker: Worker) => measured.ask((id) => send(worker, { kind: 'measure', id }), MEASURE_MS)
  return (worker: Worker, message: Exclude<FromWorker, { readonly kind: 'listening' }>): void => {
    const { id } = message
    if (message.kind === 'measured') measured.answer(id, message.snapshot)
    else {
      void Promise.all([...running].map(measure)).then((snapshots) =>
        send(worker, { kind: 'gathered', id, snapshots: snapshots.filter((each) => each !== undefined) }),
      )
    }
  }
}

/** A worker that has just exited is disconnected and gets no message. */
function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => undefined)
}
