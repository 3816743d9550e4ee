/**
 * Publishes events to a NATS JetStream stream. An event counts as delivered once the server has acknowledged
 * that it is stored.
 */
import type { NatsDefinition } from './nats-definition.ts'
import { type FindAddresses, type LinkOptions, type NatsClient, openNatsClient } from './nats-connection.ts'
import { natsReason } from './nats-reasons.ts'
import { orAborted } from '../or-aborted.ts'
import type { Answer, Message, Transport } from '../transport.ts'

export interface NatsOptions {
  readonly allowPrivateAddresses: boolean
  /** Limit from the DNS lookup to the acknowledgement. */
  readonly timeLimitMs?: number
  /** Resolves all addresses of a name; tests replace it. */
  readonly findAddresses?: FindAddresses
}

const TIME_LIMIT_MS = 10_000

export function openNats(definition: NatsDefinition, options: NatsOptions): Transport {
  const { timeLimitMs = TIME_LIMIT_MS } = options
  const links = linking(definition, { ...options, timeLimitMs })

  const publish = async (message: Message, signal: AbortSignal): Promise<void> => {
    const link = await orAborted(links.current(), signal)
    const publishing = link.publish(subjectOf(definition, message), {
      id: messageIdOf(definition, message),
      body: message.body,
    })
    try {
      await orAborted(publishing, signal)
    } catch (error) {
      // A silent server may have stopped reading, so the next event uses a new connection.
      if (signal.aborted) links.leave(link)
      throw error
    }
  }

  return {
    async send(message, signal) {
      try {
        await publish(message, AbortSignal.any([signal, AbortSignal.timeout(timeLimitMs)]))
        return { kind: 'delivered' }
      } catch (error) {
        signal.throwIfAborted()
        return failed(error)
      }
    },
    async [Symbol.asyncDispose]() {
      await links.close()
    },
  }
}

/**
 * `{subject}.{entity}.{operation}`, so that consumers can filter; characters with a meaning in NATS subjects
 * are replaced.
 */
function subjectOf({ subject }: NatsDefinition, { entity, operation }: Message): string {
  return [subject, entity.replaceAll(/[^\w-]/g, '_'), operation].join('.')
}

/**
 * The id for deduplication in the stream. Sinks that share a stream may see different parts of an event, so
 * each sink has its own ids.
 */
function messageIdOf({ name }: NatsDefinition, { id }: Message): string {
  return `${name}/${id}`
}

interface Links {
  /** The open connection, or a new one. */
  current(): Promise<NatsClient>
  /** Sends nothing more over this connection; it is closed when no publish is under way on it. */
  leave(link: NatsClient): void
  close(): Promise<void>
}

function linking(definition: NatsDefinition, options: Omit<LinkOptions, 'signal'>): Links {
  const closing = new AbortController()
  const open = new Set<NatsClient>()
  let newest: { readonly connecting: Promise<NatsClient>; link?: NatsClient } | undefined

  const begin = (): NonNullable<typeof newest> => {
    const connecting = openNatsClient(definition, { ...options, signal: closing.signal })
    const begun: typeof newest = { connecting }
    const follow = async (): Promise<void> => {
      try {
        const link = await connecting
        begun.link = link
        open.add(link)
        await link.closed
        open.delete(link)
      } catch {
        // the callers that await `connecting` receive the error
      }
      if (newest === begun) newest = undefined
    }
    void follow()
    return begun
  }
  return {
    current: () => (newest ??= begin()).connecting,
    leave(link) {
      if (newest?.link === link) newest = undefined
      void link.closeWhenIdle()
    },
    async close() {
      closing.abort()
      await newest?.connecting.catch(() => undefined)
      await Promise.all([...open].map((link) => link.close()))
    },
  }
}

function failed(error: unknown): Answer {
  return { kind: 'failed', reason: natsReason(error) }
}
