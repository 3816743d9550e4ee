/** Publishes events to a stream of NATS JetStream: one is delivered when the server says that it keeps it, and not before. */
import type { JsonObject } from '../../base/json/json.ts'
import type { NatsDefinition } from './nats-definition.ts'
import { type FindAddresses, type LinkOptions, type NatsClient, openNatsClient } from './nats-connection.ts'
import { natsReason } from './nats-reasons.ts'
import { orAborted } from '../or-aborted.ts'
import type { Answer, Message, Transport } from '../transport.ts'

export interface NatsOptions {
  readonly allowPrivateAddresses: boolean
  /** From looking up the name to the acknowledgement. */
  readonly timeLimitMs?: number
  /** Finds all addresses of a name; a test may have its own. */
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
      body: JSON.stringify(message.body),
    })
    try {
      await orAborted(publishing, signal)
    } catch (error) {
      // Whoever is silent may have stopped listening: the next one is sent over another connection.
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

/** `{subject}.{entity}.{operation}`, so that whoever consumes can choose; what would mean something to NATS is replaced. */
function subjectOf({ subject }: NatsDefinition, { body }: Message): string {
  const entity = lastPart(body, 'source', '/')
  const operation = lastPart(body, 'type', '.')
  return [subject, entity, operation].join('.')
}

function lastPart(body: JsonObject, name: 'source' | 'type', separator: string): string {
  const part = (body[name] as string).split(separator).at(-1)!
  return part.replaceAll(/[^\w-]/g, '_')
}

/**
 * By this the stream tells what it has already. Sinks that share a stream may be told different parts of an event, so
 * that each has ids of its own.
 */
function messageIdOf({ name }: NatsDefinition, { id }: Message): string {
  return `${name}/${id}`
}

interface Links {
  /** The connection, or a new one where there is none. */
  current(): Promise<NatsClient>
  /** No more is sent over this one; it is closed when nothing is under way there. */
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
        // those who wait for it are told
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
