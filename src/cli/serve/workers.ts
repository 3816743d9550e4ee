/** Several processes behind one port: the first starts the others, replaces those that die, and ends them together. */
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

/** Resolves when the service listens; from then on signals decide. */
export async function serveByWorkers(config: Config): Promise<void> {
  if (cluster.isWorker) await work(config)
  else await lead(config)
}

async function lead(config: Config): Promise<void> {
  refuseOpenNetwork(config.auth, config.host)
  const { isTTY } = process.stdout
  // all lines of all processes go out by one hand, so that none gets into the middle of another
  const log = isTTY ? createLog(config.logLevel) : logTo(process.stdout, config.logLevel)
  dieOnUncaught(log)
  const port = config.port === 0 ? await freePort(config.host) : config.port
  cluster.setupPrimary({
    // the last word counts
    args: [...process.argv.slice(2), '--port', String(port)],
    stdio: ['inherit', isTTY ? 'inherit' : 'pipe', 'inherit', 'ipc'],
  })
  const crew = createCrew(config.workers, log)
  endOnSignal(log, crew.end, crew.kill)
  announce(log, config, await crew.begin())
}

/** Chosen here: a port that workers chose would be another one each time that none of them is left. */
async function freePort(host: string): Promise<number> {
  const server = createServer().listen({ host: host.replaceAll(/[[\]]/g, ''), port: 0 })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

type Facts = Omit<Listening, 'end'>

interface Crew {
  /** Resolves when the first of them listens; where it cannot, this process ends as it did. */
  begin(): Promise<Facts>
  /** Lets them answer what is under way. */
  readonly end: () => Promise<void>
  readonly kill: () => void
}

const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 5_000
/** One that lived for so long did not die of its start. */
const SETTLED_MS = 10_000
/** More than a worker takes to answer what is under way. */
const END_MS = 20_000
const MEASURE_MS = 2_000

function createCrew(size: number, log: Log): Crew {
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
      const isSettled = performance.now() - startedAt > SETTLED_MS
      onEnd({ pid: worker.process.pid, code, signal, restartInMs: isSettled ? FIRST_DELAY_MS : delayMs })
    })
  }

  function onListening(facts: Facts): void {
    if (isBegun) return
    isBegun = true
    begun.resolve(facts)
    // only now, so that a start that cannot succeed fails once and not many times
    for (let i = 1; i < size; i++) start(FIRST_DELAY_MS)
  }

  function onEnd(end: End): void {
    if (isEnding) {
      if (running.size === 0) over.resolve()
      return
    }
    // its own message says why
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

/** Asks all workers what they measured when one of them is asked; who does not answer in time is left out. */
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

/** One that has just died hears nothing any more. */
function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => undefined)
}
