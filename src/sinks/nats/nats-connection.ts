/** One connection to a NATS server: only to checked addresses, and without automatic reconnect. */
import { lookup } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import type { Authenticator, ConnectionOptions, NatsConnection, TlsOptions } from '@nats-io/transport-node'
import { isPrivateAddress } from '../addresses.ts'
import { type NatsCredentials, type NatsDefinition, type NatsServer, serverOf } from './nats-definition.ts'
import { dialing } from './nats-sockets.ts'
import { NatsProblem } from './nats-reasons.ts'
import { orAborted } from '../or-aborted.ts'

export interface NatsClient {
  /** Resolves when the stream has stored the message. */
  publish(subject: string, message: NatsMessage): Promise<void>
  /** Resolves when the connection has ended for any reason. */
  readonly closed: Promise<void>
  close(): Promise<void>
  closeWhenIdle(): Promise<void>
}

interface NatsMessage {
  /** The stream stores one message per id, within its deduplication window. */
  readonly id: string
  readonly body: string
}

export type FindAddresses = (name: string) => Promise<readonly string[]>

export interface LinkOptions {
  readonly allowPrivateAddresses: boolean
  readonly timeLimitMs: number
  readonly findAddresses?: FindAddresses
  /** Aborts connecting; it does not close an established connection. */
  readonly signal: AbortSignal
}

export async function openNatsClient(definition: NatsDefinition, options: LinkOptions): Promise<NatsClient> {
  const { timeLimitMs, signal } = options
  const server = serverOf(definition.url)
  if (!server) throw new NatsProblem('the address is none')
  const addresses = await orAborted(addressesOf(server, options), signal)
  // Imported on first use: both modules load slowly, and a service without NATS sinks does not need them.
  const [client, { jetstream }] = await Promise.all([
    import('@nats-io/transport-node'),
    import('@nats-io/jetstream'),
  ])
  const known = knownBy(client, definition.credentials)
  const connecting = dialing(signal, () =>
    client.connect({ ...SETTINGS, ...known, ...placeOf(server, addresses, timeLimitMs), name: 'smalt' }),
  )
  const connection = await connecting.catch((error: unknown) => {
    throw server.isTls ? error : plainly(error)
  })
  const stream = jetstream(connection)
  return linkOver(connection, async (subject, { id, body }) => {
    const headers = client.headers()
    headers.set('Content-Type', 'application/cloudevents+json')
    await stream.publish(subject, body, { msgID: id, headers, timeout: timeLimitMs })
  })
}

const SETTINGS: ConnectionOptions = {
  // The client must stay with the checked addresses: no lookups of its own, no addresses announced by the
  // cluster.
  resolve: false,
  ignoreClusterUpdates: true,
  // Without a connection the client would buffer messages in memory.
  reconnect: false,
  // With -1 the client drops one address after a failure; with any other number it drops two.
  maxReconnectAttempts: -1,
  pingInterval: 20_000,
  noAsyncTraces: true,
}

function linkOver(connection: NatsConnection, publish: NatsClient['publish']): NatsClient {
  const underWay = new Set<Promise<void>>()
  return {
    async publish(subject, message) {
      const publishing = publish(subject, message)
      underWay.add(publishing)
      await publishing.finally(() => underWay.delete(publishing))
    },
    closed: connection.closed().then(() => undefined),
    close: () => connection.close(),
    async closeWhenIdle() {
      await Promise.allSettled(underWay)
      await connection.close()
    },
  }
}

/**
 * Checks every address and returns exactly the checked ones, so that DNS rebinding cannot lead to another
 * address.
 */
async function addressesOf(
  { name, address }: NatsServer,
  { allowPrivateAddresses, findAddresses = lookUp }: LinkOptions,
): Promise<readonly string[]> {
  const addresses = address === undefined ? await findAddresses(name) : [address]
  if (addresses.length === 0) throw new NatsProblem('the name has no address')
  if (allowPrivateAddresses || !addresses.some(isPrivateAddress)) return addresses
  throw new NatsProblem('the address is private, loopback or link-local')
}

async function lookUp(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address)
}

/**
 * With tls:// the server's certificate must match the name in the URL, although the connection is made to an
 * address.
 */
function placeOf(
  { isTls, name, address, port }: NatsServer,
  addresses: readonly string[],
  timeLimitMs: number,
): ConnectionOptions {
  const proof = address === undefined ? { servername: name } : { host: address }
  return {
    servers: addresses.map((each) => `${isIPv6(each) ? `[${each}]` : each}:${port}`),
    tls: isTls ? (proof as TlsOptions) : null,
    timeout: Math.ceil(timeLimitMs / addresses.length),
  }
}

/**
 * With TLS off, the client fails with a TypeError when the server requires TLS; this replaces it by a clear
 * message.
 */
function plainly(error: unknown): unknown {
  const wantsTls = error instanceof Error && error.cause instanceof TypeError
  return wantsTls ? new NatsProblem('the server wants TLS, and an address that begins with tls://') : error
}

type Client = typeof import('@nats-io/transport-node')

function knownBy(
  client: Client,
  credentials: NatsCredentials | undefined,
): Pick<ConnectionOptions, 'authenticator'> {
  if (!credentials) return {}
  const authenticator = authenticatorFor(client, credentials)
  try {
    authenticator('nonce')
  } catch {
    throw new NatsProblem('the credentials are not valid')
  }
  return { authenticator }
}

function authenticatorFor(client: Client, credentials: NatsCredentials): Authenticator {
  if ('user' in credentials) {
    return client.usernamePasswordAuthenticator(credentials.user, credentials.password)
  }
  if ('token' in credentials) return client.tokenAuthenticator(credentials.token)
  if ('nkey' in credentials) return client.nkeyAuthenticator(Buffer.from(credentials.nkey))
  return client.credsAuthenticator(Buffer.from(credentials.creds))
}
