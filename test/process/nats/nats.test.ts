/** Delivering to a real NATS server with JetStream: each event once, in order, though the server dies. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoreKind } from '../../../src/store/store.ts'
import { NEEDS_NATS, NEEDS_OWN_NATS, startNats, testNatsUrl } from '../../support/nats.ts'
import { STORES } from '../../support/store-kind.ts'
import {
  addSink,
  checkReceived,
  deliver,
  manyEvents,
  receiver,
  until,
  webhookTo,
} from '../../service/sinks/delivering.ts'
import { type Published, makeStream, natsTo, nearby, ownSubject } from './nats-streams.ts'
import { type OpenSinks, sinkPlace } from '../../service/sinks/stores.ts'

const BOUNDED = { timeout: 400_000 }

for (const kind of STORES) {
  const check = (name: string, needs: typeof NEEDS_NATS, work: (store: OpenSinks) => Promise<void>): void => {
    test(`${name} (${kind})`, { ...BOUNDED, ...needs }, () => onStore(kind, work))
  }

  check(
    'deliver to NATS: every event once, those of a document in their order',
    NEEDS_NATS,
    async (store) => {
      const [url, subject, log] = [await testNatsUrl(), ownSubject(), manyEvents(500)]
      await using stream = await makeStream(url, subject)
      await addSink(store, natsTo(url, subject))
      await using _deliverer = deliver(store, log, { openTransport: nearby })
      await until(async () => (await store.read('n'))!.progress.position === log.length, 60_000)
      checkReceived(numbersOf(await stream.read()), log)
    },
  )

  check(
    'deliver to NATS: a server killed under load loses nothing, doubles nothing and delays no other sink',
    NEEDS_OWN_NATS,
    async (store) => {
      const [subject, log] = [ownSubject(), manyEvents(500)]
      await using server = await startNats()
      await using other = await receiver()
      await using stream = await makeStream(server.url, subject)
      await addSink(store, natsTo(server.url, subject))
      await addSink(store, webhookTo(other.url, { name: 'w' }))
      const failures: string[] = []
      const observer = { failed: (sink: string, reason: string) => void failures.push(`${sink}: ${reason}`) }
      await using _deliverer = deliver(store, log, { openTransport: nearby, observer })
      await until(async () => (await stream.count()) >= 50)
      await server.kill('SIGKILL')
      // The server is away for as long as the other sink needs for all of its events.
      await until(() => other.got.length === log.length, 60_000)
      await until(() => failures.length > 0)
      assert.ok((await store.read('n'))!.progress.position < log.length, 'it was killed in the midst')
      await server.restart()
      await until(async () => (await store.read('n'))!.progress.position === log.length, 60_000)
      await until(async () => (await store.readItems('n')).length === 0, 60_000)
      checkReceived(numbersOf(await stream.read()), log)
      checkReceived(other.got, log)
      assert.ok(failures.every((each) => each.startsWith('n: ')))
    },
  )
}

function numbersOf(published: readonly Published[]): readonly number[] {
  return published.map(({ event }) => Number(event.data.seq))
}

async function onStore(kind: StoreKind, work: (store: OpenSinks) => Promise<void>): Promise<void> {
  await using place = await sinkPlace(kind)
  await using store = await place.open()
  await work(store)
}
