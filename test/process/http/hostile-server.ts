/** A server in a process of its own, whose memory can be measured: started by `startHostile`, spoken to by messages. */
import { setTimeout as sleep } from 'node:timers/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openMode } from '../../../src/auth/open.ts'
import { DEFAULT_LIMITS, type Limits } from '../../../src/base/limits.ts'
import { logTo } from '../../../src/http/observe/log.ts'
import { createMetrics } from '../../../src/http/observe/metrics.ts'
import { startServer } from '../../../src/http/server.ts'
import type { FollowedEvents } from '../../../src/service/service.ts'
import { fakeService } from '../../service/http/fake-service.ts'

export interface Measured {
  /** Memory in use after a collection, in MiB. */
  readonly memory: number
  /** Streams and followers that the service still produces for. */
  readonly open: number
  /** Longest pause of the event loop since it was last asked, in milliseconds. */
  readonly pauseMs: number
}

const fake = fakeService()
let open = 0

/**
 * `/data/find/{kind}/{size}` answers with so many characters of a kind, `/data/find/busy/{ms}` after so long without a
 * turn for anybody else, and `/data/find/held` never.
 */
const large = memoized((kind) => {
  const [name, size] = kind.split('/') as [string, string]
  const text = name === 'ascii' ? 'x'.repeat(Number(size)) : `y${'\u{1f600}'.repeat(Number(size) / 2)}`
  return JSON.stringify(text)
})

function spin(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

function memoized(make: (key: string) => string): (key: string) => string {
  const known = new Map<string, string>()
  return (key) => known.get(key) ?? known.set(key, make(key)).get(key)!
}

const service = {
  ...fake,
  data: {
    ...fake.data,
    find: async (_: unknown, { entity, version = '0' }: { entity: string; version?: string }) => {
      if (entity === 'held') await new Promise(() => undefined)
      if (entity === 'busy') spin(Number(version))
      const processed = [large(`${entity}/${version}`)]
      return { status: 'COMPLETE' as const, modifiedCount: 0, matchCount: 1, processed }
    },
    stream: async () => countOpen(endlessLines()),
  },
  events: { ...fake.events, follow: async () => countOpen(endlessEvents()) },
}

async function* endlessLines(): AsyncGenerator<string> {
  for (let i = 0; ; i++) {
    yield JSON.stringify({ i, text: 'z'.repeat(10_000) })
    if (i % 100 === 0) await sleep(1)
  }
}

/** Batches that share their text, as those of followers of the same events do. */
async function* endlessEvents(): AsyncGenerator<FollowedEvents> {
  const text = JSON.stringify('e'.repeat(150_000))
  for (let seq = 1; ; seq += 50) {
    const events = Array.from({ length: 50 }, (_, i) => ({ seq: seq + i, text }))
    yield { events, position: seq + 49 }
    await sleep(1)
  }
}

async function* countOpen<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  open++
  try {
    yield* items
  } finally {
    open--
  }
}

const server = await startServer({
  service,
  limits: { ...DEFAULT_LIMITS, ...(JSON.parse(process.argv[2]!) as Partial<Limits>) },
  auth: openMode(),
  log: logTo({ write: () => undefined }, 'silent'),
  metrics: createMetrics(),
  host: '127.0.0.1',
  port: 0,
  overload: { isOverloaded: () => false, close: () => undefined },
})
const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()
process.on('message', () => void answer())

async function answer(): Promise<void> {
  const pauseMs = delay.max / 1e6
  const measured: Measured = { memory: await collectedMemory(), open, pauseMs }
  process.send!(measured)
  delay.reset()
}

/** The least of several readings: buffers are freed by a thread that may still be at work when a collection returns. */
async function collectedMemory(): Promise<number> {
  let least = Infinity
  for (let i = 0; i < 5; i++) {
    globalThis.gc!()
    await sleep(20)
    const { heapUsed, external } = process.memoryUsage()
    least = Math.min(least, (heapUsed + external) / 2 ** 20)
  }
  return least
}

process.send!(server.port)
