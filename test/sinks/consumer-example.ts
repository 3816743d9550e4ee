/** A consumer of events as somebody would write one: makes the stream, and takes each event once it has handled it. */
import { AckPolicy, type ConsumerMessages, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { type NatsConnection, nanos } from '@nats-io/transport-node'

interface CloudEvent {
  readonly id: string
  readonly type: string
  readonly source: string
  readonly subject?: string
  readonly data: Readonly<Record<string, unknown>>
}

const HOUR_MS = 3_600_000

/** Keeps what is published, and each event once, though it be sent again two hours later. */
export async function makeStream(connection: NatsConnection): Promise<void> {
  const { streams } = await jetstreamManager(connection)
  await streams.add({ name: 'smalt', subjects: ['smalt.events.>'], duplicate_window: nanos(2 * HOUR_MS) })
}

/** One event of sandwiches after the other, from where it was left the last time. */
export async function consume(
  connection: NatsConnection,
  handle: (event: CloudEvent) => Promise<void>,
): Promise<ConsumerMessages> {
  const { consumers } = await jetstreamManager(connection)
  await consumers.add('smalt', {
    durable_name: 'kitchen',
    filter_subject: 'smalt.events.sandwich.*',
    ack_policy: AckPolicy.Explicit,
    max_ack_pending: 1,
  })
  const consumer = await jetstream(connection).consumers.get('smalt', 'kitchen')
  return await consumer.consume({
    callback: (message) => {
      handle(message.json<CloudEvent>()).then(
        () => message.ack(),
        () => message.nak(1_000),
      )
    },
  })
}
