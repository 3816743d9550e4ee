/** Streams of a NATS server that remember what was published, and sinks that publish to them. */
import { randomUUID } from 'node:crypto'
import { type JetStreamManager, type StreamConfig, jetstreamManager } from '@nats-io/jetstream'
import { type ConnectionOptions, connect } from '@nats-io/transport-node'
import type { NatsDefinition } from '../../../src/sinks/nats/nats-definition.ts'
import { openNats } from '../../../src/sinks/nats/nats.ts'
import type { OpenTransport } from '../../../src/sinks/delivery/sink-run.ts'
import { openWebhook } from '../../../src/sinks/webhook.ts'

export interface Published {
  readonly subject: string
  readonly id: string
  readonly type: string
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into whatever came
  readonly event: any
}

export interface TestStream extends AsyncDisposable {
  readonly name: string
  /** How many there are. */
  count(): Promise<number>
  /** All of them, in the order in which the stream took them. */
  read(): Promise<readonly Published[]>
}

/** Nobody else publishes under this. */
export function ownSubject(): string {
  return `smalt-test.${randomUUID()}`
}

interface StreamOptions {
  readonly config?: Partial<StreamConfig>
  /** Who the test is to the server. */
  readonly known?: ConnectionOptions
}

/** Takes what is published under a subject. */
export async function makeStream(
  servers: string,
  subject: string,
  { config = {}, known = {} }: StreamOptions = {},
): Promise<TestStream> {
  const name = `test-${randomUUID()}`
  // Each time by a connection of its own, since the server may have been killed in between.
  const managing = async <T>(work: (manager: JetStreamManager) => Promise<T>): Promise<T> => {
    const connection = await connect({ ...known, servers })
    try {
      return await work(await jetstreamManager(connection))
    } finally {
      await connection.close()
    }
  }
  await managing(({ streams }) => streams.add({ name, subjects: [`${subject}.>`], ...config }))
  return {
    name,
    count: () => managing(async ({ streams }) => (await streams.info(name)).state.messages),
    read: () => managing((manager) => readStream(manager, name)),
    async [Symbol.asyncDispose]() {
      // where the server is gone, so is the stream
      await managing(({ streams }) => streams.delete(name)).catch(() => false)
    },
  }
}

async function readStream({ streams }: JetStreamManager, name: string): Promise<readonly Published[]> {
  const { state } = await streams.info(name)
  const numbers = Array.from({ length: state.messages }, (_, i) => state.first_seq + i)
  const messages = await Promise.all(numbers.map((seq) => streams.getMessage(name, { seq })))
  return messages.map((message) => {
    if (!message) throw new Error('what is published does not go away')
    const { subject, header } = message
    const [id, type] = [header.get('Nats-Msg-Id'), header.get('Content-Type')]
    return { subject, id, type, event: message.json() }
  })
}

export function natsTo(url: string, subject: string, more: Partial<NatsDefinition> = {}): NatsDefinition {
  return { kind: 'nats', name: 'n', url, subject, roles: ['anyone'], filter: {}, ...more }
}

/** To servers on this machine, by whatever kind. */
export const nearby: OpenTransport = (definition) =>
  definition.kind === 'nats'
    ? openNats(definition, { allowPrivateAddresses: true })
    : openWebhook(definition, { allowPrivateAddresses: true })
