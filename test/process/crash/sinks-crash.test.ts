/** Processes that die while they deliver: nothing is lost, the order stays, and others take over. */
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { SEED } from '../../support/seed.ts'
import { randomFrom } from '../../unit/sinks/delivery-model.ts'
import {
  addSink,
  checkReceived,
  manyEvents,
  receiver,
  until,
  webhookTo,
} from '../../service/sinks/delivering.ts'
import { sinkPlace } from '../../service/sinks/stores.ts'

const BOUNDED = { timeout: 400_000 }
const EVENTS = 3_000
const ROUNDS = 20

interface Child extends AsyncDisposable {
  kill(): Promise<void>
}

async function start(location: string, ttlMs: number): Promise<Child> {
  const script = join(import.meta.dirname, 'deliver-process.ts')
  const child: ChildProcess = fork(script, [location, String(EVENTS), String(ttlMs)])
  await once(child, 'message')
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }
  return { kill, [Symbol.asyncDispose]: kill }
}

for (const kind of ['sqlite', 'postgres'] as const) {
  const together = kind === 'sqlite' ? 1 : 2
  test(
    `crash: ${together} at a time, killed ${ROUNDS} times (${kind}, seed ${SEED})`,
    BOUNDED,
    async (context) => {
      const random = randomFrom(SEED)
      await using place = await sinkPlace(kind)
      let round = 0
      let isOver = false
      await using server = await receiver(async () => {
        if (!isOver) await sleep(40)
        while (isAhead()) await sleep(20)
        return random() < 0.02
      })
      // however long a start takes, something is left for after the last kill
      const mostInRound = (): number => (EVENTS * (round + 1)) / (ROUNDS + 1)
      const isAhead = (): boolean => !isOver && server.got.length > mostInRound()
      {
        await using store = await place.open()
        await addSink(store, webhookTo(server.url))
      }
      const children: Child[] = []
      await using _all = {
        [Symbol.asyncDispose]: async () => void (await Promise.all(children.map((each) => each.kill()))),
      }
      for (let i = 0; i < together; i++) children.push(await start(place.location, 600))
      for (; round < ROUNDS; round++) {
        // no more than the receiver accepts in this round: a slow start of a process may have used up most of that
        const enough = Math.min(server.got.length + random() * 60, mostInRound())
        await until(() => server.got.length > enough)
        const which = Math.floor(random() * together)
        const next = kind === 'postgres' ? await start(place.location, 600) : undefined
        await children[which]!.kill()
        children[which] = next ?? (await start(place.location, 600))
      }
      isOver = true
      context.diagnostic(`${server.got.length} of ${EVENTS} received after the last kill`)
      assert.ok(server.got.length < EVENTS, 'it was killed while it delivered')
      await until(() => server.got.length >= EVENTS, 120_000)
      checkReceived(server.got, manyEvents(EVENTS))
    },
  )
}

test('crash: another process takes over within seconds', BOUNDED, async (context) => {
  await using place = await sinkPlace('postgres')
  await using store = await place.open()
  let isSlow = true
  await using server = await receiver(() => isSlow)
  await addSink(store, webhookTo(server.url))
  const first = await start(place.location, 5_000)
  await until(async () => (await store.read('a'))!.progress.failures > 0)
  await using _second = await start(place.location, 5_000)
  await sleep(500)
  isSlow = false
  await first.kill()
  const began = performance.now()
  const before = server.got.length
  await until(() => server.got.length > before)
  const seconds = (performance.now() - began) / 1000
  context.diagnostic(`after ${seconds.toFixed(1)} s`)
  assert.ok(seconds < 20)
})
