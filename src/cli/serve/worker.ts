/**
 * One of several worker processes behind one port. It serves like a single process, and ends on a message of
 * the primary.
 */
import { createLog } from '../../http/observe/log.ts'
import { type Metrics, type Snapshot, createMetrics } from '../../http/observe/metrics.ts'
import type { Config } from '../config/config.ts'
import { EXIT } from '../exit.ts'
import { die, dieOnUncaught, listen } from './serve.ts'
import { type FromWorker, type ToWorker, createPending } from './worker-messages.ts'

/** Longer than the primary waits for the measurements of the workers. */
const GATHER_MS = 3_000

export async function work(config: Config): Promise<void> {
  const log = createLog(config.logLevel)
  dieOnUncaught(log)
  const gathered = createPending<readonly Snapshot[]>()
  const metrics = createMetrics(
    async (own) => (await gathered.ask((id) => sendToParent({ kind: 'gather', id }), GATHER_MS)) ?? [own],
  )
  const ended = Promise.withResolvers<void>()
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'end') ended.resolve()
    else if (message.kind === 'gathered') gathered.answer(message.id, message.snapshots)
    else void measure(metrics, message.id)
  })
  // A terminal sends its signals to all processes. Repeated signals do not shorten the shutdown: requests
  // under way are completed.
  process.on('SIGTERM', () => ended.resolve()).on('SIGINT', () => ended.resolve())
  try {
    const { end, port, store } = await listen(config, log, metrics)
    sendToParent({ kind: 'listening', port, store })
    void ended.promise
      .then(end)
      .then(log.close)
      .then(
        () => process.exit(EXIT.ok),
        (error: unknown) => die(log, error),
      )
  } catch (error) {
    // only the channel to the primary keeps the process alive once the error is logged
    process.channel?.unref()
    throw error
  }
}

async function measure(metrics: Metrics, id: number): Promise<void> {
  sendToParent({ kind: 'measured', id, snapshot: await metrics.snapshot() })
}

/** Without the primary process there is no receiver, and this process ends as well. */
function sendToParent(message: FromWorker): void {
  if (process.connected) process.send!(message)
}
