/** One of several processes behind one port: serves like a single one, and ends when the first process says so. */
import { createLog } from '../../http/observe/log.ts'
import { type Metrics, type Snapshot, createMetrics } from '../../http/observe/metrics.ts'
import type { Config } from '../config/config.ts'
import { EXIT } from '../exit.ts'
import { die, dieOnUncaught, listen } from './serve.ts'
import { type FromWorker, type ToWorker, createPending } from './worker-messages.ts'

/** Longer than the first process waits for the others. */
const GATHER_MS = 3_000

export async function work(config: Config): Promise<void> {
  const log = createLog(config.logLevel)
  dieOnUncaught(log)
  const gathered = createPending<readonly Snapshot[]>()
  const metrics = createMetrics(
    async (own) => (await gathered.ask((id) => captureChange({ kind: 'gather', id }), GATHER_MS)) ?? [own],
  )
  const told = Promise.withResolvers<void>()
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'end') told.resolve()
    else if (message.kind === 'gathered') gathered.answer(message.id, message.snapshots)
    else void measure(metrics, message.id)
  })
  // A terminal sends its signals to all processes; however often they come, what is under way is answered.
  process.on('SIGTERM', () => told.resolve()).on('SIGINT', () => told.resolve())
  try {
    const { end, port, store } = await listen(config, log, metrics)
    captureChange({ kind: 'listening', port, store })
    void told.promise
      .then(end)
      .then(log.close)
      .then(
        () => process.exit(EXIT.ok),
        (error: unknown) => die(log, error),
      )
  } catch (error) {
    // nothing else keeps the process from ending once its error has been told
    process.channel?.unref()
    throw error
  }
}

async function measure(metrics: Metrics, id: number): Promise<void> {
  captureChange({ kind: 'measured', id, snapshot: await metrics.snapshot() })
}

/** Without the first process there is nobody to tell, and this one ends as well. */
function captureChange(message: FromWorker): void {
  if (process.connected) process.send!(message)
}
