/** Events as they are made, sent to many who follow them at once: how many arrive, and what memory that takes. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Server, startGenerator } from './children.ts'
import { item } from './documents.ts'
import { residentMegabytes, store } from './fill.ts'
import type { Arrived, Following } from './followers.ts'
import { HOOK, WATCHED } from './watched.ts'

export interface Followed {
  readonly followers: number
  readonly writesPerSecond: number
  readonly deliveredPerSecond: number
  /** From the answer to the last write until everybody had its event. */
  readonly behindMs: number
  readonly residentMegabytes: {
    readonly before: number
    readonly connected: number
    readonly afterWrites: number
    readonly afterwards: number
  }
  /** Share of a core that the followers took. */
  readonly followersCpu: number
  /** Events that did not arrive. */
  readonly missing: number
  readonly problem?: string
}

const FOLLOWERS = 1_000
const WRITES_PER_SECOND = 50
/** What is compiled while it runs needs a second to become what it will be. */
const WARMUP_WRITES = 50
const PATIENCE_MS = 30_000

export async function follow(server: Server, { seconds }: { readonly seconds: number }): Promise<Followed> {
  const before = await residentMegabytes(server)
  using followers = startFollowers()
  const path = `/events/stream?entity=${WATCHED}&hook=${HOOK}`
  const ready = await followers.connect({ port: server.port, followers: FOLLOWERS, path })
  if (ready.connected < FOLLOWERS)
    throw new Error(`only ${ready.connected} of ${FOLLOWERS} can follow: ${ready.problem}`)
  await write(server, WARMUP_WRITES)
  const warm = await followers.until(WARMUP_WRITES * FOLLOWERS)
  const connected = await residentMegabytes(server)
  const writes = Math.max(1, Math.round(seconds * WRITES_PER_SECOND))
  const begun = performance.now()
  await write(server, writes)
  const written = performance.now()
  const expected = (WARMUP_WRITES + writes) * FOLLOWERS
  const arrived = await followers.until(expected)
  const ended = performance.now()
  const afterWrites = await residentMegabytes(server)
  followers[Symbol.dispose]()
  await sleep(1_000)
  return {
    followers: FOLLOWERS,
    writesPerSecond: writes / ((written - begun) / 1_000),
    deliveredPerSecond: (arrived.events - warm.events) / ((ended - begun) / 1_000),
    behindMs: ended - written,
    residentMegabytes: { before, connected, afterWrites, afterwards: await residentMegabytes(server) },
    followersCpu: (arrived.cpuMs - warm.cpuMs) / (ended - begun),
    missing: expected - arrived.events,
    ...(arrived.problem !== undefined && { problem: arrived.problem }),
  }
}

/** At a steady pace, whether the server keeps up or not; settles when all are answered. */
async function write({ api }: Server, writes: number): Promise<void> {
  const begun = performance.now()
  const answers: Promise<unknown>[] = []
  for (let i = 0; i < writes; i++) {
    await sleep(Math.max(0, begun + (i * 1_000) / WRITES_PER_SECOND - performance.now()))
    answers.push(store(api, WATCHED, [item(i, writes)]))
  }
  await Promise.all(answers)
}

interface Followers extends Disposable {
  /** Settles when all of them follow, or cannot. */
  connect(following: Following): Promise<Arrived>
  /** Settles when so many events have arrived, or no more come in a reasonable time. */
  until(events: number): Promise<Arrived>
}

function startFollowers(): Followers {
  const child = startGenerator('followers.ts')
  const ended = once(child, 'exit').then((): never => {
    throw new Error('the followers ended')
  })
  // in the end they do, and nobody asks any more
  ended.catch(() => undefined)
  const ask = async (message: Following | 'report'): Promise<Arrived> => {
    child.send(message)
    const [arrived] = await Promise.race([once(child, 'message'), ended])
    return arrived as Arrived
  }
  return {
    connect: ask,
    async until(events) {
      for (const deadline = performance.now() + PATIENCE_MS; ;) {
        const arrived = await ask('report')
        if (arrived.events >= events || arrived.problem !== undefined) return arrived
        if (performance.now() > deadline) return arrived
        await sleep(5)
      }
    },
    [Symbol.dispose]() {
      if (child.connected) child.disconnect()
    },
  }
}
