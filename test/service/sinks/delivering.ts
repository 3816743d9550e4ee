/** Deliverers, the events they read, and receivers that remember, for tests. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { cloudEvent } from '../../../src/sinks/cloud-event.ts'
import { printDefinition } from '../../../src/sinks/definition.ts'
import type { SinkDefinition } from '../../../src/sinks/kinds.ts'
import {
  type DelivererOptions,
  type Deliverer,
  startDeliverer,
} from '../../../src/sinks/delivery/deliverer.ts'
import { openWebhook } from '../../../src/sinks/webhook.ts'
import type { OpenTransport } from '../../../src/sinks/delivery/sink-run.ts'
import { isWanted } from '../../../src/store/event-window.ts'
import type { EventsRequest, StoredEvent, StoredEvents } from '../../../src/store/events.ts'
import type { SinkStore } from '../../../src/store/sinks.ts'
import { keptEvent } from '../../unit/sinks/delivery-model.ts'
import { createReceiver } from './receiver-example.ts'
import { type Listening, SECRET, listening } from './servers.ts'

/** As a store reads them. */
export function reading(log: readonly StoredEvent[]): (request: EventsRequest) => Promise<StoredEvents> {
  return async ({ since, limit, filter }) => {
    const events = log.filter((event) => event.seq > since && isWanted(filter, event)).slice(0, limit)
    const last = Math.max(since, log.at(-1)?.seq ?? 0)
    return { events, scannedTo: events.length === limit ? events.at(-1)!.seq : last }
  }
}

/** The same in every process. */
export function manyEvents(count: number, documents = 40): readonly StoredEvent[] {
  return Array.from({ length: count }, (_, i) => keptEvent(i + 1, `d${(i * 7) % documents}`))
}

export function webhookTo(url: string, more: Partial<SinkDefinition> = {}): SinkDefinition {
  return {
    kind: 'webhook',
    name: 'a',
    url,
    secret: SECRET,
    roles: ['anyone'],
    filter: {},
    ...more,
  } as SinkDefinition
}

export async function addSink(store: SinkStore, definition: SinkDefinition): Promise<void> {
  const added = { name: definition.name, definition: printDefinition(definition), position: 0 }
  assert.equal(await store.create(added), true)
}

export function webhooks(timeLimitMs = 10_000): OpenTransport {
  return (definition) => {
    if (definition.kind !== 'webhook') throw new Error('not here')
    return openWebhook(definition, { allowPrivateAddresses: true, timeLimitMs })
  }
}

export function deliver(
  store: SinkStore,
  log: readonly StoredEvent[],
  more: Partial<DelivererOptions> = {},
): Deliverer {
  return startDeliverer({
    store,
    readEvents: reading(log),
    renderEvent: (event) => ({
      body: JSON.stringify(cloudEvent(event, { seq: event.seq, documentId: event.document })),
    }),
    openTransport: webhooks(),
    observer: { error: (error) => console.error(error) },
    ...more,
  })
}

export interface Receiver extends Listening {
  /** The numbers of events, each once, in the order in which they came. */
  readonly got: readonly number[]
}

/** Checks signatures, takes each event once; `refuse` may fail one before it counts. */
export async function receiver(
  refuse: (seq: number) => boolean | Promise<boolean> = () => false,
): Promise<Receiver> {
  const got: number[] = []
  const server = await listening(
    createReceiver(SECRET, async ({ data }) => {
      const seq = Number(data['seq'])
      if (await refuse(seq)) throw new Error('refused')
      got.push(seq)
    }),
  )
  return { ...server, got }
}

/** All of them, and those of each document in their order. */
export function checkReceived(got: readonly number[], log: readonly StoredEvent[]): void {
  assert.deepEqual(
    got.toSorted((a, b) => a - b),
    log.map(({ seq }) => seq),
  )
  const last = new Map<string, number>()
  const documents = new Map(log.map(({ seq, document }) => [seq, document]))
  for (const seq of got) {
    const document = documents.get(seq)!
    assert.ok(seq > (last.get(document) ?? 0), `event ${seq} came after ${last.get(document)}`)
    last.set(document, seq)
  }
}

export async function until(isSo: () => boolean | Promise<boolean>, limitMs = 60_000): Promise<void> {
  const end = performance.now() + limitMs
  while (!(await isSo())) {
    assert.ok(performance.now() < end, 'it takes too long')
    await sleep(10)
  }
}
