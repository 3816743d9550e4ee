/** The thread beside a measured service: answers `reset`, `read` and `collect`, and ends a process that grows too large. */
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { workerData } from 'node:worker_threads'
import {
  BEAT_MS,
  COLLECT,
  HEAP_MB,
  LAST_BEAT,
  LAST_STARVED,
  LONGEST_ENDED,
  LONGEST_OWN_PAUSE,
  LONGEST_PAUSE,
  monotonicMs,
  starvedMs,
} from './beats.ts'

/** What one interval showed. */
export interface Figures {
  /** The longest time between two beats of the main thread, the current one included. */
  readonly pauseMs: number
  /** The same without what a machine that is busy elsewhere adds. */
  readonly ownPauseMs: number
  /** When that one ended, by the monotonic clock of the machine, which all processes share. */
  readonly pauseEndedMs: number
  /** How long the main thread waited in all for a processor that others were using. */
  readonly starvedMs: number
  readonly rssMb: number
  readonly peakRssMb: number
  /** After the last collection. */
  readonly heapMb: number
  /** Of the whole process since the start. */
  readonly cpuMs: number
}

/** Beyond this a process is taken to be lost; ended here, it does not take the machine with it. */
const MAX_RSS_MB = Number(process.env['HEARTBEAT_MOST_RSS_MB'] ?? 1_800)
const MEGABYTE = 2 ** 20

const shared = workerData as Float64Array
let peakRssMb = rssMb()
let starvedBeforeMs = starvedMs()

setInterval(() => {
  peakRssMb = Math.max(peakRssMb, rssMb())
  if (peakRssMb > MAX_RSS_MB) process.kill(process.pid, 'SIGKILL')
}, 4 * BEAT_MS)

const wire = new Socket({ fd: 3, readable: true, writable: true })
// The test that started the service is gone.
wire.on('close', () => process.kill(process.pid, 'SIGKILL'))
createInterface({ input: wire }).on('line', (line) => void answer(line))

async function answer(line: string): Promise<void> {
  if (line === 'reset') reset()
  if (line === 'collect') await collected()
  wire.write(`${JSON.stringify(figures())}\n`)
}

function reset(): void {
  shared[LONGEST_PAUSE] = 0
  shared[LONGEST_OWN_PAUSE] = 0
  starvedBeforeMs = starvedMs()
  peakRssMb = rssMb()
}

/** A main thread that is stuck collects nothing; then the figures are those before. */
async function collected(): Promise<void> {
  shared[COLLECT] = 1
  for (const end = monotonicMs() + 3_000; shared[COLLECT] === 1 && monotonicMs() < end;)
    await new Promise((resolve) => setTimeout(resolve, BEAT_MS))
}

function figures(): Figures {
  const current = monotonicMs() - shared[LAST_BEAT]! - BEAT_MS
  const own = current - (starvedMs() - shared[LAST_STARVED]!)
  const { user, system } = process.cpuUsage()
  return {
    pauseMs: Math.max(shared[LONGEST_PAUSE]!, current),
    ownPauseMs: Math.max(shared[LONGEST_OWN_PAUSE]!, own),
    pauseEndedMs: own > shared[LONGEST_OWN_PAUSE]! ? monotonicMs() : shared[LONGEST_ENDED]!,
    starvedMs: starvedMs() - starvedBeforeMs,
    rssMb: rssMb(),
    peakRssMb: Math.max(peakRssMb, rssMb()),
    heapMb: shared[HEAP_MB]!,
    cpuMs: (user + system) / 1_000,
  }
}

function rssMb(): number {
  return process.memoryUsage.rss() / MEGABYTE
}
