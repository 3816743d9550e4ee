/** An example consumer of events: creates the stream, and acknowledges each event after processing it. */
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

/** Creates a stream that discards duplicates published within two hours. */
export async function makeStream(connection: NatsConnection): Promise<void> {
  const { streams } = await jetstreamManager(connection)
  await streams.add({ name: 'smalt', subjects: ['smalt.events.>'], duplicate_window: nanos(2 * HOUR_MS) })
}

/** Processes events of sandwiches one by one, from where the durable consumer stopped the last time. */
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
